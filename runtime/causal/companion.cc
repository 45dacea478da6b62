// stab-causal: beside a measured program, opens and closes the windows of a causal script and writes what they gave.
//
//   stab-causal AREA [--cpu N]
//
// Started by the laboratory before the program, as the program's user. It looks at no memory but the area's, and needs no right:
// CPU clocks of processes are anyone's to read. Ends when all processes of the area have ended, or when nobody came.
//
// The program can write to all of the area at any time. So the script is copied before it is looked at, and whatever is an index
// here is counted here.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/causal/area.h"
#include "runtime/causal/companion_sandbox.h"
#include "runtime/causal/insides.h"
#include "runtime/causal/load.h"
#include "runtime/causal/moment.h"
#include "runtime/causal/regions.h"
#include "runtime/causal/windows.h"

namespace stab::causal {
namespace {

constexpr uint64_t kMs = 1'000'000;
// A forked child, or the first process, is seen within this.
constexpr uint64_t kLongestNap = 20 * kMs;
constexpr uint64_t kShortestNap = kMs / 5;
// How often counters of points with a latency are looked at.
constexpr uint64_t kInsideNap = kMs;
// Where the program has no CPU a window by CPU time could last for ever.
constexpr uint64_t kMostStretched = 20;
// A program that can't run for so long waits for the world.
constexpr uint64_t kUndecidedFor = 100 * kMs;
constexpr uint32_t kNoArm = ~0u;

uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// How long the CPUs of the program had nothing to do. What they did for whom is charged by the kernel's tick, a whole one to
// whoever it meets; idle time is what it counts exactly, printed in hundredths of a second.
class Cpus {
 public:
  struct Reading {
    uint64_t at_ns = 0;  // CLOCK_MONOTONIC
    uint64_t idle_ns = 0;
    uint64_t own_ns = 0;  // CPU time of this process, where it works on these CPUs only
    uint32_t cpus = 0;
  };

  // From now on, those that `pid` may run on.
  void follow(int pid) {
    CPU_ZERO(&set_);
    known_ = sys::call(SYS_sched_getaffinity, pid, sizeof set_, sys::word(&set_)) > 0;
    cpu_set_t own, both;
    CPU_ZERO(&own);
    beside_ = sys::call(SYS_sched_getaffinity, 0, sizeof own, sys::word(&own)) > 0;
    CPU_AND(&both, &own, &set_);
    beside_ = beside_ && CPU_EQUAL(&both, &own);
  }
  // False: the kernel doesn't say.
  bool read(Reading& out) const {
    if (!known_) return false;
    static char text[64 * 1024];
    out = {};
    const long bytes = sys::read_small(AT_FDCWD, "/proc/stat", text, sizeof text);
    out.at_ns = sys::monotonic_ns();
    if (bytes <= 0) return false;
    if (beside_) out.own_ns = sys::process_cpu_ns();
    for (const char* line = strstr(text, "\ncpu"); line != nullptr; line = strstr(line + 1, "\ncpu")) {
      unsigned cpu = 0;
      unsigned long long user, nice, system, idle, io;
      if (sscanf(line, "\ncpu%u %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system, &idle, &io) != 6 || cpu >= CPU_SETSIZE ||
          !CPU_ISSET(cpu, &set_))
        continue;
      out.idle_ns += (idle + io) * 10 * kMs;
      ++out.cpus;
    }
    return out.cpus > 0;
  }
  // What they worked from one reading to a later one, for whomever but this process. Off by up to 10 ms a CPU, so below 0 at
  // times.
  static int64_t busy_ns(const Reading& from, const Reading& to) {
    return static_cast<int64_t>((to.at_ns - from.at_ns) * to.cpus) - static_cast<int64_t>(to.idle_ns - from.idle_ns) -
           static_cast<int64_t>(to.own_ns - from.own_ns);
  }

 private:
  cpu_set_t set_;
  bool known_ = false, beside_ = false;
};

// The processes of the area, by descriptors that tell when they end.
class Family {
 public:
  explicit Family(Area& area) : area_(area) {
    for (pollfd& fd : fds_) fd = {-1, POLLIN, 0};
  }

