// A trial's program under a tool, on whoever's terminal: perf stat, gdb, strace. It is no trial: the tool is in its time,
// nothing is stored, and nobody holds it against a timeout. What it shares with the trial is what makes its layouts: binary,
// arguments, environment, directory and the settings of the runtime, in their readable form, so that a tool may stand between.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine/trial/trial_run.h"

namespace stab::engine {

struct HandRun {
  std::vector<std::string> argv;  // the tool, the program's path, its arguments
  std::vector<std::string> env;
  std::string directory;
  std::string input;       // the program's standard input; empty: the terminal's
  std::string input_note;  // the tool keeps the terminal: how to give the program its input; empty: it has it
  int cpu = -1;
  bool aslr = true;
  std::vector<host::Limit> limits;
};

// `directory` takes a layout script, where the trial has one. kBadInput: its program runs under a simulator.
// A debugger (gdb, lldb) keeps the terminal for itself.
Result<HandRun> by_hand(const TrialRequest& request, const std::vector<std::string>& tool, const std::string& directory);

// Runs it to its end, with this process's standard output and error. Its exit status, 128 + the signal that ended it.
Result<int> run_by_hand(const HandRun& run);

}  // namespace stab::engine
