// `stabctl analyze`: a report on anybody's CSV. Columns go straight into cells; a million rows never become a
// million trials.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/commands/method_flags.h"
#include "analysis/commands/method_commands.h"
#include "analysis/commands/csv.h"
#include "analysis/commands/render.h"
#include "analysis/report/report.h"
#include "analysis/report/replication_units.h"
#include "base/number_text.h"

namespace stab::commands {
namespace {

const std::vector<std::string> kSwitches{"json", "log", "markdown", "latex", "csv", "r", "help"};
const std::vector<std::string> kFlags{"response", "factors", "within",   "block", "cluster", "log",    "margin",
                                      "alpha",    "json",    "markdown", "latex", "csv",     "r",      "figures"};

constexpr char kUsage[] =
    "stabctl analyze data.csv --response COL --factors a,b [--within SUBJECT] [--block COL] [--cluster COL] [--log]\n"
    "                [--margin X] [--alpha X] [--json | --markdown | --latex | --csv | --r] [--figures DIR]\n"
    "A report on a CSV file with a header ('-' is standard input). Each row counts as one observation, unless --block or\n"
    "--cluster says what belongs together.\n"
    "  --response   the numeric column       --factors    columns whose levels are compared, the first level\n"
    "  --within     the subject: each has every combination of levels     (sorted) is the baseline\n"
    "  --block      cells are compared within each block: what a pass, a day or a machine adds to all of them cancels\n"
    "  --cluster    rows of one cluster (a link, a process, a machine) are repeats: averaged, and each cluster counts once\n"
    "  --log        differences are ratios   --margin     smallest difference that matters: relative with --log\n"
    "                                                     (0.01 is 1 %), else in the response's unit; '1%' is a share of\n"
    "                                                     the baseline's mean on either scale\n";

struct Input {
  report::Samples design;
  std::vector<std::vector<report::WorkloadUnits>> units;
};

// Which workload and cell each row belongs to: the subject, then the factors' levels, the last one fastest.
struct RowCells {
  size_t cells = 1;  // of a workload
  size_t workloads = 1;
  std::vector<uint32_t> of_row;
};

RowCells row_cells(size_t rows, const std::vector<CsvColumn>& factors, const CsvColumn* subject) {
  RowCells result;
  for (const CsvColumn& factor : factors) result.cells *= factor.levels.size();
  if (subject) result.workloads = subject->levels.size();
  result.of_row.resize(rows);
  for (size_t row = 0; row < rows; ++row) {
    size_t cell = subject ? subject->codes[row] : 0;
    for (const CsvColumn& factor : factors) cell = cell * factor.levels.size() + factor.codes[row];
    result.of_row[row] = static_cast<uint32_t>(cell);
  }
  return result;
}

// One observation: a row, or the mean of rows that belong together.
struct Observation {
  uint32_t cell = 0;
  uint32_t order = 0;    // its first row
  uint32_t cluster = 0;  // what it is a draw of; unused for plain rows
  double value = 0;      // on the response's scale
  double noise = 0;      // by which its variance is too small: CellUnits::unit_noise
};

// Values less what their blocks add.
struct WithoutBlocks {
  std::vector<double> values;
  // Each row's share of its block's fitted effect times the variance of a row: by so much the variance of what is left is too
  // small.
  std::vector<double> noise;
  double noise_df = 0;
};

// Observations of each workload and cell, in file order. `clustered`: they carry clusters.
std::vector<report::WorkloadUnits> cells_of(const std::vector<Observation>& observations, const RowCells& rows,
                                            const std::vector<CsvColumn>& factors, bool log_scale, bool clustered) {
  std::vector<report::WorkloadUnits> workloads(rows.workloads);
  std::vector<uint64_t> sizes(rows.workloads * rows.cells);
  for (const Observation& observation : observations) ++sizes[observation.cell];
  std::vector<report::CellUnits*> at(sizes.size());
  for (size_t cell = 0; cell < sizes.size(); ++cell) {
    if (sizes[cell] > 0) workloads[cell / rows.cells].cells.emplace_back();
  }
  std::vector<size_t> used(workloads.size(), 0);
  for (size_t cell = 0; cell < sizes.size(); ++cell) {
    if (sizes[cell] == 0) continue;
    report::CellUnits& units = workloads[cell / rows.cells].cells[used[cell / rows.cells]++];
    at[cell] = &units;
    units.levels.resize(factors.size());
    size_t rest = cell % rows.cells;
    for (size_t f = factors.size(); f-- > 0; rest /= factors[f].levels.size())
      units.levels[f] = static_cast<uint32_t>(rest % factors[f].levels.size());
    units.raw.reserve(sizes[cell]);
    units.values.reserve(sizes[cell]);
    units.orders.reserve(sizes[cell]);
  }
  for (const Observation& observation : observations) {
    report::CellUnits& units = *at[observation.cell];
    units.values.push_back(observation.value);
    units.raw.push_back(log_scale ? std::exp(observation.value) : observation.value);
    units.orders.push_back(observation.order);
    if (clustered) units.clusters.push_back(observation.cluster);
    if (observation.noise > 0) units.unit_noise.push_back(observation.noise);
  }
  for (report::WorkloadUnits& workload : workloads) {
    for (report::CellUnits& units : workload.cells) {
      units.blocks.assign(units.values.size(), 0);
      units.moments = statistics::moments(units.values);
    }
  }
  return workloads;
}

// Rows of one cell and one group, averaged. pre: groups are numbered as group_of_row says
// noise: of each row; empty: none
std::vector<Observation> averaged(const std::vector<double>& values, const RowCells& rows,
                                  const std::vector<uint32_t>& group_of_row, const std::vector<double>& noise = {}) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<size_t>> members;
  for (size_t row = 0; row < values.size(); ++row) members[{rows.of_row[row], group_of_row[row]}].push_back(row);
  std::vector<Observation> observations;
  for (const auto& [key, of_group] : members) {
    std::vector<double> together;
    double of_mean = 0;
    const auto count = static_cast<double>(of_group.size());
    for (size_t row : of_group) {
      together.push_back(values[row]);
      if (!noise.empty()) of_mean += noise[row] / (count * count);
    }
    observations.push_back({key.first, static_cast<uint32_t>(of_group[0]), key.second, statistics::mean(together), of_mean});
  }
  std::sort(observations.begin(), observations.end(),
            [](const Observation& a, const Observation& b) { return a.order < b.order; });
  return observations;
}

// Numbers for pairs, in the order in which they come up.
std::vector<size_t> numbered(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t& count) {
  std::map<std::pair<uint32_t, uint32_t>, size_t> numbers;
  std::vector<size_t> out;
  for (const auto& pair : pairs) out.push_back(numbers.try_emplace(pair, numbers.size()).first->second);
  count = numbers.size();
  return out;
}

// How many parts the data fall into, whose groups share no block.
size_t separate_parts(const std::vector<size_t>& group_of, size_t groups, const CsvColumn& block) {
  std::vector<size_t> parent(groups + block.levels.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto root = [&](size_t at) {
    while (parent[at] != at) at = parent[at] = parent[parent[at]];
    return at;
  };
  for (size_t row = 0; row < group_of.size(); ++row) parent[root(groups + block.codes[row])] = root(group_of[row]);
  size_t parts = 0;
  for (size_t at = 0; at < parent.size(); ++at) parts += root(at) == at;
  return parts;
}

// Each cluster in each cell and the blocks fitted together by least squares, one after the other until neither moves: a block's
// effect holds nothing of the clusters that ran in it, only a part of its rows' own noise.
WithoutBlocks without_blocks(const std::vector<double>& values, const RowCells& rows, const CsvColumn& block,
                             const CsvColumn& cluster) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (size_t row = 0; row < values.size(); ++row) pairs.emplace_back(rows.of_row[row], cluster.codes[row]);
  size_t count = 0;
  const std::vector<size_t> group_of = numbered(pairs, count);
  std::vector<double> groups(count), blocks(block.levels.size());
  std::vector<double> group_rows(groups.size()), block_rows(blocks.size());
  for (size_t row = 0; row < values.size(); ++row) {
    group_rows[group_of[row]] += 1;
    block_rows[block.codes[row]] += 1;
  }
  double largest = 0;
  for (double value : values) largest = std::max(largest, std::fabs(value));
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> group_sums(groups.size()), block_sums(blocks.size());
    for (size_t row = 0; row < values.size(); ++row) group_sums[group_of[row]] += values[row] - blocks[block.codes[row]];
    for (size_t g = 0; g < groups.size(); ++g) groups[g] = group_sums[g] / group_rows[g];
    for (size_t row = 0; row < values.size(); ++row) block_sums[block.codes[row]] += values[row] - groups[group_of[row]];
    double moved = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
      moved = std::max(moved, std::fabs(block_sums[b] / block_rows[b] - blocks[b]));
      blocks[b] = block_sums[b] / block_rows[b];
    }
    if (moved <= 1e-13 * largest) break;
  }
  WithoutBlocks out{values, std::vector<double>(values.size()), 0};
  double squares = 0;
  for (size_t row = 0; row < values.size(); ++row) {
    out.values[row] -= blocks[block.codes[row]];
    const double left = out.values[row] - groups[group_of[row]];
    squares += left * left;
  }
  out.noise_df = static_cast<double>(values.size()) - static_cast<double>(groups.size() + blocks.size()) +
                 static_cast<double>(separate_parts(group_of, count, block));
  if (out.noise_df <= 0) return out;
  for (size_t row = 0; row < values.size(); ++row) out.noise[row] = squares / out.noise_df / block_rows[block.codes[row]];
  return out;
}

