// gate BASE..HEAD: is a repository's HEAD slower than BASE? Both revisions are built and their trials interleaved by the engine
// of `stabctl run`; what it finds is written for people and for CI. Whatever it makes lies in one temporary directory, which is
// removed however it ends.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "analysis/commands/gate/gate.h"
#include "base/shell_word.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/explain/explained_sides.h"
#include "stabctl/gate/asked_places.h"
#include "stabctl/records/database.h"
#include "stabctl/records/logbook_of.h"
#include "stabctl/revisions/gate_file.h"
#include "stabctl/revisions/gate_start.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/run/run_command.h"
#include "stabctl/run/unbegun.h"
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

// A gate, from what is asked to what is said.
class GateRun {
 public:
  explicit GateRun(const Arguments& arguments) : arguments_(arguments) {}

  // The exit status, once everything is written.
  int run();
  int run_for_bisect() {
    const int exit_code = run();
    return for_bisect(exit_code, ended_, was_interrupted());
  }

 private:
  // What is compared, and what is known of it before: nothing is made yet.
  Status read_question();
  Status open_stream();
  // Where trials are kept; from here on what is interrupted still removes what it has made.
  Status open_lab();
  Status measure();
  // What is known once the trials are over.
  Status note_failures();
  Status note_end(const report::Samples& samples);
  void count_copies();
  Status note_sides();
  // The answer of these trials.
  Result<commands::GateOutput> answer();
  std::string why_rejected() const;
  Result<commands::GateOutput> judge(const report::Samples& samples);

  bool asks_places() const { return file_.place && !arguments_.bisect; }
  bool ran_out() const { return ended_ == engine::RunEnd::kStopped && limit_.is_over; }
  bool was_interrupted() const { return ended_ == engine::RunEnd::kStopped && !limit_.is_over; }
  bool has_budget() const { return budget_.count() > 0; }
  std::chrono::nanoseconds spent() const { return clock_.monotonic_raw() - start_; }

  const Arguments& arguments_;
  const SystemClock clock_;
  commands::GateFacts facts_;
  std::chrono::nanoseconds budget_{};  // 0: none
  Revisions revisions_;
  GateFile file_;
  store::LogbookSession session_;
  std::optional<store::StreamName> stream_;
  std::optional<store::Logbook> logbook_;
  engine::StopSignal stop_;
  std::optional<CaughtInterrupts> caught_;
  std::optional<TemporaryFolder> scratch_;
  Arguments own_;  // with a database in the temporary folder, where none is named
  std::unique_ptr<engine::Engine> engine_;
  PlacesByWorkload places_;
  std::chrono::nanoseconds start_{};
  Budget limit_;
  ToldNotes told_;
  store::ExperimentRow row_;
  std::optional<engine::RunEnd> ended_;  // how the experiment did, where it came to one
};

int GateRun::run() {
  for (const std::string* path : {&arguments_.summary, &arguments_.junit})
    if (!path->empty())
      if (const Status writable = check_writable(*path); !writable) return complain_of_no_answer(writable.error());
  const Result<commands::GateOutput> output = answer();
  if (engine_ && row_.id != 0) take_back_without_runs(engine_->store(), row_.id, own_);
  return output ? say(*output, arguments_) : say_no_answer(output.error(), facts_, arguments_);
}

Status GateRun::read_question() {
  STAB_TRY(budget_, budget_of(arguments_.at_most));
  STAB_TRY(revisions_, revisions_of(arguments_.range));
  facts_.base = revisions_.base.substr(0, kShownCommit);
  facts_.head = revisions_.head.substr(0, kShownCommit);
  facts_.command = "stabctl gate " + facts_.base + ".." + facts_.head + plan_option(arguments_);
  STAB_TRY(file_, sliced_gate_plan_of(revisions_, arguments_));
  facts_.cause_commands = cause_commands(file_.plan, facts_, arguments_);
  return {};
}

Status GateRun::open_stream() {
  STAB_TRY(const std::string path, logbook_path(file_.sessions.logbook, revisions_.root));
  STAB_CHECK_OK(ask_logbook(path, arguments_, facts_));
  STAB_TRY(session_, this_session(clock_));
  // Searches compare what nobody has asked to be merged.
  if (!arguments_.bisect) stream_ = file_.sessions.stream;
  if (!stream_) return {};
  STAB_TRY(logbook_, open_logbook(path));
  return logbook_->check_stream(*stream_);
}

Status GateRun::open_lab() {
  caught_.emplace(stop_);
  STAB_TRY(TemporaryFolder scratch, TemporaryFolder::make(TemporaryPurpose::kGate));
  scratch_.emplace(std::move(scratch));
  own_ = arguments_;
  if (own_.database.empty()) own_.database = scratch_->path() + "/gate.db", own_.is_database_temporary = true;
  STAB_TRY(engine_, open_engine(own_, clock_));
  if (!asks_places()) return {};
  // Before anything is built: nobody expects of the trials of a minute that ten more follow.
  if (!has_budget() && !arguments_.quiet && !facts_.cause_commands.empty())
    std::fprintf(stderr, "after the trials 'place' takes up to %s; --at-most limits the whole gate\n",
                 time_of_places(facts_.cause_commands.size()).c_str());
  places_ = places_to_ask(arguments_, revisions_, facts_.cause_commands);
  return {};
}