  // Sleeps so long, less where one ends or (seen late) one comes.
  void sleep(uint64_t ns) {
    find_new();
    const timespec time{static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
    // Not more of them than there are: more than the limit of open files is refused.
    if (ppoll(fds_, used_, &time, nullptr) <= 0) return;
    for (uint32_t i = 0; i < used_; ++i)
      if (fds_[i].fd >= 0 && fds_[i].revents != 0) end(i);
  }

  bool is_alive() {
    find_new();
    for (const pollfd& fd : fds_)
      if (fd.fd >= 0) return true;
    return false;
  }

 private:
  void find_new() {
    for (uint32_t i = 0; i < kMaxProcesses; ++i) {
      // First whether it runs: then the pid is its own, and not that of one that had the place before.
      const uint32_t how = __atomic_load_n(&area_.processes[i].ended, __ATOMIC_ACQUIRE);
      const auto pid = static_cast<int>(__atomic_load_n(&area_.processes[i].pid, __ATOMIC_ACQUIRE));
      if (pid == 0 || fds_[i].fd >= 0 || (how != kProcessRuns && how != kProcessExecutes)) continue;
      fds_[i].fd = sys::pidfd_open(pid);
      if (fds_[i].fd < 0) end(i);
      else if (i >= used_) used_ = i + 1;
    }
  }

  void end(uint32_t i) {
    Process& process = area_.processes[i];
    cpu_of_family(area_, -1);  // while it is a zombie its clock can be read
    // What it had on its account, it has no more.
    const int runnable = process.runnable;
    if (runnable != 0) count_threads(area_, process, -runnable);
    if (fds_[i].fd >= 0) sys::close(fds_[i].fd);
    fds_[i].fd = -1;
    __atomic_store_n(&process.ended, kProcessEnded, __ATOMIC_RELEASE);  // and others may have its place
  }

  Area& area_;
  pollfd fds_[kMaxProcesses];
  uint32_t used_ = 0;  // the first that have ever been
};

class Companion {
 public:
  // `script`: a copy, whose numbers are within the area's tables.
  Companion(Area& area, const Script& script) : area_(area), script_(script), family_(area) {}

  void run() {
    if (!wait_for_program()) return finish(kNobodyCame);
    take_beginning(area_, -1, kNoRegion, begin_);
    memset(begin_.visits, 0, sizeof begin_.visits);  // what was visited before this look is of the run, too
    cpus_.follow(static_cast<int>(area_.processes[0].pid));
    if (is_loaded(script())) wait_for_arrivals();
    while (family_.is_alive() && arms_used_ < script().arm_count) try_arm();
    while (family_.is_alive()) {
      family_.sleep(kLongestNap);
      // One that is killed and waited for at once has no clock any more when its end is seen.
      cpu_of_family(area_, -1);
    }
    write_whole();
    finish(kFinished);
  }

 private:
  const Script& script() const { return script_; }
  Live& live() { return area_.state.live; }

  bool wait_for_program() {
    const uint64_t until = sys::monotonic_ns() + script().attach_patience_ns;
    uint32_t& attached = area_.state.attached;
    while (__atomic_load_n(&attached, __ATOMIC_ACQUIRE) == 0) {
      if (sys::monotonic_ns() >= until) return false;
      sys::futex_wait(&attached, 0, least(until, sys::monotonic_ns() + kLongestNap));
    }
    return true;
  }

  // Windows of a load begin when tasks have come for as long as a window takes: the queues are no longer as empty as they began.
  void wait_for_arrivals() {
    const auto has_arrived = [&] { return __atomic_load_n(&area_.state.arriving, __ATOMIC_ACQUIRE) != 0; };
    while (family_.is_alive() && !has_arrived()) family_.sleep(kLongestNap);
    const uint64_t until = sys::monotonic_ns() + script().window_ns;
    for (uint64_t now = sys::monotonic_ns(); now < until && family_.is_alive(); now = sys::monotonic_ns())
      family_.sleep(least(until - now, kLongestNap));
    if (!has_arrived()) degrade(area_, Degraded::kNoArrivals);
  }

  void try_arm() {
    const uint32_t arm = arms_used_++;
    __atomic_store_n(&area_.state.arms_used, arms_used_, __ATOMIC_RELAXED);
    const uint64_t cpu_ns = cpu_of_family(area_, -1);
    running_.look_at(area_, cpu_ns);
    if (area_.arms[arm].kind != ArmKind::kBaseline &&
        !running_.is_running(area_.arms[arm].region, cpu_ns, script().skip_look_ns))
      return write_skipped(arm);
    WindowRecord* const record = next_record();
    if (record == nullptr) return;
    Cpus::Reading before, after;
    const bool known = cpus_.read(before);
    open(arm);
    const bool whole = wait_in_window(*record);
    close();
    const bool still_known = cpus_.read(after) && known && after.cpus == before.cpus;
    write_record(area_, arm, area_.state.begin, area_.state.end, *record);
    if (!whole) record->flags |= kWindowCut;
    if (busiest(area_.state.begin, area_.state.end) < script().least_visits) record->flags |= kWindowFewVisits;
    if (still_known) {
      record->foreign_ns = Cpus::busy_ns(before, after) - static_cast<int64_t>(record->cpu_ns);
    } else {
      record->flags |= kWindowForeignUnknown;
      degrade(area_, Degraded::kNoContention);
    }
    publish();
    cool_off();
  }