// What the rows of one group have in common must not count several times. Blocks: each is a draw of the comparison of its
// cells. Clusters: each is a draw wherever its rows lie; within blocks they are averaged by block, across blocks the blocks'
// effects are taken off first.
Result<std::vector<report::WorkloadUnits>> grouped_cells(const std::vector<double>& values, const RowCells& rows,
                                                         const std::vector<CsvColumn>& factors, const CsvColumn* block,
                                                         const CsvColumn* cluster, bool log_scale) {
  WithoutBlocks adjusted{values, {}, 0};
  const CsvColumn* draw = cluster ? cluster : block;
  std::vector<Observation> observations;
  if (block && cluster) {
    std::vector<uint32_t> block_of(cluster->levels.size(), UINT32_MAX);
    bool nested = true;
    for (size_t row = 0; row < values.size(); ++row) {
      uint32_t& home = block_of[cluster->codes[row]];
      if (home == UINT32_MAX) home = block->codes[row];
      nested = nested && home == block->codes[row];
    }
    if (nested) {
      draw = block;
      // A block's cell is the mean of its clusters', each as heavy as the others.
      const std::vector<Observation> of_clusters = averaged(values, rows, cluster->codes);
      RowCells again{rows.cells, rows.workloads, {}};
      std::vector<double> means;
      std::vector<uint32_t> blocks;
      for (const Observation& one : of_clusters) {
        again.of_row.push_back(one.cell);
        means.push_back(one.value);
        blocks.push_back(block_of[one.cluster]);
      }
      observations = averaged(means, again, blocks);
      for (Observation& one : observations) one.order = of_clusters[one.order].order;
    } else {
      adjusted = without_blocks(values, rows, *block, *cluster);
    }
  }
  if (observations.empty()) observations = averaged(adjusted.values, rows, draw->codes, adjusted.noise);
  std::vector<report::WorkloadUnits> workloads = cells_of(observations, rows, factors, log_scale, true);
  for (report::WorkloadUnits& workload : workloads) {
    for (report::CellUnits& cell : workload.cells) cell.noise_df = adjusted.noise_df;
    workload.shares_clusters = draw == cluster;
    std::map<uint32_t, size_t> cells_with;
    for (const report::CellUnits& cell : workload.cells)
      for (uint32_t name : cell.clusters) ++cells_with[name];
    const bool crossed = std::all_of(cells_with.begin(), cells_with.end(),
                                     [&](const auto& one) { return one.second == workload.cells.size(); });
    const bool nested = std::all_of(cells_with.begin(), cells_with.end(), [](const auto& one) { return one.second == 1; });
    if (crossed && workload.cells.size() > 1) {
      workload.rows_in_blocks = true;
      for (report::CellUnits& cell : workload.cells) {
        cell.blocks = cell.clusters;
        cell.trial_values = cell.values;
        cell.trial_blocks = cell.clusters;
        cell.trial_orders = cell.orders;
        cell.trial_links.assign(cell.values.size(), 0);
      }
    } else if (!nested) {
      workload.anova_refused = "some " + draw->name +
                               "s are in several cells and none of them in all: which error a term has differs "
                               "from term to term; the contrasts take it into account";
    }
  }
  return workloads;
}

