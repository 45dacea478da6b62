// `stabctl plan check` as data and as text: what would run, before it runs.
#include "plan/check.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "base/wording.h"
#include "plan/layout_need.h"
#include "plan/size.h"
#include "plan/slicing.h"

namespace stab::plan {
namespace {

using std::chrono::nanoseconds;

// Left-aligned columns, as wide as their widest entry.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line = "  ";
    for (size_t c = 0; c < row.size(); ++c) line += row[c] + std::string(widths[c] - row[c].size() + 2, ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string matrix_text(const CheckReport& report, const Plan& plan, size_t max_cells) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0].push_back("cell");
  for (const Factor& factor : plan.factors) rows[0].push_back(factor.name);
  if (plan.link.seeds > 0) rows[0].push_back("link");
  for (const Cell& cell : report.design.cells) {
    if (static_cast<size_t>(cell.index) == max_cells) break;
    std::vector<std::string> row = {std::to_string(cell.index + 1)};
    for (size_t f = 0; f < plan.factors.size(); ++f)
      row.push_back(plan.factors[f].levels[static_cast<size_t>(cell.levels[f])].name);
    if (plan.link.seeds > 0) row.push_back(cell.fixed_code ? "1.." + std::to_string(plan.link.seeds) : "-");
    rows.push_back(std::move(row));
  }
  std::string out = table_text(rows);
  if (report.design.cells.size() > max_cells)
    out += "  ... and " + plural(report.design.cells.size() - max_cells, "more cell") + "\n";
  return out;
}

std::string alias_text(const Design& design) {
  if (design.resolution == 0) return "aliases: none, full crossing\n";
  std::string out = "fraction: resolution " + std::to_string(design.resolution) + ", I";
  for (const std::string& word : design.defining_words) out += " = " + word;
  out += "\naliases:\n";
  for (const AliasSet& set : design.aliases) {
    std::string line;
    for (const std::string& effect : set) line += (line.empty() ? "" : " = ") + effect;
    out += "  " + line + "\n";
  }
  return out;
}

std::string response_text(const Plan& plan) {
  std::string out;
  for (const Response& response : plan.experiment.responses)
    out += (out.empty() ? "" : ", ") + response.name + (response.scale == Scale::kLog ? " (log)" : "");
  return out;
}

bool asks_about_programs(const Plan& plan) {
  if (plan.causal || plan.layout.map || plan.experiment.about == About::kBinaries) return false;
  return std::any_of(plan.factors.begin(), plan.factors.end(), [](const Factor& factor) {
    return factor.kind == FactorKind::kTreatment && factor.levels.size() > 1 && factor.name != "binary";
  });
}

constexpr int kEnoughLinks = 10;  // docs/explanation/why-layout-matters.md: below, the bias of a link passes for an effect

// Cells whose code stays where the linker put it vary nothing about it, unless they are linked anew.
std::string one_layout_note(const Design& design, const Plan& plan) {
  size_t fixed = 0;
  for (const Cell& cell : design.cells)
    if (cell.fixed_code) ++fixed;
  if (plan.experiment.about == About::kBinaries)
    return "differences are those of the builds as they are linked, where their code lies included\n";
  if (fixed == 0 || plan.link.seeds >= kEnoughLinks) return {};
  if (const std::string why = why_no_answer(plan, design); !why.empty()) return "note: " + why + "\n";
  const std::string layouts = plan.link.seeds == 0 ? "the one code layout that the linker made"
                                                   : "only " + plural(static_cast<size_t>(plan.link.seeds), "code layout");
  return "note: " + plural(fixed, "cell") + (fixed == 1 ? " sees " : " see ") + layouts +
         "; add link = { seeds = " + std::to_string(kEnoughLinks) + " } to [factors] to vary it\n";
}

// Calls at one address lead to copies in some of the runs and to originals in others, and runs that share a CPU share what it
// predicts by addresses (docs/contributors/code.md, "Pointers that lead to copies").
std::string shared_predictions_note(const Plan& plan) {
  if (plan.experiment.blocks != BlockMode::kSliced || plan.experiment.layouts != Layouts::kMatched) return {};
  const Factor* const code = code_factor(plan);
  const bool calls_originals = has_level(code, abi::CodeMode::kOnce) || has_level(code, abi::CodeMode::kShuffle);
  if (!has_level(code, abi::CodeMode::kDirect) || !calls_originals) return {};
  return "note: code = \"direct\" next to a level of the same layout slows calls through pointers in both, by up to a half; "
         "write layouts = \"independent\", or compare each with code = \"off\" in a plan of its own\n";
}

// What 'stabctl compare' and 'stabctl gate' choose where a trial of each program shows that it may be. A plan doesn't: what it
// judges is declared before anything runs, and is the same on every machine (docs/reference/plan.md, "Sliced blocks").
std::string in_turn_note(const CheckReport& report, const Plan& plan) {
  const Experiment& experiment = plan.experiment;
  const bool is_open = experiment.blocks == BlockMode::kInTurn && experiment.blocks_spot.line == 0 &&
                       experiment.responses.size() == 1 && experiment.responses[0].name == "wall_time" && !plan.layout.map;
  if (!is_open) return {};
  Plan sliced = plan;
  sliced.experiment.blocks = BlockMode::kSliced;
  sliced.experiment.responses = {{"cpu_time", Scale::kLog}};
  toml::Faults faults(plan.text, plan.path, 1);
  check_slicing(faults, sliced, report.design);
  if (faults.error_count() > 0) return {};
  return "hint: blocks run in turn, and wall time is compared; if each program keeps one CPU busy, blocks = \"sliced\" below "
         "[experiment], without response, compares CPU time and is as sharp as 'stabctl compare' and 'stabctl gate'; "
         "blocks = \"in turn\" keeps what this plan does\n";
}

// What the plan leaves to the lab is not known here.
std::string limits_text(const Limits& limits) {
  const std::string memory =
      limits.memory_bytes > 0 ? std::to_string(limits.memory_bytes) + " bytes of memory" : "the lab's limit of memory";
  const std::string processes = limits.processes > 0
                                    ? std::to_string(limits.processes) + (limits.processes == 1 ? " process" : " processes")
                                    : "the lab's limit of processes";
  return memory + ", " + processes;
}

std::string stopping_text(const Stopping& stopping) {
  const std::string or_worse = stopping.until_worse ? ", or once something is shown to be worse" : "";
  if (stopping.rule == StoppingRule::kFixed) return "after all replicates";
  if (stopping.rule == StoppingRule::kPrecision)
    return "after " + std::to_string(stopping.first) + " to " + std::to_string(stopping.max) +
           " replicates, once CIs are within " + percent_text(stopping.half_width);
  if (stopping.rule == StoppingRule::kSequence)
    return "after " + std::to_string(stopping.first) + " to " + std::to_string(stopping.max) +
           " replicates, once a confidence sequence leaves nothing open" + or_worse;
  std::string out = "looks at";
  for (int look : stopping.looks) out += " " + std::to_string(look);
  return out + " replicates" + or_worse;
}

// Of so many trials that take so long each.
nanoseconds time_of(size_t trials, nanoseconds each) {
  return nanoseconds(static_cast<int64_t>(std::min(static_cast<double>(trials) * static_cast<double>(each.count()), 9e18)));
}

// How long it takes, as far as that is known before a trial has run, and what its own timeouts allow. The timeout that a plan
// leaves out is there to end what hangs: it says nothing about a plan.
std::string time_text(const CheckReport& report) {
  constexpr nanoseconds kExample = std::chrono::seconds(1);
  std::string out;
  if (report.estimated)
    out = "estimated " + duration_text(*report.estimated) + ", without builds\n";
  else
    out = "at 1 s a trial it takes " + duration_text(time_of(report.all_trials(), kExample)) +
          ", without builds; --seconds-per-trial says what a trial takes\n";
  if (report.at_most) out += "it would take " + duration_text(*report.at_most) + " if each trial ran into its timeout\n";
  return out;
}

}  // namespace

