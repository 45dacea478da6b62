// Columns become members one by one; what a trial's rows say of their trial must be the same in all of them. Declared speedups
// are those that occur, and a line is whatever the column says.
#include "analysis/commands/stats/causal_csv.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/wording.h"

namespace stab::commands {
namespace {

constexpr double kLargestCount = 9007199254740992;  // 2^53: whole numbers are exact up to here
constexpr size_t kMostLinesTimesPoints = 100'000;
constexpr std::string_view kNone = "-";

const std::vector<std::string> kLevelColumns{"trial", "kind", "line", "clock"};
const std::vector<std::string> kNumberColumns{"block", "speedup", "wall_ns", "cpu_ns", "world_ns", "credited_ns", "pay_ratio",
                                              "line_samples", "foreign_share", "busy_share", "layout", "skipped", "cut", "run_ns",
                                              "run_samples"};

class Reader {
 public:
  explicit Reader(const CsvText& csv) : csv_(csv) {}

  Result<causal_report::CausalData> read() {
    STAB_CHECK_OK(choose_columns());
    STAB_TRY(columns_, read_csv(csv_, requests_));
    for (size_t i = 0; i < columns_.size(); ++i) by_name_[columns_[i].name] = &columns_[i];
    rows_ = columns_[0].numbers.empty() ? columns_[0].codes.size() : columns_[0].numbers.size();
    data_.experiment = csv_.name();
    STAB_CHECK_OK(name_lines());
    STAB_CHECK_OK(name_cells());
    for (size_t row = 0; row < rows_; ++row) STAB_CHECK_OK(add(row));
    std::set<double> speedups;
    for (const causal_report::CausalWindow& window : data_.windows)
      if (window.kind == causal_report::ArmKind::kSpeedup) speedups.insert(window.speedup);
    data_.speedups.assign(speedups.begin(), speedups.end());
    if (const auto fault = causal_report::fault_of(data_)) return bad_input("'" + csv_.name() + "': " + *fault);
    return std::move(data_);
  }

 private:
  Status choose_columns() {
    STAB_TRY(const std::vector<std::string> header, csv_header(csv_));
    const auto has = [&](std::string_view name) { return std::find(header.begin(), header.end(), name) != header.end(); };
    for (const char* needed : {"trial", "block", "kind", "line", "speedup"})
      if (!has(needed))
        return bad_input("'" + csv_.name() + "' has no column '" + needed +
                         "'; docs/reference/stats.md has the columns of windows");
    if (!has("wall_ns") && !has("cpu_ns"))
      return bad_input("'" + csv_.name() + "' has no column 'wall_ns' or 'cpu_ns' for the windows' time");
    for (const std::string& name : header) {
      if (std::find(kLevelColumns.begin(), kLevelColumns.end(), name) != kLevelColumns.end())
        requests_.push_back({name, CsvKind::kLevel});
      else if (std::find(kNumberColumns.begin(), kNumberColumns.end(), name) != kNumberColumns.end())
        requests_.push_back({name, CsvKind::kNumber});
      else if (name.starts_with("visits:")) add_point(name, name.substr(7), causal_report::PointKind::kProgress);
      else if (name.starts_with("arrivals:")) add_point(name, name.substr(9), causal_report::PointKind::kArrival);
      else if (name.starts_with("departures:")) add_point(name, name.substr(11), causal_report::PointKind::kLatency);
      else if (name.starts_with("inside_ns:")) requests_.push_back({name, CsvKind::kNumber});
      else if (name.starts_with("cell:")) {
        requests_.push_back({name, CsvKind::kLevel});
        data_.factors.push_back(name.substr(5));
      } else {
        std::vector<std::string> known = kLevelColumns;
        known.insert(known.end(), kNumberColumns.begin(), kNumberColumns.end());
        const std::string hint = did_you_mean(name, known);
        return bad_input("'" + csv_.name() + "': '" + name + "' is no column of windows" +
                         (hint.empty() ? "; points are 'visits:NAME', 'arrivals:NAME', or 'departures:NAME' with 'inside_ns:NAME'"
                                       : "; " + hint));
      }
    }
    if (data_.points.empty()) return bad_input("'" + csv_.name() + "' counts nothing: it takes a column 'visits:NAME'");
    std::set<std::string> names;
    for (const causal_report::CausalPoint& point : data_.points) {
      if (point.name.empty()) return bad_input("'" + csv_.name() + "' has a point without a name");
      if (!names.insert(point.name).second)
        return bad_input("'" + csv_.name() + "' has two points of the name '" + point.name + "'");
      if (point.kind == causal_report::PointKind::kLatency && !has("inside_ns:" + point.name))
        return bad_input("'departures:" + point.name + "' also needs the column 'inside_ns:" + point.name + "'");
    }
    return {};
  }

