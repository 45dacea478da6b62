// A control must meet what the gate meets: the same file, builds, layouts and blocks, and the commit itself on both sides. It has
// no looks: a run that ends early when it has seen little would show less difference than there is.
#include "stabctl/selftest/nightly_control.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "analysis/commands/gate/compare_answer.h"
#include "analysis/commands/gate/gate.h"
#include "analysis/commands/gate/nightly.h"
#include "plan/parse.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/records/logbook_of.h"
#include "stabctl/revisions/gate_start.h"
#include "stabctl/revisions/git.h"
#include "stabctl/run/unbegun.h"
#include "stabctl/selftest/selftest_run.h"
#include "stabctl/terminal/temporary_folder.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/engine/results/ended_in_time.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

// Where the control is kept, and as what.
struct Kept {
  std::string logbook, commit;
  store::LogbookSession session;
};

// Before anything is built: nobody waits for a control that can't be kept. It makes the logbook where there is none.
Status check_logbook(const std::string& path) {
  STAB_TRY([[maybe_unused]] const store::Logbook logbook, open_logbook(path));
  return {};
}

int judge(store::Store& store, const store::ExperimentRow& row, const Kept& kept, const Arguments& arguments,
          const Clock& clock) {
  const auto samples = engine::load_samples(store, row);
  if (!samples) return complain_of_no_answer(samples.error());
  const auto findings = commands::control_findings(*samples);
  if (!findings) return complain_of_no_answer(findings.error());
  auto logbook = open_logbook(kept.logbook);
  if (!logbook) return complain_of_no_answer(logbook.error());
  if (const Status added = logbook->add_control(kept.session, kept.commit, clock.realtime().count(), for_logbook(*findings));
      !added)
    return complain_of_no_answer(added.error());
  const auto all = logbook->controls();
  if (!all) return complain_of_no_answer(all.error());
  return print(commands::run_nightly(
      {kept.session.day, kept.session.machine, kept.logbook, *findings, from_logbook(*all), arguments.json}));
}

// A gate's plan without a repository. Margin and looks don't matter: no answer is asked.
std::string own_plan(uint64_t seed) {
  return "[experiment]\nname = \"nightly\"\nseed = " + std::to_string(seed) +
         "\nreplicates = 40\nresponse = \"cpu_time\"\nblocks = \"sliced\"\nalone = \"0%\"\n[factors]\nrevision = [\"base\", "
         "\"head\"]\n"
         "code = [\"shuffle\"]\nstack = [\"on\"]\nheap = [\"page\"]\nepoch = [\"20ms\"]\n"
         "[[program]]\nname = \"selftest\"\nsource = \"source\"\nbuild = \"szc -O2 work.c -o work\"\nrun = [\"./work\", "
         "\"20000\"]\n"
         "timeout = \"60s\"\nexpect = { same_stdout = true }\n";
}

// The repository's root where its gate has a file; empty: there is none here.
std::string root_with_gate(const Arguments& arguments) {
  const auto root = git({"rev-parse", "--show-toplevel"});
  if (!root) return {};
  std::error_code gone;
  return !arguments.plan.empty() || std::filesystem::exists(*root + "/stab-gate.toml", gone) ? *root : std::string();
}

int control_of_repository(const Arguments& arguments) {
  const SystemClock clock;
  const auto budget = budget_of(arguments.at_most);
  if (!budget) return complain_of_no_answer(budget.error());
  const auto revisions = revisions_of("HEAD", "HEAD", false);
  if (!revisions) return complain_of_no_answer(revisions.error());
  note_uncommitted_changes(revisions->root);
  const GateChanges changes{.control = true};
  const auto file = sliced_gate_plan_of(*revisions, arguments, changes);
  if (!file) return complain_of_no_answer(file.error());
  const auto path =
      logbook_path(arguments.logbook.empty() ? file->sessions.logbook : std::filesystem::absolute(arguments.logbook).string(),
                   revisions->root);
  if (!path) return complain_of_no_answer(path.error());
  if (const Status good = check_logbook(*path); !good) return complain_of_no_answer(good.error());
  const auto session = this_session(clock);
  if (!session) return complain_of_no_answer(session.error());
  engine::StopSignal stop;
  CaughtInterrupts caught(stop);
  const auto scratch = TemporaryFolder::make(TemporaryPurpose::kNightly);
  if (!scratch) return complain_of_no_answer(scratch.error());
  Arguments own = arguments;
  if (own.database.empty()) own.database = scratch->path() + "/nightly.db", own.is_database_temporary = true;
  const auto engine = open_engine(own, clock);
  if (!engine) return complain_of_no_answer(engine.error());
  Budget limit{*budget};
  ToldNotes told;
  const auto started = start_gate(**engine, *revisions, *file, changes, arguments, clock, limit, caught, stop, told);
  if (!started) return complain_of_no_answer(started.error());
  const auto end = started->tried
                       ? Result<engine::RunEnd>(*started->tried)
                       : begun_or_taken_back((*engine)->store(), started->experiment, own,
                                             run_until(**engine, started->experiment, arguments, clock, limit, stop, &told));
  if (!end) return complain_of_no_answer(end.error());
  const auto row = (*engine)->store().experiment(started->experiment);
  if (!row) return complain_of_no_answer(row.error());
  if (*end == engine::RunEnd::kRejected) return complain_of_no_answer(bad_input(row->failure));
  // No other run goes on with a night's control.
  if (*end == engine::RunEnd::kStopped && limit.is_over)
    if (const auto ended = engine::end_in_time((*engine)->store(), row->id, commands::kFewestBlocks, clock.realtime()); !ended)
      return complain_of_no_answer(ended.error());
  if (*end != engine::RunEnd::kDone) take_back_without_runs((*engine)->store(), row->id, own);
  if (*end != engine::RunEnd::kDone)
    return complain_of_no_answer({ErrorCode::kUnavailable,
                                  std::string("the control did not come to its end, ") +
                                      (limit.is_over ? "as its time was over first" : "as it was stopped or its trials failed") +
                                      "; nothing is kept of it", {}});
  return judge((*engine)->store(), *row, {*path, revisions->head, *session}, arguments, clock);
}

}  // namespace

int nightly_control(const Arguments& arguments, const std::string& source) {
  if (!root_with_gate(arguments).empty()) return control_of_repository(arguments);
  if (!arguments.plan.empty())
    return complain_of_no_answer(bad_input("--plan is of a repository's gate, and this folder is in none"));
  const SystemClock clock;
  const auto path = logbook_path(arguments.logbook, ".");
  if (!path) return complain_of_no_answer(path.error());
  if (const Status good = check_logbook(*path); !good) return complain_of_no_answer(good.error());
  const auto session = this_session(clock);
  if (!session) return complain_of_no_answer(session.error());
  const auto scratch = TemporaryFolder::make(TemporaryPurpose::kNightly);
  if (!scratch) return complain_of_no_answer(scratch.error());
  Arguments own = arguments;
  if (own.database.empty()) own.database = scratch->path() + "/nightly.db", own.is_database_temporary = true;
  return run_selftest({source, "nightly.toml", own_plan,
                       [&](store::Store& store, const store::ExperimentRow& row) {
                         return judge(store, row, {*path, "", *session}, arguments, clock);
                       }},
                      own);
}

}  // namespace stab::ctl