std::string why_no_answer(const Plan& plan, const Design& design) {
  if (design.moves_code() || plan.link.seeds > 0 || !asks_about_programs(plan)) return {};
  return "there will be no answer: " + plural(design.cells.size(), "cell") + " see the one code layout that the linker made, so "
         "a difference may be link-order bias; write link = { seeds = " + std::to_string(kEnoughLinks) +
         " } below [factors] to vary it, or about = \"binaries\" below [experiment] to compare builds as they are linked";
}

std::string duration_text(nanoseconds duration) {
  const double seconds = static_cast<double>(duration.count()) / 1e9;
  if (seconds < 1) return std::to_string(duration.count() / 1'000'000) + " ms";
  const int64_t whole = std::llround(seconds);
  if (whole < 120) return std::to_string(whole) + " s";
  const int64_t minutes = (whole + 30) / 60;
  if (minutes < 120) return std::to_string(minutes) + " min";
  const auto with_rest = [](int64_t count, const char* unit, int64_t rest, const char* smaller) {
    const std::string text = std::to_string(count) + unit;
    return rest == 0 ? text : text + " " + std::to_string(rest) + smaller;
  };
  if (minutes < 48 * 60) return with_rest(minutes / 60, " h", minutes % 60, " min");
  const int64_t hours = (minutes + 30) / 60;
  return with_rest(hours / 24, " d", hours % 24, " h");
}

