// Probe: one run of a command, before it is measured: what it costs, what it prints, how it ends, and whether CPU time is its
// cost.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/experiment/stop_signal.h"
#include "store/records.h"

namespace stab::ctl {

struct Probe {
  std::chrono::nanoseconds wall{0};  // until it ended; how long we waited for a CPU to see that is left out
  std::chrono::nanoseconds user{0}, system{0};
  std::chrono::nanoseconds delay{0};  // of its wall time: it could have run, and others had the CPU
  std::chrono::nanoseconds prepare{0};  // what ran before it took, outside its time
  int64_t max_rss_kib = 0;
  std::optional<int64_t> waits;  // how often it, or what it waited for, gave up its CPU by itself; absent: not known
  int status = 0;      // as waitpid gives it
  UniqueFd out;        // what it printed, a file in memory
  std::string errors;  // the last lines of its standard error

  std::chrono::nanoseconds cpu() const { return user + system; }
  std::chrono::nanoseconds prepared_wall() const { return prepare + wall; }
  // The share of its time that it was on a CPU: below 1 it waited, above it used several. The time that it had to wait for a CPU
  // is left out, and what never gave its CPU up has not waited, however long others had it.
  double busy() const;
};

// Of a trial that ran alone: its times.
Probe probe_of(const store::Outcome& outcome);

// In `directory`, with standard input from `input` and the environment that trials have. kUnavailable: it was still running
// after `most`, or it was interrupted, and was killed; nothing starts where `most` is no time. kBadInput: it can't be started.
Result<Probe> probe(const std::vector<std::string>& words, const std::string& input, const std::string& directory,
                    const std::vector<std::string>& environment, std::chrono::nanoseconds most, const engine::StopSignal& stop);

// "exit status 3", "killed by SIGSEGV"; empty: it returned one of `accepted`.
std::string failure_of(const Probe& probe, const std::vector<int>& accepted);

// Where two runs printed something else: "line 3: 'a' against 'b'". Absent: they printed the same.
std::optional<std::string> difference_of_outputs(const Probe& a, const Probe& b);

}  // namespace stab::ctl
