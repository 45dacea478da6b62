// gate BASE..HEAD: is a repository's HEAD slower than BASE? Both revisions are built and their trials interleaved by the engine
// of `stabctl run`; what it finds is written for people and for CI. Whatever it makes lies in one temporary directory, which is
// removed however it ends.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "analysis/commands/gate/gate.h"
#include "base/shell_word.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/explain/explain_command.h"
#include "stabctl/explain/explained_sides.h"
#include "stabctl/records/database.h"
#include "stabctl/records/logbook_of.h"
#include "stabctl/revisions/gate_file.h"
#include "stabctl/revisions/gate_start.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/run/run_command.h"
#include "stabctl/sides/measured_runs.h"
#include "stabctl/sides/recorded_sides.h"
#include "stabctl/terminal/progress.h"
#include "stabctl/terminal/temporary_folder.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/results/ended_in_time.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

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

// What git bisect run takes: 0 is good, 1 is bad, 125 skips a revision that can't be judged, and from 128 on it stops. Unsure is
// skipped, too: calling it good or bad would lead the search to a commit that is neither.
int for_bisect(int exit_code, const std::optional<engine::RunEnd>& ended, bool interrupted) {
  constexpr int kSkip = 125, kStop = 255, kUnsure = 3;
  if (exit_code == 0 || exit_code == 1) return exit_code;
  // Its build, its preflight or its trials failed.
  const bool untestable = ended && (*ended == engine::RunEnd::kRejected || *ended == engine::RunEnd::kGaps);
  return !interrupted && (exit_code == kUnsure || untestable) ? kSkip : kStop;
}

// What was typed of what is asked, behind the commits, as a shell reads it.
std::string plan_option(const Arguments& arguments) {
  return option("--plan", arguments.plan);
}

// Of each workload that `explain` takes.
std::map<std::string, std::string> cause_commands(const plan::Plan& plan, const commands::GateFacts& facts,
                                                  const Arguments& arguments) {
  std::map<std::string, std::string> out;
  const std::vector<plan::Subject> subjects = plan::subjects(plan);
  for (const plan::Subject& subject : subjects)
    if (may_be_explained(plan, subject, "the gate's file"))
      out[subject.name] = "stabctl explain " + facts.base + ".." + facts.head + plan_option(arguments) +
                          (subjects.size() > 1 ? " --workload " + shell_word(subject.name) : "") + database_option(arguments);
  return out;
}

// What the logbook knows, and how one more control comes into it. A named logbook that is not there yet has none.
Status ask_logbook(const std::string& path, const Arguments& arguments, commands::GateFacts& facts) {
  STAB_TRY(facts.sessions.controls, known_controls(path));
  facts.sessions.command = "stabctl selftest --nightly" + plan_option(arguments);
  return {};
}

// The answer of a gate that is one of a stream: its state, the answer and what stays of it are one transaction. Of a gate that
// its user has interrupted nothing is kept.
Result<commands::GateOutput> judged_in_stream(store::Logbook& logbook, const store::StreamName& stream,
                                              const Revisions& revisions, const report::Samples& samples, const Clock& clock,
                                              const store::LogbookSession& session, bool is_kept, commands::GateFacts facts) {
  std::optional<Result<commands::GateOutput>> output;
  const Status done = logbook.judge(
      stream, {revisions.base, revisions.head}, session, clock.realtime().count(),
      [&](const store::StreamState& seen) -> Result<store::StreamVerdict> {
        facts.sessions.controls = from_logbook(seen.controls);
        facts.stream = commands::GateStream{stream.name,
                                            {stream.rate, static_cast<uint64_t>(stream.tests)},
                                            static_cast<uint64_t>(seen.number),
                                            static_cast<uint64_t>(seen.called_before),
                                            seen.called,
                                            seen.session,
                                            from_logbook(seen.earlier)};
        output = commands::run_gate(samples, facts);
        if (!*output) return (*output).error();
        const commands::GateOutput& answer = **output;
        return store::StreamVerdict{answer.stream->log_e, answer.stream->called,
                                    is_kept ? for_logbook(answer.findings) : std::vector<store::LogbookFinding>()};
      });
  if (!done) return done.error();
  return *std::move(output);
}

// The two sides of each workload that explain takes, by its name, as they are before anything is built: whoever edits the file or
// the working tree while the gate runs changes nothing of what it asks.
using SidesByWorkload = std::map<std::string, Result<ExplainedSides>>;