  // Until the window's length is over, longer while too little has happened. False: the program ended in it.
  bool wait_in_window(WindowRecord& record) {
    const Pauses pauses = area_.state.pauses;
    const Snapshot& from = area_.state.begin;
    const ArmKind kind = live().kind;
    const uint64_t times = script().most_prolonged < 1 ? 1 : script().most_prolonged;
    const uint64_t most_wall_ns = script().window_ns * kMostStretched * times;
    const uint64_t once_ns =
        wanted_ns(script(), kind, live().speedup_permille, from.region_ns, effective_ns(pauses, begin_, from));
    uint64_t until_ns = once_ns, samples_before = from.samples;
    Snapshot now;
    for (;;) {
      __atomic_store_n(&live().until_ns, until_ns, __ATOMIC_RELAXED);
      if (!family_.is_alive()) return false;
      take(area_, -1, live().region, now);
      running_.look_at(area_, now.cpu_ns);
      const uint64_t length = length_ns(kind, pauses, from, now);
      const bool has_latency = has_ends(area_);
      // While samples come they add; nobody computes where none does.
      if (has_latency && now.samples == samples_before) add_insides(area_, -1);
      samples_before = now.samples;
      if (length >= until_ns || now.at_ns - from.at_ns >= most_wall_ns) {
        const bool may_go_on = until_ns < once_ns * script().most_prolonged && now.at_ns - from.at_ns < most_wall_ns;
        if (busiest(from, now) >= script().least_visits || !may_go_on) return true;
        record.flags |= kWindowProlonged;
        until_ns += once_ns;
        continue;
      }
      const uint64_t rest = until_ns - length;
      const uint64_t nap = least(rest, has_latency ? kInsideNap : kLongestNap);
      family_.sleep(nap < kShortestNap ? kShortestNap : nap);
    }
  }

  void open(uint32_t arm) {
    Live& now = live();
    now.kind = area_.arms[arm].kind;
    now.region = area_.arms[arm].region;
    now.speedup_permille = area_.arms[arm].speedup_permille;
    __atomic_store_n(&now.until_ns, ~uint64_t{0}, __ATOMIC_RELAXED);
    give_order();
  }
  void close() { give_order(); }

  // Returns when it has been carried out, by a trap or, where none comes, here.
  void give_order() {
    const uint64_t order = live().ordered + 1;
    __atomic_store_n(&live().ordered, order, __ATOMIC_RELEASE);
    const uint64_t begun = sys::monotonic_ns();
    // While a thread pauses no trap comes.
    const bool may_pause = order % 2 == 0 && live().kind != ArmKind::kBaseline && live().kind != ArmKind::kSpeedup;
    constexpr uint64_t kLostAfter = 1000 * kMs;
    const uint64_t patience =
        least(3 * script().period_ns + 2 * kMs + (may_pause ? 2 * bulk_ns_of(script()) : 0), kLostAfter / 2);
    while (__atomic_load_n(&live().done, __ATOMIC_ACQUIRE) != order) {
      const uint64_t waited = sys::monotonic_ns() - begun;
      const bool is_time = waited >= patience && (!is_undecided(order) || waited >= patience + kUndecidedFor);
      if (is_time || !family_.is_alive()) carry_out(area_, order, -1);
      // Who had begun to has died in the middle of it.
      if (waited >= kLostAfter) {
        take(area_, -1, live().region, order % 2 == 1 ? area_.state.begin : area_.state.end);
        __atomic_store_n(&live().open, order, __ATOMIC_RELEASE);
        __atomic_store_n(&live().done, order, __ATOMIC_RELEASE);
      }
      if (__atomic_load_n(&live().done, __ATOMIC_ACQUIRE) != order) family_.sleep(kShortestNap);
    }
  }

  // At the end of a window by CPU time: nobody can run, and whether that is a wait for the world shows only when it ends. A
  // program that waits for its CPU, right after one of its own has woken it, would have all of that wait in its window.
  bool is_undecided(uint64_t order) const {
    return order % 2 == 0 && area_.state.pauses == Pauses::kCpuTime && look(area_.state.idle_since_ns) != 0;
  }

  void cool_off() {
    if ((script().flags & kScriptLayouts) != 0) order_layout();
    const uint64_t until = sys::monotonic_ns() + script().cooloff_ns;
    for (uint64_t now = sys::monotonic_ns(); now < until && family_.is_alive(); now = sys::monotonic_ns())
      family_.sleep(least(until - now, kLongestNap));
  }