Result<CheckReport> check_plan(const Plan& plan, std::optional<nanoseconds> per_trial) {
  CheckReport report;
  STAB_TRY(report.design, make_design(plan));
  report.subjects = subjects(plan);
  report.builds = make_builds(plan, report.design).all().size();
  report.trials = trials_of(plan, report.design);
  report.schedule_fingerprint = fingerprint(make_schedule(plan, report.design));
  if (plan.experiment.preflight) report.preflight_trials = report.design.cells.size() * report.subjects.size();

  const double trials_each = static_cast<double>(report.trials + report.preflight_trials) /
                             static_cast<double>(report.subjects.size());
  double at_most_ns = 0;
  bool has_timeouts = false;
  for (const Subject& subject : report.subjects) {
    const Workload& workload =
        plan.programs[static_cast<size_t>(subject.program)].workloads[static_cast<size_t>(subject.workload)];
    report.warmup_trials += static_cast<size_t>(workload.warmup);
    has_timeouts |= workload.timeout != Workload().timeout;
    at_most_ns += static_cast<double>(workload.timeout.count()) * (trials_each + workload.warmup);
  }
  if (has_timeouts) report.at_most = nanoseconds(static_cast<int64_t>(std::min(at_most_ns, 9e18)));
  if (per_trial) report.estimated = time_of(report.all_trials(), *per_trial);
  return report;
}

std::string render(const CheckReport& report, const Plan& plan, size_t max_cells) {
  const Experiment& experiment = plan.experiment;
  std::string out = "experiment " + experiment.name + ", seed " + std::to_string(experiment.seed) + "\n";
  out += "responses: " + response_text(plan) + "; margin " + percent_text(experiment.margin) + ", alpha " +
         percent_text(experiment.alpha) + "\n";
  if (plan.counters.simulation.on())
    out += words_of(plan.counters.simulation) +
           "\n  each trial takes some 50 times the program's time, one thread at a time, and no time is measured;\n"
           "  instructions that valgrind doesn't know (AVX-512) end it: leave -march=native out\n";
  out += slicing_text(plan, report.design.cells.size());
  out += "stops: " + stopping_text(plan.stopping) + "\n";
  out += "a trial may use: " + limits_text(plan.limits) + "\n\n";

  out += plural(report.subjects.size(), "workload") + ":";
  for (const Subject& subject : report.subjects) out += " " + subject.name;
  out += "\n" + plural(report.design.cells.size(), "cell") + ":\n" + matrix_text(report, plan, max_cells);
  out += alias_text(report.design);
  if (!report.design.together.empty()) {
    std::string names;
    for (const std::string& factor : report.design.together) names += (names.empty() ? "" : " = ") + factor;
    out += "one effect: " + names + ", which change together\n";
  }
  for (const std::string& factor : report.design.not_estimable)
    out += "not estimable: the effect of " + factor + " in the cells that are left\n";

  out += in_turn_note(report, plan) + one_layout_note(report.design, plan) + shared_predictions_note(plan);
  if (const std::string why_not = why_not_on_this_processor(plan); !why_not.empty()) out += "note: " + why_not + "\n";

  out += "\n" + plural(report.builds, "build") + ", " + plural(report.trials, "trial") + " = " +
         plural(static_cast<size_t>(experiment.replicates), "block") + " x " +
         plural(report.subjects.size(), "workload") + " x " + plural(report.design.cells.size(), "cell");
  const size_t passes = counter_passes(plan.counters).size();
  if (passes > 1) out += " x " + std::to_string(passes) + " counter passes";
  if (experiment.runs_per_seed > 1) out += " x " + plural(static_cast<size_t>(experiment.runs_per_seed), "run");
  out += "\nbesides: " + plural(report.preflight_trials, "preflight trial") + ", " +
         plural(report.warmup_trials, "warm-up trial") + "\n";
  return out + time_text(report);
}

}  // namespace stab::plan
