// `stabctl analyze`: a report on anybody's CSV. Columns go straight into cells; a million rows never become a
// million trials.
#include "analysis/commands/stats/analyze_command.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "analysis/commands/answers/render.h"
#include "analysis/commands/stats/stats_data.h"
#include "analysis/commands/table/csv.h"
#include "analysis/commands/table/method_flags.h"
#include "analysis/commands/table/row_units.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report.h"
#include "base/number_text.h"

namespace stab::commands {
namespace {

const std::vector<std::string> kAnalyzeSwitches{"json", "log", "markdown", "latex", "csv", "r", "help"};
const std::vector<std::string> kAnalyzeFlags{"response", "factors", "within",   "block", "cluster", "log",    "margin",
                                             "alpha",    "json",    "markdown", "latex", "csv",     "r",      "figures",
                                             "baseline", "decimal"};

constexpr char kUsage[] =
    "stabctl analyze data.csv --response COL --factors a,b [--within SUBJECT] [--block COL] [--cluster COL] [--log]\n"
    "                [--margin X] [--alpha X] [--json | --markdown | --latex | --csv | --r] [--figures DIR]\n"
    "A report on a CSV file with a header ('-' is standard input). Each row counts as one observation, unless --block or\n"
    "--cluster says what belongs together.\n"
    "  --response   the numeric column       --factors    columns whose levels are compared\n"
    "  --within     the subject: each has every combination of levels\n"
    "  --baseline   what the others are compared with: LEVEL, or FACTOR=LEVEL,...; default: the level of the file's first row\n"
    "  --decimal    point or comma, where the numbers don't tell\n"
    "  --block      cells are compared within each block: what a pass, a day or a machine adds to all of them cancels\n"
    "  --cluster    rows of one cluster (a link, a process, a machine) are repeats: averaged, and each cluster counts once\n"
    "  --log        differences are ratios   --margin     smallest difference that matters: relative with --log\n"
    "                                                     (0.01 is 1 %), else in the response's unit; '1%' is a share of\n"
    "                                                     the baseline's mean on either scale\n";

struct Input {
  std::string notes;  // of how the file was read
  report::Samples design;
  std::vector<std::vector<report::WorkloadUnits>> units;
};

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

// --baseline LEVEL of the factor that has it, or FACTOR=LEVEL; several are separated by commas.
Status choose_baselines(const Arguments& args, std::vector<report::Factor>& factors) {
  for (const std::string& word : args.list("baseline")) {
    const size_t equals = word.find('=');
    size_t found = 0;
    for (report::Factor& factor : factors) {
      const bool named = equals != std::string::npos && factor.name == word.substr(0, equals);
      const auto level = std::find(factor.levels.begin(), factor.levels.end(), named ? word.substr(equals + 1) : word);
      if (level == factor.levels.end()) continue;
      factor.baseline = static_cast<uint32_t>(level - factor.levels.begin());
      ++found;
    }
    if (found == 1) continue;
    return bad_input("--baseline '" + word + "' is a level of " + (found == 0 ? "no factor" : "several factors") +
                     "; write FACTOR=LEVEL, such as " + factors[0].name + "=" + factors[0].levels[0]);
  }
  return {};
}

// The columns of the file that an analysis is about.
struct AskedColumns {
  std::string response, within, block, cluster;  // within, block, cluster: "": none
  std::vector<std::string> factors;