  // Returns when the program has asked its helper, so that the next window begins in the new layout; it is there within the
  // cool-off. One that has no CPU meanwhile is not waited for for ever.
  void order_layout() {
    constexpr uint64_t kPatience = 500 * kMs;
    raise_by(live().layouts_wanted, 1);
    const uint64_t until = sys::monotonic_ns() + kPatience;
    while (look(area_.state.layouts_asked) != look(live().layouts_wanted) && sys::monotonic_ns() < until && family_.is_alive())
      family_.sleep(kShortestNap);
  }

  WindowRecord* next_record() {
    if (windows_used_ >= kMaxWindows - 1) return nullptr;  // the last is the whole run's
    WindowRecord& record = area_.windows[windows_used_];
    record.number = windows_used_;
    record.flags = 0;
    return &record;
  }
  void publish() {
    write_points(area_);
    __atomic_store_n(&area_.state.windows_used, ++windows_used_, __ATOMIC_RELEASE);
  }

  void write_skipped(uint32_t arm) {
    WindowRecord* const record = next_record();
    if (record == nullptr) return;
    record->arm = arm;
    record->kind = area_.arms[arm].kind;
    record->region = area_.arms[arm].region;
    record->speedup_permille = area_.arms[arm].speedup_permille;
    record->flags = kWindowSkipped;
    record->start_ns = record->end_ns = sys::monotonic_ns();
    publish();
  }

  void write_whole() {
    Snapshot to;
    take(area_, -1, kNoRegion, to);
    WindowRecord& record = area_.windows[windows_used_];
    record.number = windows_used_;
    write_record(area_, kNoArm, begin_, to, record);
    record.kind = ArmKind::kBaseline;
    record.flags = kWindowWhole;
    area_.state.cpu_ns = to.cpu_ns;
    area_.state.end_ns = to.at_ns;
    area_.state.run_ns = to.at_ns - area_.state.first_attach_ns;
    publish();
    // libc blocks signals for moments, too: that is no reason to say anything.
    constexpr uint64_t kOneIn = 100;
    if (look(area_.state.samples_late) > look(area_.state.samples) / kOneIn) degrade(area_, Degraded::kLateTraps);
    const uint64_t sampled_ns = (look(area_.state.samples) + look(area_.state.samples_spun)) * script().period_ns;
    const bool is_coarse = (area_.state.degradations >> static_cast<unsigned>(Degraded::kCoarseSamples) & 1) != 0;
    if (!is_coarse && to.cpu_ns > 100 * kMs && sampled_ns < to.cpu_ns / 10 * 9) degrade(area_, Degraded::kKernelNotSampled);
    if (!loaded_everything()) degrade(area_, Degraded::kUnknownRegions);
  }

  bool loaded_everything() const {
    for (uint32_t i = 0; i < script().range_count; ++i) {
      const uint32_t module = area_.ranges[i].module;
      if (module >= kMaxModules || (area_.modules[module].flags & kModuleSeen) == 0) return false;
    }
    return true;
  }

  void finish(uint32_t how) {
    __atomic_store_n(&area_.state.finished, how, __ATOMIC_RELEASE);
    sys::futex_wake(&area_.state.finished);
  }

  Area& area_;
  const Script script_;
  Snapshot begin_;                             // of the run
  uint32_t arms_used_ = 0, windows_used_ = 0;  // what the area says is for those who read it
  Family family_;
  Cpus cpus_;
  RunningRegions running_;
};

int refuse(const char* path, const char* why) {
  fprintf(stderr, "stab-causal: '%s': %s\n", path, why);
  return 2;
}

void stay_on(long cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  sys::call(SYS_sched_setaffinity, 0, sizeof set, sys::word(&set));
}

}  // namespace
}  // namespace stab::causal

int main(int argc, char** argv) {
  using namespace stab::causal;
  long cpu = -1;
  char* end = nullptr;
  if (argc == 4 && strcmp(argv[2], "--cpu") == 0) cpu = strtol(argv[3], &end, 10);
  if ((argc != 2 && argc != 4) || (argc == 4 && (end == nullptr || *end != 0 || cpu < 0 || cpu >= CPU_SETSIZE))) {
    fputs("usage: stab-causal AREA [--cpu N]; started by the engine, not by people\n", stderr);
    return 2;
  }
  if (cpu >= 0) stay_on(cpu);
  const char* fault = nullptr;
  Area* const area = map_area(argv[1], fault);
  if (area == nullptr) return refuse(argv[1], fault);
  const auto own_pid = static_cast<uint32_t>(stab::sys::getpid());
  if ((fault = confine()) != nullptr) return refuse(argv[1], fault);
  area->state.companion_pid = own_pid;
  const Script script = area->script;
  if ((fault = fault_of(script, *area)) != nullptr) {
    __atomic_store_n(&area->state.finished, kBadScript, __ATOMIC_RELEASE);
    return refuse(argv[1], fault);
  }
  static Companion companion(*area, script);
  companion.run();
  return 0;
}