Status GateRun::measure() {
  start_ = clock_.monotonic_raw();
  limit_ = Budget{budget_};
  STAB_TRY(const StartedGate started,
           start_gate(*engine_, revisions_, file_, {}, arguments_, clock_, limit_, *caught_, stop_, told_));
  facts_.clock = started.clock;
  const auto run = [&] { return run_until(*engine_, started.experiment, arguments_, clock_, limit_, stop_, &told_); };
  STAB_TRY(const engine::RunEnd end, started.tried ? Result<engine::RunEnd>(*started.tried)
                                                   : begun_or_taken_back(engine_->store(), started.experiment, own_, run()));
  facts_.seconds = std::chrono::duration<double>(spent()).count();
  STAB_TRY(row_, engine_->store().experiment(started.experiment));
  ended_ = end;
  if (ran_out()) facts_.unfinished = "the budget of " + arguments_.at_most + " ended first";
  if (was_interrupted()) facts_.unfinished = "it was interrupted";
  return {};
}

Status GateRun::note_failures() {
  // Who searches for a slow commit asks nothing of crashes.
  if (arguments_.bisect) return {};
  STAB_TRY(facts_.failed, failed_runs(engine_->store(), row_.id));
  return {};
}

Status GateRun::note_end(const report::Samples& samples) {
  facts_.is_over_time = ran_out();
  STAB_TRY(facts_.whole_blocks, engine::whole_blocks(engine_->store(), row_.id));
  // What is kept of it is over, and its report gives the verdict that is given here.
  if (!facts_.is_over_time) return {};
  const auto done = engine::end_in_time(engine_->store(), row_.id, commands::fewest_blocks_at_end(samples.stopping),
                                        clock_.realtime());
  return done ? Status() : done.error();
}

void GateRun::count_copies() {
  if (ended_ == engine::RunEnd::kDone && !arguments_.bisect) {
    Budget left;
    if (has_budget()) left.most = std::max(budget_ - spent(), std::chrono::nanoseconds(1));
    CountedCopies counted = copies_of_revisions(*engine_, revisions_, file_, arguments_, clock_, left, stop_);
    facts_.copies = std::move(counted.by_workload);
    facts_.uncounted = std::move(counted.uncounted);
  } else if (file_.moves_code) {
    facts_.uncounted = arguments_.bisect   ? "--bisect asks about many commits; a gate without it counts them"
                       : was_interrupted() ? "it was interrupted"
                                           : "the time was over";
  }
}

Status GateRun::note_sides() {
  STAB_TRY(facts_.differ, side_differences(engine_->store(), row_.id));
  if (!asks_places() || was_interrupted()) return {};
  const auto end = has_budget() ? std::optional(start_ + budget_) : std::nullopt;
  facts_.places = commands::GatePlaces{*file_.place, ask_places(*engine_, own_, clock_, places_, end, stop_, told_)};
  facts_.seconds = std::chrono::duration<double>(spent()).count();
  return {};
}

Result<commands::GateOutput> GateRun::answer() {
  STAB_CHECK_OK(read_question());
  STAB_CHECK_OK(open_stream());
  STAB_CHECK_OK(open_lab());
  STAB_CHECK_OK(measure());
  if (ended_ == engine::RunEnd::kRejected) return commands::gate_without_answer(facts_, why_rejected());
  STAB_CHECK_OK(note_failures());
  if (ended_ == engine::RunEnd::kGaps) return commands::gate_of_failures(facts_, file_.plan.experiment.alpha);
  STAB_TRY(const report::Samples samples, engine::load_samples(engine_->store(), row_));
  STAB_CHECK_OK(note_end(samples));
  count_copies();
  STAB_CHECK_OK(note_sides());
  auto output = judge(samples);
  // No trial was over before the budget was.
  if (!output && !facts_.unfinished.empty()) return commands::gate_without_trials(facts_);
  return output;
}

// A build that it names is gone with the gate, unless somebody keeps it.
std::string GateRun::why_rejected() const {
  std::string why = printable(row_.failure);
  while (why.ends_with('\n')) why.pop_back();
  return why + (own_.is_database_temporary ? "\n--db FILE keeps what was built and tried" : "");
}

Result<commands::GateOutput> GateRun::judge(const report::Samples& samples) {
  if (!logbook_) return commands::run_gate(samples, facts_);
  return judged_in_stream(*logbook_, *stream_, revisions_, samples, clock_, session_, !was_interrupted(), facts_);
}

}  // namespace

int gate_command(const Arguments& arguments) {
  GateRun gate(arguments);
  return arguments.bisect ? gate.run_for_bisect() : gate.run();
}

}  // namespace stab::ctl
