// The validity ledger: what else happened on the machine while a trial ran. Evidence only; whether a trial
// counts is decided by the plan's exclusion rules.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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
  std::optional<int64_t> memory_kills;    // processes that the kernel has killed for memory, machine wide
  std::optional<double> load_1min;
};

class Ledger {
 public:
  // `cpu` -1: not pinned; figures of one CPU are absent then. `kernel_log`: opened by who may; none: by us, if we may.
  Ledger(const host::Roots& roots, int cpu, UniqueFd kernel_log = UniqueFd());

  HostMoment look();
  // Kernel-log lines since the last call; absent without permission.
  std::optional<int64_t> new_kernel_log_lines();
  // What the kernel has killed for memory since the last look, as memory_kills_text().
  std::string memory_kills_since_look();
  // Deltas under the names of plan::kLedgerKeys; what is absent on either side is left out.
  static std::map<std::string, double> between(const HostMoment& before, const HostMoment& after);

 private:
  // Opened once and read from its start again and again; absent: this machine doesn't have it.
  class WatchedFile {
   public:
    WatchedFile() = default;
    explicit WatchedFile(const std::string& path);
    // What the file says now, as a view into `buffer`.
    std::optional<std::string_view> read(std::string& buffer) const;

   private:
    UniqueFd fd_;
  };
  int cpu_;
  UniqueFd kernel_log_;
  WatchedFile interrupts_, stat_, throttle_count_, frequency_;  // of the trial's CPU
  WatchedFile psi_cpu_, psi_memory_, psi_io_, vmstat_, loadavg_;
  std::string buffer_;
  std::optional<int64_t> memory_kills_;  // at the last look
};

// For what SIGKILL has ended: how many processes of the machine the kernel has killed for memory between these, in words that
// go on after others; empty: none, or this machine doesn't tell.
std::string memory_kills_text(const std::optional<int64_t>& before, const std::optional<int64_t>& after);

// --- parsers of the kernel's formats ---------------------------------------------------------------------

// Sum of the column of `cpu` in /proc/interrupts; absent where there is no such column.
std::optional<int64_t> interrupts_of(std::string_view proc_interrupts, int cpu);
// Steal time of "cpuN" in /proc/stat, in clock ticks.
std::optional<int64_t> steal_ticks_of(std::string_view proc_stat, int cpu);
// total= of the "some" line of /proc/pressure/*.
std::optional<int64_t> pressure_total_us(std::string_view pressure);
// A line "name value" of /proc/vmstat.
std::optional<int64_t> vmstat_value(std::string_view vmstat, std::string_view name);
// se.nr_migrations of /proc/PID/sched; works on a zombie too.
std::optional<int64_t> migrations_of(const host::Roots& roots, int pid);
// Of a process's first thread.
struct ScheduledTime {
  int64_t on_cpu_ns = 0;
  int64_t run_delay_ns = 0;  // it could have run, and waited for a CPU
};
// From /proc/PID/schedstat (Documentation/scheduler/sched-stats); works on a zombie too.
std::optional<ScheduledTime> scheduled_time_of(const host::Roots& roots, int pid);

}  // namespace stab::engine
