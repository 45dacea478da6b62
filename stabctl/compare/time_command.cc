// time PROGRAM: how long one program takes. Runs are an experiment of one cell; where szc has built the program, each layout is
// drawn for a run and run once more, so that what layouts do can be told from what the machine does.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "analysis/commands/time/time_answer.h"
#include "base/absolute_path.h"
#include "base/shell_word.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/command_line/exit_statuses.h"
#include "stabctl/compare/baseline_file.h"
#include "stabctl/records/database.h"
#include "stabctl/run/run_command.h"
#include "stabctl/run/unbegun.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabctl/sides/measured_runs.h"
#include "stabctl/terminal/one_line_progress.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/results/ended_in_time.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

using std::chrono::nanoseconds;

constexpr int kFewestRuns = 2, kMostRuns = 100;

struct Timing {
  const Arguments& arguments;
  const SystemClock clock{};
  nanoseconds start{0}, most{0};
  std::string directory{};
  AdHocPlan plan{};
  BaselineFiles baseline{};
  commands::TimeFacts facts{};
  std::string times{};  // of all runs, as --export-json takes them
  bool was_interrupted = false;
  nanoseconds elapsed() const { return clock.monotonic_raw() - start; }
};

std::string about_of(const AdHocPlan& plan) {
  if (plan.randomized)
    return "built by szc: " + plan.randomized_parts() + " of each layout are drawn at random, and each layout runs twice";
  if (plan.commands[0].is_script)
    return "the programs that it starts lie as they were linked: how far another link of them would move its time is not known";
  if (plan.commands[0].szc.rewritten)
    return "llvm-bolt has rewritten this binary, whose code stays where that put it: how far another link of it would move its "
           "time is not known";
  return "this is one binary in one layout: how far another link of it would move its time is not known; build it with CC=szc to "
         "see that";
}

// Options of ours behind the program are its arguments, which a program that takes any would not say. Who writes -- before it
// knows that.
void note_options_behind(const Arguments& arguments) {
  if (arguments.quiet || arguments.are_dashes_typed) return;
  for (size_t i = 1; i < arguments.words.size() && arguments.words[i] != "--"; ++i) {
    const std::string option = arguments.words[i].substr(0, arguments.words[i].find('='));
    // Others, such as --json, are more often the program's.
    constexpr std::string_view kOurs[] = {"--at-most", "--store", "--against", "--export-json",
                                          "--input", "--prepare", "--warmup"};
    if (std::find(std::begin(kOurs), std::end(kOurs), option) != std::end(kOurs))
      std::fprintf(stderr,
                   "note: %s stands behind the program, so it is the program's; stabctl's own options come before it, and -- "
                   "before the program says so\n",
                   option.c_str());
  }
}

