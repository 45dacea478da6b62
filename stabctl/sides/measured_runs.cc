// How a command is tried here is how trials run it: the same environment, the same directory.
#include "stabctl/sides/measured_runs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/number_text.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/unique_fd.h"
#include "base/wording.h"
#include "plan/check.h"
#include "stabctl/command_line/exit_statuses.h"
#include "stabctl/run/run_command.h"
#include "stabctl/sides/clock_choice.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/build/builds.h"

namespace stab::ctl {
namespace {

using std::chrono::nanoseconds;

// What programs are told of where they are, as trials are (stabd/engine/trial/trial_setup.cc).
std::vector<std::string> environment_of(const std::string& directory) {
  std::vector<std::string> out{std::string("PATH=") + engine::kSearchPath, "HOME=" + directory, "LC_ALL=C.UTF-8"};
  for (std::string& one : kept_environment()) out.push_back(std::move(one));
  return out;
}

constexpr char kNothing[] = "/dev/null";

// What --prepare does, and then the command.
Result<Probe> prepared_probe(const MeasuredCommand& command, const Arguments& arguments, const std::string& directory,
                             nanoseconds most, const engine::StopSignal& stop) {
  const std::string& prepare = arguments.prepare;
  const std::vector<std::string> environment = environment_of(directory);
  nanoseconds took{0};
  if (!prepare.empty()) {
    const auto done = probe({"/bin/sh", "-c", prepare}, kNothing, directory, environment, most, stop);
    if (!done && stop.asked()) return done.error();
    if (!done && done.error().code == ErrorCode::kUnavailable && most.count() > 0)
      return Error{ErrorCode::kUnavailable,
                   "--prepare " + in_quotes(prepare) + " was still running after " + plan::duration_text(most) +
                       "; --at-most gives it more time",
                   {}};
    if (!done) return Error{done.error().code, "--prepare: " + done.error().message, {}};
    if (const std::string failure = failure_of(*done, {0}); !failure.empty())
      return bad_input("--prepare " + in_quotes(prepare) + " " + failure +
                       (done->errors.empty() ? "" : "; its standard error ends with:\n" + printable(done->errors)));
    took = done->wall;
  }
  const std::string input = arguments.input.empty() ? kNothing : arguments.input;
  STAB_TRY(Probe seen, probe(command.words, input, directory, environment, most, stop));
  seen.prepare = took;
  return seen;
}

Result<Probe> busiest_probe(const MeasuredCommand& command, const Arguments& arguments, const std::string& directory,
                            const std::vector<int>& accepted, nanoseconds most, const engine::StopSignal& stop) {
  STAB_TRY(Probe busiest, prepared_probe(command, arguments, directory, most, stop));
  const auto may_not_have_waited = [&] { return TriedProgram{{}, busiest.busy(), 0, busiest.wall}.may_not_have_waited(); };
  for (int again = 1; again < kMostTries && may_not_have_waited() && failure_of(busiest, accepted).empty(); ++again) {
    STAB_TRY(Probe next, prepared_probe(command, arguments, directory, most, stop));
    if (next.busy() > busiest.busy()) busiest = std::move(next);
  }
  return busiest;
}

std::string failed_text(const MeasuredCommand& command, const Probe& seen, const std::vector<int>& accepted) {
  const std::string text = "'" + command.shown + "' " + failure_of(seen, accepted);
  if (seen.errors.empty()) return text + ", and printed nothing to standard error";
  return text + "; its standard error ends with:\n" + printable(seen.errors);
}

}  // namespace

Result<nanoseconds> time_limit(const Arguments& arguments) {
  if (arguments.at_most.empty()) return nanoseconds(std::chrono::minutes(1));
  return budget_of(arguments.at_most);
}

Status check_margin(const Arguments& arguments) {
  constexpr double kLeast = 1e-6, kMost = 1;
  if (!arguments.margin || (*arguments.margin >= kLeast && *arguments.margin <= kMost)) return {};
  return bad_input("--margin takes a share from 0.0001% to 100%, such as 1% or 0.01");
}

Status check_files(const Arguments& arguments) {
  for (const std::string* path : {&arguments.save, &arguments.export_json})
    if (!path->empty()) STAB_CHECK_OK(check_writable(*path));
  return {};
}

Result<std::string> input_of(const Arguments& arguments) {
  if (arguments.input.empty()) return std::string();
  const UniqueFd file(::open(arguments.input.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return bad_input("--input: " + system_error("open " + in_quotes(arguments.input), errno).message);
  // A name such as /dev/stdin is another file to each process.
  std::error_code unknown;
  const std::string path = std::filesystem::canonical(arguments.input, unknown);
  struct stat info {};
  if (unknown || ::fstat(file.get(), &info) != 0 || !(S_ISREG(info.st_mode) || path == kNothing))
    return bad_input("--input " + in_quotes(arguments.input) + " is no regular file, and each run reads it from its beginning");
  return path;
}

std::string runs_options(const Arguments& arguments) {
  return option("--input", arguments.input) + option("--prepare", arguments.prepare);
}

std::string option(const std::string& name, const std::string& value) {
  return value.empty() ? std::string() : " " + name + " " + shell_word(value);
}

std::string question_options(const Arguments& arguments) {
  std::string out = option("--build", arguments.build) + option("--plan", arguments.plan) +
                    option("--workload", arguments.workload) + runs_options(arguments);
  if (arguments.margin) out += " --margin " + percent_text(*arguments.margin);
  out += option("--exit", arguments.exit);
  if (!arguments.behind.empty()) out += " --";
  for (const std::string& word : arguments.behind) out += " " + shell_word(word);
  return out;
}

std::string library_path() {
  const char* libraries = std::getenv("LD_LIBRARY_PATH");
  return libraries ? libraries : "";
}

std::vector<std::string> kept_environment() {
  const std::string libraries = library_path();
  if (libraries.empty()) return {};
  return {"LD_LIBRARY_PATH=" + libraries};
}

Result<Probe> tried(const MeasuredCommand& command, const std::string& directory, const Arguments& arguments, nanoseconds most,
                    const engine::StopSignal& stop) {
  std::vector<Probe> seen(1);
  STAB_TRY(seen[0], tried_with_any_status(command, directory, arguments, most, stop));
  STAB_CHECK_OK(check_ends({command}, seen, arguments));
  return std::move(seen[0]);
}

Result<Probe> tried_with_any_status(const MeasuredCommand& command, const std::string& directory, const Arguments& arguments,
                                    nanoseconds most, const engine::StopSignal& stop) {
  STAB_TRY(const std::vector<int> accepted, exit_statuses(arguments.exit));
  STAB_TRY(Probe seen, busiest_probe(command, arguments, directory, accepted, most, stop));
  if (!WIFEXITED(seen.status)) return bad_input(failed_text(command, seen, accepted));
  return seen;
}

Status check_ends(const std::vector<MeasuredCommand>& commands, const std::vector<Probe>& seen, const Arguments& arguments) {
  STAB_TRY(const std::vector<int> accepted, exit_statuses(arguments.exit));
  std::string failed;
  std::vector<int> wanted = arguments.exit.empty() ? std::vector<int>() : accepted;
  for (size_t at = 0; at < seen.size(); ++at) {
    const int status = WEXITSTATUS(seen[at].status);
    if (std::find(wanted.begin(), wanted.end(), status) == wanted.end()) wanted.push_back(status);
    if (failure_of(seen[at], accepted).empty()) continue;
    const std::string text = failed_text(commands[at], seen[at], accepted);
    // What one command did with the same words twice is said once.
    if (failed.find(text) == std::string::npos) failed += (failed.empty() ? "" : "\n") + text;
  }
  if (failed.empty()) return {};
  return bad_input(failed + "\nif that is how " + (seen.size() == 1 ? "it " : "they ") + (wanted.size() == 1 ? "should" : "may") +
                   " end: --exit " + exit_words(wanted));
}

void try_again(const MeasuredCommand& command, const std::string& directory, const Arguments& arguments, nanoseconds most,
               const engine::StopSignal& stop, Probe& seen) {
  if (most <= nanoseconds(0)) return;
  Result<Probe> again = tried(command, directory, arguments, std::min(most, seen.wall), stop);
  if (again && again->wall < seen.wall) seen = *std::move(again);
}

nanoseconds timeout_for(nanoseconds wall) {
  constexpr int kTimes = 20;
  constexpr nanoseconds kLeast = std::chrono::minutes(1);
  return std::max(kLeast, wall * kTimes);
}

int runs_within(nanoseconds left, nanoseconds each, int most) {
  constexpr double kPlannedShare = 0.85;
  const double runs = kPlannedShare * static_cast<double>(left.count()) / static_cast<double>(std::max<int64_t>(1, each.count()));
  return static_cast<int>(std::clamp<double>(runs, 0, most));
}

std::string option_of(std::chrono::duration<double> time) {
  const double seconds = time.count();
  if (seconds <= 90) return "--at-most " + std::to_string(10 * static_cast<int>(std::ceil(seconds / 10))) + "s";
  return "--at-most " + std::to_string(static_cast<int>(std::ceil(seconds / 60))) + "min";
}

uint64_t seed_of_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

Result<commands::TimedRuns> runs_of(store::Store& store, store::Id experiment, int cell, const std::string& command,
                                    RunClock clock) {
  STAB_TRY(const std::vector<store::TrialRow> trials,
           store.trials(experiment, {.kind = store::TrialKind::kMain, .state = store::TrialState::kRecorded, .block = {}}));
  commands::TimedRuns out{.command = command, .times = {}, .user = {}, .system = {}, .exit_codes = {}};
  constexpr double kSecond = 1e9;
  for (const store::TrialRow& trial : trials) {
    if (trial.cell != cell) continue;
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    if (!outcome.wall_ns || !outcome.user_ns || !outcome.system_ns) continue;
    const auto cpu = static_cast<double>(*outcome.user_ns + *outcome.system_ns);
    out.times.push_back((clock == RunClock::kCpu ? cpu : static_cast<double>(*outcome.wall_ns)) / kSecond);
    out.user.push_back(static_cast<double>(*outcome.user_ns) / kSecond);
    out.system.push_back(static_cast<double>(*outcome.system_ns) / kSecond);
    out.exit_codes.push_back(outcome.exit_status.value_or(0));
  }
  return out;
}

int say_answer(const std::string& text, const std::string& json, const std::string& markdown, int exit_code,
               const std::string& times, const Arguments& arguments, int (*fail)(const Error&)) {
  std::fputs((arguments.json ? json : arguments.format == "markdown" ? markdown : text).c_str(), stdout);
  std::fflush(stdout);
  if (arguments.export_json.empty()) return exit_code;
  const Status written = write_whole(times, arguments.export_json);
  return written ? exit_code : fail(written.error());
}

Error no_runs(store::Store& store, store::Id experiment, engine::RunEnd end, const std::string& failure) {
  if (end == engine::RunEnd::kRejected) {
    const auto row = store.experiment(experiment);
    if (!row) return row.error();
    return {ErrorCode::kBadInput, printable(row->failure), {}};
  }
  return {ErrorCode::kBadInput, "runs failed again and again; the last one: " + printable(failure), {}};
}

}  // namespace stab::ctl
