// gate BASE..HEAD: is a repository's HEAD slower than BASE? Both revisions are built and their trials interleaved by the engine
// of `stabctl run`; what it finds is written for people and for CI. Whatever it makes lies in one temporary directory, which is
// removed however it ends.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>

#include "analysis/commands/gate.h"
#include "plan/limits.h"
#include "plan/parse.h"
#include "plan/toml/units.h"
#include "stabctl/commands.h"
#include "stabctl/gate_plan.h"
#include "stabctl/git_revisions.h"
#include "stabctl/preflight_choice.h"
#include "stabctl/progress.h"
#include "stabctl/run_command.h"
#include "stabctl/temporary_folder.h"
#include "stabctl/whole_file.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

constexpr char kFile[] = "stab-gate.toml";

Status check_committed(const Revisions& revisions) {
  constexpr size_t kMostShown = 400;
  STAB_TRY(const std::string changes, uncommitted_changes(revisions.root));
  if (changes.empty()) return {};
  return bad_input("the working tree has changes that are in no commit, and the gate builds commits:\n" +
                   changes.substr(0, kMostShown) + "\ncommit or stash them");
}

// What CI reads beside the exit status. kExitDone unless one of the files can't be written.
int write_files(const commands::GateOutput& output, const Arguments& arguments) {
  for (const auto& [path, text] : {std::pair{&arguments.summary, &output.markdown}, std::pair{&arguments.junit, &output.junit}})
    if (!path->empty())
      if (const Status written = write_whole(*text, *path); !written) return complain_of_no_answer(written.error());
  return kExitDone;
}

int say(const commands::GateOutput& output, const Arguments& arguments) {
  std::fputs((arguments.json ? output.json : output.text).c_str(), stdout);
  std::fflush(stdout);
  const int written = write_files(output, arguments);
  return written == kExitDone ? output.exit_code : written;
}

// What keeps the gate from an answer is said where each reader looks for one: a summary or a JUnit file that is missing, or of
// the run before, says something else.
int say_no_answer(const Error& error, const commands::GateFacts& facts, const Arguments& arguments) {
  const int exit_code = complain_of_no_answer(error);
  const commands::GateOutput output = commands::gate_without_answer(facts, printable(error.text()));
  if (arguments.json) std::fputs(output.json.c_str(), stdout);
  write_files(output, arguments);
  return exit_code;
}

struct PlannedGate {
  plan::Plan plan;
  bool is_chosen = false;  // by us: its blocks are sliced where the programs turn out to keep one CPU busy
};