// Tries it once, and fills in the plan.
Status plan_runs(Timing& of, const engine::StopSignal& stop) {
  const Arguments& arguments = of.arguments;
  note_options_behind(arguments);
  STAB_TRY(of.plan.input, input_of(arguments));
  const std::vector<std::string> behind(arguments.words.begin() + 1, arguments.words.end());
  STAB_TRY(const MeasuredCommand command, measured_command(arguments.words[0], behind, arguments.shell));
  if (!arguments.quiet && !arguments.shell && arguments.input.empty()) note_unread_input();
  OneLineProgress progress(arguments.quiet, of.clock, of.start, of.most);
  progress.phase("trying " + command.shown);
  auto seen = tried(command, of.directory, arguments, of.most, stop);
  // The first run of all may have waited for its files, or been compiled: where it was too long, one more tells.
  if (seen && runs_within(of.most - of.elapsed(), seen->prepared_wall() + kEachTrial, kMostRuns) < kFewestRuns)
    try_again(command, of.directory, arguments, of.most - of.elapsed(), stop, *seen);
  progress.finish();
  if (!seen) return seen.error();
  const nanoseconds each = seen->prepared_wall() + kEachTrial;
  const int runs = runs_within(of.most - of.elapsed(), each, kMostRuns);
  if (runs < kFewestRuns) {
    const auto seconds = [](nanoseconds time) {
      char text[32];
      std::snprintf(text, sizeof text, "%.2g s", std::chrono::duration<double>(time).count());
      return std::string(text);
    };
    return bad_input("the first tries took " + seconds(of.elapsed()) + ", a run takes " + seconds(each) +
                     ", and for the two that are needed no time is left; give it less to do, or " +
                     option_of(of.elapsed() + 4.0 * each));
  }
  of.plan.randomized = !arguments.shell && command.szc.code && runs >= 2 * kFewestRuns;
  of.plan.one_layout_a_run = true;
  of.plan.runs_per_seed = of.plan.randomized ? 2 : 1;
  of.plan.looks = {of.plan.randomized ? runs / 2 : runs};
  of.plan.timeout = timeout_for(seen->wall);
  of.plan.directory = of.directory;
  of.plan.environment = kept_environment();
  of.plan.prepare = arguments.prepare;
  of.plan.warmup = arguments.warmup;
  STAB_TRY(of.plan.exit, exit_statuses(arguments.exit));
  of.plan.name = experiment_name_of(command.words[arguments.shell ? 2 : 0]);
  of.plan.commands = {command};
  of.facts.command = command.shown;
  of.facts.about = about_of(of.plan);
  STAB_TRY(commands::StoredTiming now, timing_of_now(command.words, arguments.input, of.plan.randomized, of.clock));
  STAB_TRY(of.baseline, baseline_files(arguments.store, arguments.against, arguments.margin.has_value(), std::move(now)));
  return {};
}

// Compares these runs with a stored baseline, and stores them, as it was asked.
Status use_baseline(Timing& of, const commands::TimedRuns& cpu) {
  const Arguments& arguments = of.arguments;
  if (arguments.against.empty() && arguments.store.empty()) return {};
  STAB_CHECK_OK(take_runs(of.baseline, cpu));
  if (!arguments.against.empty()) {
    constexpr double kMargin = 0.01;
    STAB_TRY(of.facts.against,
             commands::against_baseline(of.baseline.stored, of.baseline.now, arguments.margin.value_or(kMargin)));
    of.facts.baseline = arguments.against;
  }
  if (arguments.store.empty()) return {};
  if (of.was_interrupted) return bad_input("nothing is stored of a session that was interrupted");
  STAB_CHECK_OK(append_session(of.baseline));
  of.facts.stored = arguments.store;
  return {};
}

// Of the runs' wall time, how much of it others had their CPU. Of a program with several threads it is the first one's.
Result<double> waited_share(store::Store& store, store::Id experiment, const commands::TimedRuns& wall) {
  constexpr std::array<std::string_view, 1> kKeys = {"run_delay_ns"};
  STAB_TRY(const std::vector<store::TrialFacts> trials, store.trial_facts(experiment, kKeys, [](const std::string&) {}));
  double waited = 0;
  for (const store::TrialFacts& trial : trials)
    if (const auto delay = trial.ledger.find(kKeys[0].data()); delay != trial.ledger.end()) waited += delay->second / 1e9;
  const double all = std::accumulate(wall.times.begin(), wall.times.end(), 0.0);
  return all > 0 ? std::min(1.0, waited / all) : 0;
}