// Plain rows keep what was measured, not what comes back from its logarithm.
void restore_raw(std::vector<report::WorkloadUnits>& workloads, const std::vector<double>& values) {
  for (report::WorkloadUnits& workload : workloads)
    for (report::CellUnits& cell : workload.cells)
      for (size_t i = 0; i < cell.raw.size(); ++i) cell.raw[i] = values[cell.orders[i]];
}

// --margin 0.01, or '1%', a share of the baseline's mean.
struct Margin {
  double size = 0;
  bool is_share = false;
};
Result<Margin> margin_of(const Arguments& args, bool log_scale) {
  std::string text = args.text("margin");
  Margin margin{log_scale ? 0.01 : 0, false};
  if (!args.has("margin")) return margin;
  margin.is_share = text.ends_with('%');
  if (margin.is_share) text.pop_back();
  char* end = nullptr;
  margin.size = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(margin.size >= 0) || !std::isfinite(margin.size))
    return bad_input("--margin takes a number >= 0, or a share such as '1%', got '" + args.text("margin") + "'");
  if (margin.is_share) margin.size /= 100;
  return margin;
}

Result<Input> load(const Arguments& args, const std::string& path) {
  STAB_TRY(const CsvText csv, CsvText::open(path));
  const std::string response = args.text("response"), within = args.text("within");
  const std::vector<std::string> factors = args.list("factors");
  if (response.empty()) return bad_input("which column is measured? say --response COL");
  if (factors.empty()) return bad_input("which columns are compared? say --factors a,b");
  if (factors.size() > 8) return bad_input("more than 8 factors; analyse a part of them");
  std::vector<CsvRequest> requests{{response, CsvKind::kNumber}};
  for (const std::string& factor : factors) requests.push_back({factor, CsvKind::kLevel});
  if (!within.empty()) requests.push_back({within, CsvKind::kLevel});
  const std::string block = args.text("block"), cluster = args.text("cluster");
  if (!block.empty() && block == cluster)
    return bad_input("--block and --cluster name the same column; --block compares within it, --cluster averages by it");
  if (!block.empty()) requests.push_back({block, CsvKind::kLevel});
  if (!cluster.empty()) requests.push_back({cluster, CsvKind::kLevel});
  STAB_TRY(std::vector<CsvColumn> columns, read_csv(csv, requests));

  Input input;
  report::Samples& design = input.design;
  STAB_TRY(design.alpha, args.number("alpha", 0.05));
  if (!(design.alpha > 0 && design.alpha < 0.5)) return bad_input("--alpha takes a level between 0 and 0.5");
  const bool log_scale = args.has("log");
  STAB_TRY(const Margin margin, margin_of(args, log_scale));
  design.experiment = path == "-" ? "standard input" : path;
  design.unit = report::Unit::kRow;
  design.responses = {{.name = response,
                       .unit = "",
                       .scale = log_scale ? report::Scale::kLog : report::Scale::kLinear,
                       .margin = margin.size,
                       .margin_is_share = margin.is_share && !log_scale}};
  std::vector<CsvColumn> factor_columns;
  uint64_t cells = 1, compared = 0;
  for (size_t f = 0; f < factors.size(); ++f) {
    CsvColumn& column = columns[1 + f];
    if (column.levels.size() < 2)
      return bad_input("column '" + column.name + "' has one level; a comparison needs two, leave it out");
    constexpr size_t kMostLevels = 1000;
    if (column.levels.size() > kMostLevels)
      return bad_input("column '" + column.name + "' has " + std::to_string(column.levels.size()) +
                       " levels; is it a measurement? at most 1000");
    design.factors.push_back({column.name, column.levels, false, 0});
    cells *= column.levels.size();
    compared += column.levels.size() - 1;
    constexpr uint64_t kMostCells = 1'000'000;
    if (cells > kMostCells) return bad_input("more than a million cells; use fewer factors");
    factor_columns.push_back(std::move(column));
  }
  size_t next = 1 + factors.size();
  const CsvColumn* subject = within.empty() ? nullptr : &columns[next++];
  const CsvColumn* block_column = block.empty() ? nullptr : &columns[next++];
  const CsvColumn* cluster_column = cluster.empty() ? nullptr : &columns[next++];
  design.workload_word = design.program_word = within.empty() ? "data set" : within;
  design.workloads = subject ? subject->levels : std::vector<std::string>{"all rows"};
  if (cells * design.workloads.size() > 1'000'000) return bad_input("more than a million cells; use fewer factors");
  const std::vector<double>& values = columns[0].numbers;
  constexpr uint64_t kMostLooks = 50'000'000;  // each comparison goes over all cells
  if (std::min<uint64_t>(cells * design.workloads.size(), values.size()) * compared > kMostLooks)
    return bad_input(std::to_string(compared) +
                     " levels to compare in as many cells as these take too long; use fewer factors or levels");
  if (log_scale)
    for (size_t row = 0; row < values.size(); ++row)
      if (values[row] <= 0)
        return bad_input("row " + std::to_string(row + 1) + ", column '" + response + "': " + number_text(values[row]) +
                         " has no logarithm; leave out --log or the row");
  std::vector<double> scaled(values);
  if (log_scale)
    for (double& value : scaled) value = std::log(value);
  STAB_CHECK_OK(statistics::check_squares(scaled));
  const RowCells rows = row_cells(values.size(), factor_columns, subject);
  if (block_column || cluster_column) {
    if (args.has("r")) return bad_input("the script of --r doesn't know blocks and clusters; --csv gives their means");
    STAB_TRY(auto grouped, grouped_cells(scaled, rows, factor_columns, block_column, cluster_column, log_scale));
    input.units.push_back(std::move(grouped));
    design.row_word = (cluster_column ? cluster : block) + " mean";
    return input;
  }
  std::vector<Observation> observations;
  observations.reserve(values.size());
  for (size_t row = 0; row < values.size(); ++row)
    observations.push_back({rows.of_row[row], static_cast<uint32_t>(row), 0, scaled[row]});
  input.units.push_back(cells_of(observations, rows, factor_columns, log_scale, false));
  if (log_scale) restore_raw(input.units[0], values);
  return input;
}

}  // namespace

CommandOutput run_analyze(const std::vector<std::string>& args, int width, bool colour) {
  const Result<Arguments> parsed = Arguments::parse(args, kSwitches);
  if (!parsed) return refused(parsed.error());
  if (parsed->has("help")) return {kUsage, "", 0};
  if (const Status status = parsed->only(kFlags); !status) return refused(status.error());
  if (parsed->positional().size() != 1) return {"", std::string("error: which file?\n") + kUsage, 2};
  const Result<ReportOptions> options = report_options_of(*parsed, width, colour);
  if (!options) return refused(options.error());
  const Result<Input> input = load(*parsed, parsed->positional()[0]);
  if (!input) return refused(input.error());
  const Result<report::Report> report = report::analyse_units(input->design, input->units);
  if (!report) return refused(report.error());
  return render(*report, input->design, input->units, *options);
}

}  // namespace stab::commands