SidesByWorkload sides_of_places(const Arguments& arguments, const Revisions& revisions,
                                const std::map<std::string, std::string>& cause_commands) {
  SidesByWorkload out;
  Arguments asked = arguments;
  asked.words = {revisions.base + ".." + revisions.head};
  asked.json = false;
  for (const auto& [workload, command] : cause_commands) {
    asked.workload = workload;
    out.emplace(workload, explained_sides(asked));
  }
  return out;
}

// What the places of the two revisions' functions add, asked of each of these workloads, until `end` of the monotonic clock, if
// there is one. Where there is no answer, it says why.
commands::GatePlaces ask_places(engine::Engine& engine, const Arguments& arguments, const Clock& clock, const GateFile& file,
                                const SidesByWorkload& sides_by_workload,
                                const std::map<std::string, std::string>& cause_commands,
                                std::optional<std::chrono::nanoseconds> end, engine::StopSignal& stop, ToldNotes& told) {
  commands::GatePlaces out{*file.place, {}};
  size_t left = sides_by_workload.size();
  for (const auto& [workload, sides] : sides_by_workload) {
    commands::GatePlace& place = out.workloads.emplace_back();
    place.workload = workload;
    Arguments asked = arguments;
    asked.json = false;
    asked.workload = workload;
    std::chrono::nanoseconds budget = kUsualExplainTime;
    if (end) budget = (*end - clock.monotonic_raw()) / static_cast<int64_t>(left);
    --left;
    if (budget <= std::chrono::nanoseconds(0)) {
      place.explanation.not_answered = "the budget of " + arguments.at_most + " ended before its place was asked about";
      continue;
    }
    if (!sides) place.explanation.not_answered = printable(sides.error().message);
    // Why there is no answer is in the explanation.
    else if (!explain_sides(engine, asked, clock, stop, *sides, budget, told, place.explanation))
      place.explanation.command = cause_commands.at(workload);
  }
  return out;
}

// Before anything is built: nobody expects of the trials of a minute that ten more follow.
void say_time_of_places(size_t workloads) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(kUsualExplainTime).count();
  std::string time = std::to_string(minutes) + " min";
  if (workloads > 1)
    time += " for each of " + std::to_string(workloads) + " workloads, " +
            std::to_string(minutes * static_cast<int64_t>(workloads)) + " min";
  std::fprintf(stderr, "after the trials 'place' takes up to %s; --at-most limits the whole gate\n", time.c_str());
}