  std::vector<CsvRequest> requests() const {
    std::vector<CsvRequest> out{{response, CsvKind::kNumber}};
    for (const std::string& factor : factors) out.push_back({factor, CsvKind::kLevel});
    for (const std::string* level : {&within, &block, &cluster})
      if (!level->empty()) out.push_back({*level, CsvKind::kLevel});
    return out;
  }
};

// The same columns as they were read, in the order of their requests.
struct ReadColumns {
  CsvColumn response;
  std::vector<CsvColumn> factors;
  std::optional<CsvColumn> within, block, cluster;
};

Result<AskedColumns> asked_columns(const Arguments& args) {
  const AskedColumns asked{args.text("response"), args.text("within"), args.text("block"), args.text("cluster"),
                           args.list("factors")};
  if (asked.response.empty()) return bad_input("which column is measured? say --response COL");
  if (asked.factors.empty()) return bad_input("which columns are compared? say --factors a,b");
  if (asked.factors.size() > 8) return bad_input("more than 8 factors; analyse a part of them");
  if (!asked.block.empty() && asked.block == asked.cluster)
    return bad_input("--block and --cluster name the same column; --block compares within it, --cluster averages by it");
  STAB_CHECK_OK(check_response_is_no_level(asked.requests()));
  return asked;
}

Result<ReadColumns> read_columns(const CsvText& csv, const AskedColumns& asked, std::string* notes) {
  STAB_TRY(std::vector<CsvColumn> columns, read_csv(csv, asked.requests(), notes));
  auto next = columns.begin();
  ReadColumns out{std::move(*next++), {}, {}, {}, {}};
  for (size_t f = 0; f < asked.factors.size(); ++f) out.factors.push_back(std::move(*next++));
  if (!asked.within.empty()) out.within = std::move(*next++);
  if (!asked.block.empty()) out.block = std::move(*next++);
  if (!asked.cluster.empty()) out.cluster = std::move(*next++);
  return out;
}

// Alpha, response and margin of the design.
Status set_question(const Arguments& args, const std::string& response, report::Samples& design) {
  STAB_TRY(design.alpha, args.number("alpha", 0.05));
  if (!(design.alpha > 0 && design.alpha < 0.5)) return bad_input("--alpha takes a level between 0 and 0.5");
  const bool log_scale = args.has("log");
  STAB_TRY(const Margin margin, margin_of(args, log_scale));
  design.responses = {{.name = response,
                       .unit = "",
                       .scale = log_scale ? report::Scale::kLog : report::Scale::kLinear,
                       .margin = margin.size,
                       .margin_is_share = margin.is_share && !log_scale}};
  return {};
}

// Factors and workloads of the design, within what can be computed.
Status set_cells(const Arguments& args, const ReadColumns& columns, report::Samples& design) {
  constexpr size_t kMostLevels = 1000;
  constexpr uint64_t kMostCells = 1'000'000;
  constexpr uint64_t kMostLooks = 50'000'000;  // each comparison goes over all cells
  uint64_t cells = 1, compared = 0;
  for (const CsvColumn& column : columns.factors) {
    if (column.levels.size() < 2)
      return bad_input("column '" + column.name + "' has one level; a comparison needs two, leave it out");
    if (column.levels.size() > kMostLevels)
      return bad_input("column '" + column.name + "' has " + std::to_string(column.levels.size()) +
                       " levels; is it a measurement? at most 1000");
    design.factors.push_back({column.name, column.levels, false, column.codes[0]});
    cells *= column.levels.size();
    compared += column.levels.size() - 1;
    if (cells > kMostCells) return bad_input("more than a million cells; use fewer factors");
  }
  STAB_CHECK_OK(choose_baselines(args, design.factors));
  design.workload_word = design.program_word = columns.within ? columns.within->name : "data set";
  design.workloads = columns.within ? columns.within->levels : std::vector<std::string>{"all rows"};
  if (cells * design.workloads.size() > kMostCells) return bad_input("more than a million cells; use fewer factors");
  if (std::min<uint64_t>(cells * design.workloads.size(), columns.response.numbers.size()) * compared > kMostLooks)
    return bad_input(std::to_string(compared) +
                     " levels to compare in as many cells as these take too long; use fewer factors or levels");
  return {};
}

// The response on the scale of the analysis.
Result<std::vector<double>> scaled_values(const CsvColumn& response, bool log_scale) {
  std::vector<double> scaled(response.numbers);
  if (log_scale)
    for (size_t row = 0; row < scaled.size(); ++row) {
      if (scaled[row] <= 0)
        return bad_input("row " + std::to_string(response.row_of(row)) + ", column '" + response.name +
                         "': " + number_text(scaled[row]) + " has no logarithm; leave out --log or the row");
      scaled[row] = std::log(scaled[row]);
    }
  STAB_CHECK_OK(statistics::check_squares(scaled));
  return scaled;
}

Result<Input> load(const Arguments& args, const std::string& path) {
  STAB_TRY(CsvText csv, CsvText::open(path));
  STAB_TRY(const DecimalSign decimal, decimal_of(args));
  csv.set_decimal(decimal);
  STAB_TRY(const AskedColumns asked, asked_columns(args));
  Input input;
  STAB_TRY(const ReadColumns columns, read_columns(csv, asked, &input.notes));
  report::Samples& design = input.design;
  design.experiment = path == "-" ? "standard input" : path;
  design.unit = report::Unit::kRow;
  STAB_CHECK_OK(set_question(args, asked.response, design));
  STAB_CHECK_OK(set_cells(args, columns, design));
  const bool log_scale = args.has("log");
  STAB_TRY(const std::vector<double> scaled, scaled_values(columns.response, log_scale));
  const auto pointer = [](const std::optional<CsvColumn>& column) { return column ? &*column : nullptr; };
  const RowCells rows = row_cells(scaled.size(), columns.factors, pointer(columns.within));
  if (columns.block || columns.cluster) {
    if (args.has("r")) return bad_input("the script of --r doesn't know blocks and clusters; --csv gives their means");
    STAB_TRY(auto grouped, grouped_cells(scaled, rows, columns.factors, pointer(columns.block), pointer(columns.cluster),
                                         log_scale));
    input.units.push_back(std::move(grouped));
    design.row_word = (columns.cluster ? asked.cluster : asked.block) + " mean";
    return input;
  }
  std::vector<Observation> observations;
  observations.reserve(scaled.size());
  for (size_t row = 0; row < scaled.size(); ++row)
    observations.push_back({rows.of_row[row], static_cast<uint32_t>(row), 0, scaled[row]});
  input.units.push_back(cells_of(observations, rows, columns.factors, log_scale, false));
  if (log_scale) restore_raw(input.units[0], columns.response.numbers);
  return input;
}

// That blocks were asked for and nothing was compared within them; empty: it was, or there is no answer.
std::string note_of_blocks(const std::string& block, const report::Report& report) {
  const auto is_blocked = [](const report::Contrast& contrast) { return contrast.blocked; };
  const auto is_answered = [](const report::Contrast& contrast) { return contrast.refused.empty(); };
  if (report.workloads.size() != 1 || std::any_of(report.contrasts.begin(), report.contrasts.end(), is_blocked)) return {};
  if (std::none_of(report.contrasts.begin(), report.contrasts.end(), is_answered)) return {};
  return "too few '" + block + "' have all cells that are compared, so nothing is compared within one, and what they add does " +
         "not cancel: each mean of a cell and '" + block + "' counts once, as with --cluster " + block + "\n";
}

}  // namespace

CommandOutput run_analyze(const std::vector<std::string>& args, int width, bool colour) {
  const Result<Arguments> parsed = Arguments::parse(args, kAnalyzeSwitches);
  if (!parsed) return refused(parsed.error());
  if (parsed->has("help")) return {kUsage, "", 0};
  if (const Status status = parsed->only(kAnalyzeFlags); !status) return refused(status.error());
  if (parsed->positional().size() != 1) return {"", std::string("error: which file?\n") + kUsage, 2};
  const Result<ReportOptions> options = report_options_of(*parsed, width, colour);
  if (!options) return refused(options.error());
  const Result<Input> input = load(*parsed, parsed->positional()[0]);
  if (!input) return refused(input.error());
  const Result<report::Report> report = report::analyse_units(input->design, input->units);
  if (!report) return refused(report.error());
  CommandOutput output = render(*report, input->design, input->units, *options);
  if (!input->notes.empty()) output.err += input->notes + "\n";
  if (parsed->has("block") && !parsed->has("cluster")) output.err += note_of_blocks(parsed->text("block"), *report);
  return output;
}

}  // namespace stab::commands