Result<std::string> text_of_gate(const Revisions& revisions) {
  const std::string path = revisions.root + "/" + kFile;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{ErrorCode::kBadInput, "'" + path + "' can't be read; docs/gate.md has one to begin with", {}};
  std::string text(plan::kMaxPlanBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// Its faults are in `gate`.
std::optional<plan::Plan> parsed(GatePlan& gate, const Revisions& revisions, std::vector<toml::Diagnostic>& warnings) {
  if (!gate.faults.empty()) return {};
  const plan::RealFiles files(revisions.root);
  plan::Parsed parsed = plan::parse_plan(gate.text, kFile, {.max_errors = 20, .files = &files});
  warnings = std::move(parsed.warnings);
  gate.faults = parsed.plan ? engine::event_faults(*parsed.plan) : std::move(parsed.errors);
  return gate.faults.empty() ? std::move(parsed.plan) : std::nullopt;
}

// `slice`: with sliced blocks, if the file leaves that open and the plan can have them: benchmarks of a program's own, for one,
// are times by its own clock.
Result<PlannedGate> plan_of(const std::string& text, const Revisions& revisions, bool slice) {
  std::vector<toml::Diagnostic> warnings;
  GatePlan gate = gate_plan(text, kFile, revisions.base, revisions.head, slice);
  auto plan = parsed(gate, revisions, warnings);
  const bool is_chosen = slice && gate.may_slice;
  if (!plan && is_chosen) return plan_of(text, revisions, false);
  std::fputs(toml::render(warnings).c_str(), stderr);
  if (plan) return PlannedGate{*std::move(plan), is_chosen};
  std::string faults = toml::render(gate.faults);
  while (faults.ends_with('\n')) faults.pop_back();
  return bad_input(std::string(kFile) + " is no gate:\n" + faults);
}

// "10min"; nothing: 0.
Result<std::chrono::nanoseconds> budget_of(const std::string& text) {
  if (text.empty()) return std::chrono::nanoseconds(0);
  const auto found = toml::parse_duration(text);
  if (!found || found->count() <= 0) return bad_input("--at-most '" + text + "' is no time; write 90s, 10min or 1h");
  return *found;
}

}  // namespace

int gate_command(const Arguments& arguments) {
  for (const std::string* path : {&arguments.summary, &arguments.junit})
    if (!path->empty())
      if (const Status writable = check_writable(*path); !writable) return complain_of_no_answer(writable.error());
  commands::GateFacts facts;
  const auto no_answer = [&](const Error& error) { return say_no_answer(error, facts, arguments); };
  const auto budget = budget_of(arguments.at_most);
  if (!budget) return no_answer(budget.error());
  const auto revisions = revisions_of(arguments.range);
  if (!revisions) return no_answer(revisions.error());
  if (const Status clean = check_committed(*revisions); !clean) return no_answer(clean.error());
  facts.base = revisions->base.substr(0, kShownCommit);
  facts.head = revisions->head.substr(0, kShownCommit);
  facts.command = "stabctl gate " + facts.base + ".." + facts.head;
  const auto text = text_of_gate(*revisions);
  if (!text) return no_answer(text.error());
  const auto plan = plan_of(*text, *revisions, true);
  if (!plan) return no_answer(plan.error());
  // From here on: what is interrupted still removes what it has made.
  engine::StopSignal trying, stop;
  CaughtInterrupts caught(trying);
  const auto scratch = TemporaryFolder::make("gate");
  if (!scratch) return no_answer(scratch.error());
  Arguments own = arguments;
  if (own.database.empty()) own.database = scratch->path() + "/gate.db";
  const SystemClock clock;
  const std::chrono::nanoseconds start = clock.monotonic_raw();
  const auto engine = open_engine(own, clock);
  if (!engine) return no_answer(engine.error());
  auto experiment = (*engine)->submit(plan->plan, revisions->root, ::geteuid(), ::getegid());
  if (!experiment) return no_answer(experiment.error());
  Budget limit{*budget};
  Result<engine::RunEnd> end = engine::RunEnd::kStopped;
  bool goes_on = true;
  if (plan->is_chosen) {
    ProgressDisplay display(style_of(arguments), clock);
    const auto choice = choose_by_preflight(**engine, *experiment, display, limit, trying, [&](const store::TrialRow& trial) {
      return std::string(trial.cell == 0 ? facts.base : facts.head);
    });
    display.finish();
    if (!choice) return no_answer(choice.error());
    goes_on = !choice->end;
    if (choice->end) end = *choice->end;
    facts.clock = choice->clock.sentence;
    if (goes_on && !choice->clock.sliced) {
      const auto in_turn = plan_of(*text, *revisions, false);
      if (!in_turn) return no_answer(in_turn.error());
      if (const Status gone = (*engine)->store().delete_experiment(*experiment); !gone) return no_answer(gone.error());
      experiment = (*engine)->submit(in_turn->plan, revisions->root, ::geteuid(), ::getegid());
      if (!experiment) return no_answer(experiment.error());
    }
    // Some of it, if there is a limit: what is left of none is none.
    if (budget->count() > 0)
      limit.most = std::max(*budget - (clock.monotonic_raw() - start), std::chrono::nanoseconds(1));
  }
  caught.ask(stop);
  if (goes_on) end = run_until(**engine, *experiment, arguments, clock, limit, stop);
  if (!end) return no_answer(end.error());
  const auto row = (*engine)->store().experiment(*experiment);
  if (!row) return no_answer(row.error());
  if (*end == engine::RunEnd::kRejected) return say(commands::gate_without_answer(facts, printable(row->failure)), arguments);
  if (*end == engine::RunEnd::kStopped)
    facts.unfinished = limit.is_over ? "the budget of " + arguments.at_most + " ended first" : "it was interrupted";
  if (*end == engine::RunEnd::kGaps)
    return say(commands::gate_without_answer(facts, "trials of a revision failed each time; --db FILE keeps them for 'stabctl "
                                                    "logs'"),
               arguments);
  const auto samples = engine::load_samples((*engine)->store(), *row);
  if (!samples) return no_answer(samples.error());
  const auto output = commands::run_gate(*samples, facts);
  // No trial was over before the budget was.
  if (!output && !facts.unfinished.empty()) return say(commands::gate_without_trials(facts), arguments);
  if (!output) return no_answer(output.error());
  return say(*output, arguments);
}

}  // namespace stab::ctl