  void add_point(const std::string& column, std::string name, causal_report::PointKind kind) {
    requests_.push_back({column, CsvKind::kNumber});
    data_.points.push_back({std::move(name), kind});
    point_columns_.push_back(column);
  }

  const CsvColumn* column(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    return found == by_name_.end() ? nullptr : found->second;
  }
  double number(std::string_view name, size_t row, double otherwise = 0) const {
    const CsvColumn* found = column(name);
    return found ? found->numbers[row] : otherwise;
  }
  const std::string& word(std::string_view name, size_t row) const {
    const CsvColumn& found = *column(name);
    return found.levels[found.codes[row]];
  }
  Error at(size_t row, const std::string& what) const {
    return bad_input("'" + csv_.name() + "', data row " + std::to_string(row + 1) + ": " + what);
  }
  Result<uint64_t> count(std::string_view name, size_t row) const {
    const double value = number(name, row);
    if (!(value >= 0 && value <= kLargestCount && value == std::floor(value)))
      return at(row, "'" + std::string(name) + "' is no whole number of 0 or more");
    return static_cast<uint64_t>(value);
  }

  Status name_lines() {
    const CsvColumn& lines = *column("line");
    for (const std::string& name : lines.levels) {
      if (name == kNone) continue;
      causal_report::CausalLine line;
      line.name = name;
      const size_t colon = name.rfind(':');
      if (colon != std::string::npos && colon + 1 < name.size() && colon + 10 > name.size() &&
          name.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
        line.file = name.substr(0, colon);
        line.line = static_cast<uint32_t>(std::stoul(name.substr(colon + 1)));
      } else {
        line.function = name;
      }
      line_of_[name] = static_cast<uint32_t>(data_.lines.size());
      data_.lines.push_back(std::move(line));
    }
    if (data_.lines.size() * data_.points.size() > kMostLinesTimesPoints)
      return bad_input("'" + csv_.name() + "' has more than " + std::to_string(kMostLinesTimesPoints) + " lines x points");
    return {};
  }

  Status name_cells() {
    if (data_.factors.empty()) {
      data_.cells.push_back({});
      return {};
    }
    for (size_t row = 0; row < rows_; ++row) {
      causal_report::CausalCell cell;
      for (const std::string& factor : data_.factors) cell.levels.push_back(word("cell:" + factor, row));
      if (cell_of_.count(cell.levels)) continue;
      for (size_t f = 0; f < data_.factors.size(); ++f) {
        if (data_.factors[f] != "load") continue;
        size_t used = 0;
        try {
          cell.load = std::stod(cell.levels[f], &used);
        } catch (const std::exception&) {
          used = 0;
        }
        if (used == 0 || used != cell.levels[f].size() || !(cell.load > 0) || !std::isfinite(cell.load))
          return at(row, "'cell:load' is '" + cell.levels[f] + "', not a number above 0");
      }
      cell_of_[cell.levels] = static_cast<uint32_t>(data_.cells.size());
      data_.cells.push_back(std::move(cell));
    }
    return {};
  }

