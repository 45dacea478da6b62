// The validity ledger: what else happened on the machine while a trial ran. Evidence only; whether a trial
// counts is decided by the plan's exclusion rules.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "stabd/host/roots.h"

namespace stab::engine {

// Counters of the machine at one moment. Absent: this machine does not tell.
struct HostMoment {
  std::optional<int64_t> interrupts;      // on the trial's CPU
  std::optional<int64_t> steal_ns;        // of the trial's CPU
  std::optional<int64_t> throttle_count;  // of the trial's CPU
  std::optional<int64_t> frequency_khz;   // of the trial's CPU
  std::optional<int64_t> psi_cpu_us, psi_memory_us, psi_io_us;  // "some" totals, machine wide
  std::optional<int64_t> swap_in_pages, swap_out_pages;
  std::optional<double> load_1min;
};

class Ledger {
 public:
  // `cpu` -1: not pinned; figures of one CPU are absent then.
  Ledger(Roots roots, int cpu);

  HostMoment look() const;
  // Kernel-log lines since the last call; absent without permission.
  std::optional<int64_t> new_kernel_log_lines();
  // Deltas under the names of plan::kLedgerKeys; what is absent on either side is left out.
  static std::map<std::string, double> between(const HostMoment& before, const HostMoment& after);

 private:
  Roots roots_;
  int cpu_;
  UniqueFd kernel_log_;
};

// --- parsers of the kernel's formats ---------------------------------------------------------------------

// Sum of the column of `cpu` in /proc/interrupts; absent where there is no such column.
std::optional<int64_t> interrupts_of(const std::string& proc_interrupts, int cpu);
// Steal time of "cpuN" in /proc/stat, in clock ticks.
std::optional<int64_t> steal_ticks_of(const std::string& proc_stat, int cpu);
// total= of the "some" line of /proc/pressure/*.
std::optional<int64_t> pressure_total_us(const std::string& pressure);
// A line "name value" of /proc/vmstat.
std::optional<int64_t> vmstat_value(const std::string& vmstat, const std::string& name);
// se.nr_migrations of /proc/PID/sched; works on a zombie too.
std::optional<int64_t> migrations_of(const Roots& roots, int pid);

}  // namespace stab::engine