// ended: how the experiment did, where it came to one
int run_gate(const Arguments& arguments, std::optional<engine::RunEnd>& ended, bool& interrupted) {
  for (const std::string* path : {&arguments.summary, &arguments.junit})
    if (!path->empty())
      if (const Status writable = check_writable(*path); !writable) return complain_of_no_answer(writable.error());
  commands::GateFacts facts;
  const auto no_answer = [&](const Error& error) { return say_no_answer(error, facts, arguments); };
  const auto budget = budget_of(arguments.at_most);
  if (!budget) return no_answer(budget.error());
  const auto revisions = revisions_of(arguments.range);
  if (!revisions) return no_answer(revisions.error());
  facts.base = revisions->base.substr(0, kShownCommit);
  facts.head = revisions->head.substr(0, kShownCommit);
  facts.command = "stabctl gate " + facts.base + ".." + facts.head + plan_option(arguments);
  const auto file = sliced_gate_plan_of(*revisions, arguments);
  if (!file) return no_answer(file.error());
  facts.cause_commands = cause_commands(file->plan, facts, arguments);
  const auto logbook_file = logbook_path(file->sessions.logbook, revisions->root);
  if (!logbook_file) return no_answer(logbook_file.error());
  if (const Status asked = ask_logbook(*logbook_file, arguments, facts); !asked) return no_answer(asked.error());
  const SystemClock clock;
  const auto session = this_session(clock);
  if (!session) return no_answer(session.error());
  // Searches compare what nobody has asked to be merged.
  const std::optional<store::StreamName> stream = arguments.bisect ? std::nullopt : file->sessions.stream;
  std::optional<store::Logbook> logbook;
  if (stream) {
    auto opened = open_logbook(*logbook_file);
    if (!opened) return no_answer(opened.error());
    logbook = *std::move(opened);
    if (const Status same = logbook->check_stream(*stream); !same) return no_answer(same.error());
  }
  // From here on: what is interrupted still removes what it has made.
  engine::StopSignal stop;
  CaughtInterrupts caught(stop);
  const auto scratch = TemporaryFolder::make(TemporaryPurpose::kGate);
  if (!scratch) return no_answer(scratch.error());
  Arguments own = arguments;
  if (own.database.empty()) own.database = scratch->path() + "/gate.db", own.is_database_temporary = true;
  const auto engine = open_engine(own, clock);
  if (!engine) return no_answer(engine.error());
  const bool asks_places = file->place && !arguments.bisect;
  if (asks_places && budget->count() == 0 && !arguments.quiet && !facts.cause_commands.empty())
    say_time_of_places(facts.cause_commands.size());
  const SidesByWorkload sides =
      asks_places ? sides_of_places(arguments, *revisions, facts.cause_commands) : SidesByWorkload();
  const std::chrono::nanoseconds start = clock.monotonic_raw();
  Budget limit{*budget};
  ToldNotes told;
  const auto started = start_gate(**engine, *revisions, *file, {}, arguments, clock, limit, caught, stop, told);
  if (!started) return no_answer(started.error());
  const store::Id experiment = started->experiment;
  facts.clock = started->clock;
  const auto end =
      started->tried ? Result<engine::RunEnd>(*started->tried)
                     : run_until(**engine, experiment, arguments, clock, limit, stop, &told);
  if (!end) return no_answer(end.error());
  facts.seconds = std::chrono::duration<double>(clock.monotonic_raw() - start).count();
  const auto row = (*engine)->store().experiment(experiment);
  if (!row) return no_answer(row.error());
  ended = *end;
  interrupted = *end == engine::RunEnd::kStopped && !limit.is_over;
  if (*end == engine::RunEnd::kRejected) return say(commands::gate_without_answer(facts, printable(row->failure)), arguments);
  if (*end == engine::RunEnd::kStopped)
    facts.unfinished = limit.is_over ? "the budget of " + arguments.at_most + " ended first" : "it was interrupted";
  // Who searches for a slow commit asks nothing of crashes.
  if (!arguments.bisect) {
    auto failed = failed_runs((*engine)->store(), experiment);
    if (!failed) return no_answer(failed.error());
    facts.failed = *std::move(failed);
  }
  if (*end == engine::RunEnd::kGaps) return say(commands::gate_of_failures(facts, file->plan.experiment.alpha), arguments);
  const auto samples = engine::load_samples((*engine)->store(), *row);
  if (!samples) return no_answer(samples.error());
  facts.is_over_time = *end == engine::RunEnd::kStopped && limit.is_over;
  const auto whole = engine::whole_blocks((*engine)->store(), experiment);
  if (!whole) return no_answer(whole.error());
  facts.whole_blocks = *whole;
  // What is kept of it is over, and its report gives the verdict that is given here.
  if (facts.is_over_time)
    if (const auto done = engine::end_in_time((*engine)->store(), experiment, commands::fewest_blocks_at_end(samples->stopping),
                                              clock.realtime());
        !done)
      return no_answer(done.error());
  if (*end == engine::RunEnd::kDone && !arguments.bisect) {
    Budget left;
    if (budget->count() > 0) left.most = std::max(*budget - (clock.monotonic_raw() - start), std::chrono::nanoseconds(1));
    CountedCopies counted = copies_of_revisions(**engine, *revisions, *file, arguments, clock, left, stop);
    facts.copies = std::move(counted.by_workload);
    facts.uncounted = std::move(counted.uncounted);
  } else if (file->moves_code) {
    facts.uncounted = arguments.bisect ? "--bisect asks about many commits; a gate without it counts them"
                      : interrupted    ? "it was interrupted"
                                       : "the time was over";
  }
  auto differ = side_differences((*engine)->store(), experiment);
  if (!differ) return no_answer(differ.error());
  facts.differ = *std::move(differ);
  if (asks_places && !interrupted) {
    facts.places = ask_places(**engine, own, clock, *file, sides, facts.cause_commands,
                              budget->count() > 0 ? std::optional(start + *budget) : std::nullopt, stop, told);
    facts.seconds = std::chrono::duration<double>(clock.monotonic_raw() - start).count();
  }
  const auto output = logbook ? judged_in_stream(*logbook, *stream, *revisions, *samples, clock, *session, !interrupted, facts)
                              : commands::run_gate(*samples, facts);
  // No trial was over before the budget was.
  if (!output && !facts.unfinished.empty()) return say(commands::gate_without_trials(facts), arguments);
  if (!output) return no_answer(output.error());
  return say(*output, arguments);
}

}  // namespace

int gate_command(const Arguments& arguments) {
  std::optional<engine::RunEnd> ended;
  bool interrupted = false;
  const int exit_code = run_gate(arguments, ended, interrupted);
  return arguments.bisect ? for_bisect(exit_code, ended, interrupted) : exit_code;
}

}  // namespace stab::ctl
