// `stabctl analyze`: a report on anybody's CSV. Columns go straight into cells; a million rows never become a
// million trials.
#include <algorithm>
#include <cmath>

#include "analysis/arguments.h"
#include "analysis/commands.h"
#include "analysis/csv.h"
#include "analysis/render.h"
#include "analysis/report.h"
#include "analysis/units.h"

namespace stab::analysis {
namespace {

const std::vector<std::string> kSwitches{"json", "log", "markdown", "csv", "r", "help"};
const std::vector<std::string> kFlags{"response", "factors", "within", "log", "margin", "alpha", "json", "markdown", "csv", "r", "figures"};

constexpr char kUsage[] =
    "stabctl analyze data.csv --response COL --factors a,b [--within SUBJECT] [--log] [--margin X] [--alpha X]\n"
    "                [--json | --markdown | --csv | --r] [--figures DIR]\n"
    "A report on a CSV file with a header ('-' is standard input). Each row counts as one observation.\n"
    "  --response   the numeric column       --factors    columns whose levels are compared, the first level\n"
    "  --within     the subject: each has every combination of levels     (sorted) is the baseline\n"
    "  --log        differences are ratios   --margin     smallest difference that matters: relative with --log\n"
    "                                                     (0.01 is 1 %), else in the response's unit\n";

struct Input {
  Samples design;
  std::vector<std::vector<WorkloadUnits>> units;
};

// Rows of each workload and cell, in file order.
std::vector<WorkloadUnits> cells_of(const std::vector<double>& values, const std::vector<CsvColumn>& factors,
                                    const CsvColumn* subject, bool log_scale) {
  size_t cells = 1;
  for (const CsvColumn& factor : factors) cells *= factor.levels.size();
  std::vector<WorkloadUnits> workloads(subject ? subject->levels.size() : 1);
  std::vector<uint32_t> cell_of(values.size());
  std::vector<uint64_t> sizes(workloads.size() * cells);
  for (size_t row = 0; row < values.size(); ++row) {
    size_t cell = subject ? subject->codes[row] : 0;
    for (const CsvColumn& factor : factors) cell = cell * factor.levels.size() + factor.codes[row];
    cell_of[row] = static_cast<uint32_t>(cell);
    ++sizes[cell];
  }
  std::vector<CellUnits*> at(sizes.size());
  for (size_t cell = 0; cell < sizes.size(); ++cell) {
    if (sizes[cell] > 0) workloads[cell / cells].cells.emplace_back();
  }
  std::vector<size_t> used(workloads.size(), 0);
  for (size_t cell = 0; cell < sizes.size(); ++cell) {
    if (sizes[cell] == 0) continue;
    CellUnits& units = workloads[cell / cells].cells[used[cell / cells]++];
    at[cell] = &units;
    units.levels.resize(factors.size());
    size_t rest = cell % cells;
    for (size_t f = factors.size(); f-- > 0; rest /= factors[f].levels.size())
      units.levels[f] = static_cast<uint32_t>(rest % factors[f].levels.size());
    units.raw.reserve(sizes[cell]);
    units.orders.reserve(sizes[cell]);
  }
  for (size_t row = 0; row < values.size(); ++row) {
    CellUnits& units = *at[cell_of[row]];
    units.raw.push_back(values[row]);
    units.orders.push_back(static_cast<uint32_t>(row));
  }
  for (WorkloadUnits& workload : workloads) {
    for (CellUnits& units : workload.cells) {
      units.values = units.raw;
      if (log_scale)
        for (double& value : units.values) value = std::log(value);
      units.blocks.assign(units.values.size(), 0);
      units.moments = moments(units.values);
    }
  }
  return workloads;
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
  STAB_TRY(std::vector<CsvColumn> columns, read_csv(csv, requests));

  Input input;
  Samples& design = input.design;
  STAB_TRY(design.alpha, args.number("alpha", 0.05));
  if (!(design.alpha > 0 && design.alpha < 0.5)) return bad_input("--alpha takes a level between 0 and 0.5");
  const bool log_scale = args.has("log");
  STAB_TRY(const double margin, args.number("margin", log_scale ? 0.01 : 0));
  if (margin < 0) return bad_input("--margin takes a number >= 0");
  design.experiment = path == "-" ? "standard input" : path;
  design.unit = Unit::kRow;
  design.responses = {{.name = response, .unit = "", .scale = log_scale ? Scale::kLog : Scale::kLinear, .margin = margin}};
  std::vector<CsvColumn> factor_columns;
  uint64_t cells = 1;
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
    factor_columns.push_back(std::move(column));
  }
  const CsvColumn* subject = within.empty() ? nullptr : &columns.back();
  design.workload_word = design.program_word = within.empty() ? "data set" : within;
  design.workloads = subject ? subject->levels : std::vector<std::string>{"all rows"};
  if (cells * design.workloads.size() > 1'000'000) return bad_input("more than a million cells; use fewer factors");
  const std::vector<double>& values = columns[0].numbers;
  if (log_scale)
    for (size_t row = 0; row < values.size(); ++row)
      if (values[row] <= 0)
        return bad_input("row " + std::to_string(row + 1) + ", column '" + response + "': " + std::to_string(values[row]) +
                         " has no logarithm; leave out --log or the row");
  input.units.push_back(cells_of(values, factor_columns, subject, log_scale));
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
  const Result<Report> report = analyse_units(input->design, input->units);
  if (!report) return refused(report.error());
  return render(*report, input->design, input->units, *options);
}

}  // namespace stab::analysis
