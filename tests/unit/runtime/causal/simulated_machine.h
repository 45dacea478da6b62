// A simulated machine: threads, CPUs, locks, barriers, queues, I/O, in steps of 10 us, with the virtual clock of
// runtime/causal/clock.h or COZ's rules in it. Truth is the same program whose line really takes less work.
//
// Threads are scheduled first come, first served, with slices of 3 ms; work varies by 30 % around its mean.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/causal/clock.h"

namespace stab::causal::simulated {

enum class Does { kWork, kBarrier, kLock, kUnlock, kPush, kPop, kProgress, kIo };
struct Step {
  Does does;
  int line = 0;        // of work and I/O
  uint64_t us = 0;
  int id = 0;          // which lock, barrier or queue
};

struct Program {
  std::string name;
  uint32_t cpus;
  std::vector<std::vector<Step>> threads;
  int barrier_size = 0;
  int queue_room = 1 << 30;
  std::vector<int> lines;
};

// Who pauses, and how: nobody, because the line really is shorter; each thread sleeps (COZ); a CPU spins (clock.h); nobody,
// on one CPU.
enum class Protocol { kReal, kThreadSleeps, kCpuSpins, kOneCpu };

struct Experiment {
  Protocol protocol = Protocol::kReal;
  int line = 0;
  double speedup = 0;
  uint64_t period_us = 1000;
  int batch = 1;            // samples that are judged at a time; COZ's is 10
  ArmKind kind = ArmKind::kSpeedup;
  bool pays_before_waking = true;
  uint64_t seed = 1;
};

// Effective time for each progress, in us, of so long a run.
double time_of_progress(const Program& program, const Experiment& experiment, uint64_t run_us);

// Gain in per cent against the same experiment at speedup 0, the mean of two seeds.
double gain(const Program& program, Experiment experiment, uint64_t run_us);

}  // namespace stab::causal::simulated
