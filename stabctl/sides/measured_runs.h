// What compare and time share: trying a command once, and reading the runs of an experiment as plain numbers.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "analysis/commands/time/timed_runs.h"
#include "base/result.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/plan/measured_command.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabctl/sides/probe.h"
#include "stabd/engine/experiment/engine.h"
#include "store/store.h"

namespace stab::ctl {

// --at-most; a minute where it isn't given.
Result<std::chrono::nanoseconds> time_limit(const Arguments& arguments);

// Whether a margin that was typed is one that a plan takes.
Status check_margin(const Arguments& arguments);

// Whether the files that the arguments name can be written, so that nobody waits a minute for nothing.
Status check_files(const Arguments& arguments);

// --input as an absolute path; empty where it isn't given. kBadInput: it is no file that runs can read, each from its beginning.
Result<std::string> input_of(const Arguments& arguments);

// " --input FILE --prepare COMMAND", as far as they are given: what another command of the same runs takes, too.
std::string runs_options(const Arguments& arguments);
// " NAME VALUE" as a shell reads it; empty where the value is.
std::string option(const std::string& name, const std::string& value);
// What was typed of a question behind its sides: what builds and runs them, the margin, how runs may end, and their arguments.
std::string question_options(const Arguments& arguments);

// LD_LIBRARY_PATH of the user's own environment; empty: there is none.
std::string library_path();

// What of the user's own environment programs keep in trials, as a plan's `env`: where libraries are.
std::vector<std::string> kept_environment();

// One run of it, where and as trials run; of several where it is short, as the machine's noise is large then. kBadInput: it did
// not end with the status that the arguments ask for; with the last lines that it printed to standard error.
Result<Probe> tried(const MeasuredCommand& command, const std::string& directory, const Arguments& arguments,
                    std::chrono::nanoseconds most, const engine::StopSignal& stop);

// The same, with whatever exit status it ended. kBadInput: a signal killed it.
Result<Probe> tried_with_any_status(const MeasuredCommand& command, const std::string& directory, const Arguments& arguments,
                                    std::chrono::nanoseconds most, const engine::StopSignal& stop);

// Of commands that were tried, the first ones where `seen` is shorter: whether all ended with a status that the arguments ask
// for. kBadInput says of each that didn't what it printed, and at the end the one --exit with which all would be taken.
Status check_ends(const std::vector<MeasuredCommand>& commands, const std::vector<Probe>& seen, const Arguments& arguments);

// Once more, where there is time for it: a run that was quicker takes the place of `seen`.
void try_again(const MeasuredCommand& command, const std::string& directory, const Arguments& arguments,
               std::chrono::nanoseconds most, const engine::StopSignal& stop, Probe& seen);

// "600 s" of a run that takes so long alone, as a plan's timeout: busy machines slow down everything.
std::chrono::nanoseconds timeout_for(std::chrono::nanoseconds wall);

// What a trial costs beside its program: a directory, a process, a row of the database.
inline constexpr std::chrono::nanoseconds kEachTrial = std::chrono::milliseconds(25);
// How many runs of `each` are planned for what is left of the time: not all of it, as machines get busier.
int runs_within(std::chrono::nanoseconds left, std::chrono::nanoseconds each, int most);
// "--at-most" of so much time, in round figures.
std::string option_of(std::chrono::duration<double> time);

// A draw of its own for each comparison.
uint64_t seed_of_now();

enum class RunClock { kWall, kCpu };
// Of the recorded trials of one cell, in the order of the schedule.
Result<commands::TimedRuns> runs_of(store::Store& store, store::Id experiment, int cell, const std::string& command,
                                    RunClock clock);

// Prints an answer in the form that was asked for, and writes the times of all runs to --export-json. The answer comes first: it
// is there even if the file has no room. Returns the exit status; `fail` complains of the file.
int say_answer(const std::string& text, const std::string& json, const std::string& markdown, int exit_code,
               const std::string& times, const Arguments& arguments, int (*fail)(const Error&));

// "no answer: ..." of an experiment that was rejected or has gaps, with what its runs said.
Error no_runs(store::Store& store, store::Id experiment, engine::RunEnd end, const std::string& failure);

}  // namespace stab::ctl