// Of the runs that there are. `is_over_time`: they were stopped by the time, not by the user
Result<commands::TimeOutput> answer(Timing& of, store::Store& store, store::Id experiment, engine::RunEnd end,
                                    bool is_over_time) {
  const Arguments& arguments = of.arguments;
  constexpr uint32_t kFewestToKeep = 2;
  if (is_over_time)
    if (const auto ended = engine::end_in_time(store, experiment, kFewestToKeep, of.clock.realtime()); !ended)
      return ended.error();
  if (end == engine::RunEnd::kStopped)
    of.facts.unfinished = is_over_time ? "the time was over before its last run" : "it was interrupted";
  of.was_interrupted = end == engine::RunEnd::kStopped && !is_over_time;
  of.facts.experiment = experiment;
  of.facts.next = "stabctl report " + std::to_string(experiment) + database_option(arguments) + " --html time.html";
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const report::Samples samples, engine::load_samples(store, row));
  STAB_TRY(const commands::TimedRuns wall, runs_of(store, experiment, 0, of.facts.command, RunClock::kWall));
  STAB_TRY(const commands::TimedRuns cpu, runs_of(store, experiment, 0, of.facts.command, RunClock::kCpu));
  STAB_TRY(of.facts.waited, waited_share(store, experiment, wall));
  if (cpu.times.size() >= kFewestToKeep)
    STAB_CHECK_OK(use_baseline(of, cpu));
  if (!arguments.export_json.empty()) of.times = commands::hyperfine_json({wall});
  STAB_TRY(commands::TimeOutput output, commands::time_answer(samples, wall, cpu, of.facts, terminal_width()));
  // Numbers of fewer runs than were asked for; a verdict of --against holds for those that there are.
  if (of.was_interrupted && arguments.against.empty()) output.exit_code = kExitUnfinished;
  return output;
}

Result<commands::TimeOutput> timed(Timing& of) {
  const Arguments& arguments = of.arguments;
  if (arguments.words.empty()) return bad_input("time needs a program: stabctl time ./prog arguments");
  STAB_TRY(of.most, time_limit(arguments));
  STAB_CHECK_OK(check_margin(arguments));
  STAB_CHECK_OK(check_files(arguments));
  STAB_TRY(of.directory, absolute_path("."));
  engine::StopSignal stop;
  CaughtInterrupts caught(stop, FirstInterrupt::kAtOnce);
  of.plan.comment =
      "Written by stabctl time; docs/how-to/compare-programs.md says what it does, docs/reference/plan.md what the keys mean.";
  of.plan.seed = seed_of_now();
  if (const Status planned = plan_runs(of, stop); !planned) {
    of.was_interrupted = stop.asked();
    return planned.error();
  }
  caught.ask(stop);
  const std::string text = text_of(of.plan);
  STAB_TRY(const plan::Plan plan, parse_ad_hoc(text, of.directory));
  if (!arguments.save.empty()) STAB_CHECK_OK(write_whole(text, arguments.save));
  STAB_TRY(const std::unique_ptr<engine::Engine> engine, open_engine(arguments, of.clock));
  STAB_TRY(const store::Id experiment, engine->submit(plan, of.directory, ::geteuid(), ::getegid()));
  OneLineProgress progress(arguments.quiet, of.clock, of.start, of.most);
  Budget budget{of.most - of.elapsed()};
  const auto end = run_within(*engine, experiment, progress, budget, stop);
  progress.finish();
  store::Store& store = engine->store();
  if (!end) {
    take_back_or_say(store, experiment, arguments);
    return end.error();
  }
  if (*end == engine::RunEnd::kRejected || *end == engine::RunEnd::kGaps)
    return no_runs(store, experiment, *end, progress.failure());
  auto output = answer(of, store, experiment, *end, budget.is_over);
  if (output) take_back_without_runs(store, experiment, arguments);
  else take_back_or_say(store, experiment, arguments);
  return output;
}

}  // namespace

int time_command(const Arguments& arguments) {
  Timing of{.arguments = arguments};
  of.start = of.clock.monotonic_raw();
  const auto output = timed(of);
  const auto fail = arguments.against.empty() ? complain : complain_of_no_answer;
  if (output) return say_answer(output->text, output->json, output->markdown, output->exit_code, of.times, arguments, fail);
  const int failed = fail(output.error());
  return of.was_interrupted ? kExitUnfinished : failed;
}

}  // namespace stab::ctl