  // The row's trial, made where it is the first of it.
  Result<uint32_t> trial_of(size_t row) {
    causal_report::CausalTrial trial;
    if (!data_.factors.empty()) {
      std::vector<std::string> levels;
      for (const std::string& factor : data_.factors) levels.push_back(word("cell:" + factor, row));
      trial.cell = cell_of_.at(levels);
    }
    if (column("clock")) {
      const auto clock = causal_report::causal_clock(word("clock", row));
      if (!clock) return at(row, "'clock' is '" + word("clock", row) + "', not 'wall' or 'cpu'");
      trial.clock = *clock;
    }
    if (!column(trial.clock == causal_report::CausalClock::kCpu ? "cpu_ns" : "wall_ns"))
      return at(row, std::string("its clock takes the column '") +
                         (trial.clock == causal_report::CausalClock::kCpu ? "cpu_ns'" : "wall_ns'"));
    STAB_TRY(trial.run_ns, count("run_ns", row));
    const std::string& name = word("trial", row);
    const auto found = trial_of_.find(name);
    if (found != trial_of_.end()) {
      const causal_report::CausalTrial& before = data_.trials[found->second];
      if (before.cell != trial.cell || before.clock != trial.clock || before.run_ns != trial.run_ns)
        return at(row, "trial '" + name + "' has another cell, clock or 'run_ns' in a row before");
      return found->second;
    }
    trial.id = data_.trials.size() + 1;
    if (column("run_samples")) trial.run_samples.assign(data_.lines.size(), 0);
    if (trial.run_samples.size() * (data_.trials.size() + 1) > kLargestCounts)
      return bad_input("'" + csv_.name() + "' has too many trials x lines with 'run_samples'");
    trial_of_[name] = static_cast<uint32_t>(data_.trials.size());
    data_.trials.push_back(std::move(trial));
    return trial_of_[name];
  }

  Status add(size_t row) {
    causal_report::CausalWindow window;
    STAB_TRY(window.trial, trial_of(row));
    // In CSV a bare "null" is a missing value.
    const auto kind =
        word("kind", row) == "null-control" ? causal_report::ArmKind::kNull : causal_report::arm_kind(word("kind", row));
    if (!kind) return at(row, "'kind' is '" + word("kind", row) + "', not 'baseline', 'speedup', 'null-control' or 'slowdown'");
    window.kind = *kind;
    if (word("line", row) != kNone) window.line = line_of_.at(word("line", row));
    window.speedup = number("speedup", row);
    STAB_TRY(const uint64_t block, count("block", row));
    if (block > UINT32_MAX) return at(row, "'block' is too large");
    window.block = static_cast<uint32_t>(block);
    window.order = static_cast<uint32_t>(row);
    STAB_TRY(window.wall_ns, count("wall_ns", row));
    STAB_TRY(window.cpu_ns, count("cpu_ns", row));
    STAB_TRY(window.world_ns, count("world_ns", row));
    STAB_TRY(window.credited_ns, count("credited_ns", row));
    window.pay_ratio = number("pay_ratio", row, 1);
    STAB_TRY(window.line_samples, count("line_samples", row));
    window.foreign_share = number("foreign_share", row);
    window.busy_share = number("busy_share", row);
    STAB_TRY(window.layout, count("layout", row));
    if (number("skipped", row) != 0) window.flags |= causal_report::bit(causal_report::WindowFlag::kSkipped);
    if (number("cut", row) != 0) window.flags |= causal_report::bit(causal_report::WindowFlag::kCut);
    for (size_t p = 0; p < data_.points.size(); ++p) {
      STAB_TRY(const uint64_t visits, count(point_columns_[p], row));
      window.visits.push_back(visits);
      if (data_.points[p].kind != causal_report::PointKind::kLatency) continue;
      window.latencies.resize(data_.points.size());
      window.latencies[p] = {number("inside_ns:" + data_.points[p].name, row), visits};
    }
    if (column("run_samples") && window.line) {
      STAB_TRY(const uint64_t samples, count("run_samples", row));
      uint64_t& known = data_.trials[window.trial].run_samples[*window.line];
      if (known != 0 && known != samples) return at(row, "its line has other 'run_samples' in a row of the same trial before");
      known = samples;
    }
    data_.windows.push_back(std::move(window));
    return {};
  }

  static constexpr size_t kLargestCounts = 10'000'000;

  const CsvText& csv_;
  causal_report::CausalData data_;
  std::vector<CsvRequest> requests_;
  std::vector<std::string> point_columns_;
  std::vector<CsvColumn> columns_;
  std::map<std::string, const CsvColumn*> by_name_;
  std::map<std::string, uint32_t> line_of_, trial_of_;
  std::map<std::vector<std::string>, uint32_t> cell_of_;
  size_t rows_ = 0;
};

}  // namespace

Result<causal_report::CausalData> causal_data_of(const CsvText& csv) { return Reader(csv).read(); }

}  // namespace stab::commands
