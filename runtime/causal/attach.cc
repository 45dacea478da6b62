// Before main: the area, this process's place in it, the event. And what a fork has to do again.
//
// Nothing here makes the program fail. What can't be had is said in the area; where there is no area, on one line of stderr, and
// the laboratory sees that nobody came.
#include "runtime/causal/attach.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/causal/load.h"
#include "runtime/causal/moment.h"
#include "runtime/causal/real.h"
#include "runtime/causal/regions.h"
#include "runtime/progress/points.h"

namespace stab::causal {

void find_all_real();   // interposed.cc
void follow_threads();

namespace {

// The path in STAB_CAUSAL=, without what fills it up. nullptr: another version, or no setting.
const char* path_in(const char* setting) {
  if (strlen(setting) != kCausalSettingLength) return nullptr;
  if (setting[0] != '0' + kCausalVersion / 10 || setting[1] != '0' + kCausalVersion % 10 || setting[2] != ',') return nullptr;
  const char* path = setting + 3;
  while (path[0] == '/' && path[1] == '/') ++path;
  return path;
}

// A number of this process's own in the table, that of one that has ended where no other is left. nullptr: it is full.
Process* take_place(Area& area) {
  for (Process& process : area.processes) {
    uint32_t free = 0;
    if (__atomic_load_n(&process.pid, __ATOMIC_RELAXED) != 0) continue;
    if (__atomic_compare_exchange_n(&process.pid, &free, static_cast<uint32_t>(program.pid), false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return &process;
  }
  for (Process& process : area.processes) {
    uint32_t ended = kProcessEnded;
    if (!__atomic_compare_exchange_n(&process.ended, &ended, kProcessComes, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    process.before_ns = look(process.cpu_ns);
    process.runnable = 0;
    __atomic_store_n(&process.pid, static_cast<uint32_t>(program.pid), __ATOMIC_RELAXED);
    __atomic_store_n(&process.ended, kProcessRuns, __ATOMIC_RELEASE);
    return &process;
  }
  degrade(area, Degraded::kProcessesFull);
  return nullptr;
}

// What a process finds that takes another's program's place by exec is its own entry: its CPU time goes on.
Process* find_place_of_exec(Area& area) {
  for (Process& process : area.processes)
    if (__atomic_load_n(&process.pid, __ATOMIC_RELAXED) == static_cast<uint32_t>(program.pid) &&
        (process.ended == kProcessRuns || process.ended == kProcessExecutes))
      return &process;
  return nullptr;
}

void decide_pauses(Area& area) {
  State& state = area.state;
  cpu_set_t set;
  CPU_ZERO(&set);
  const long bytes = sys::call(SYS_sched_getaffinity, 0, sizeof set, sys::word(&set));
  uint32_t cpus = 0, limit = 0;
  for (uint32_t cpu = 0; bytes > 0 && cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) ++cpus, limit = cpu + 1;
  state.cpus = cpus;
  state.cpu_limit = limit < kMaxCpus ? limit : kMaxCpus;
  // A load is real time: what is asked of it is how long tasks are inside.
  const Pauses wanted = is_loaded(area.script) ? Pauses::kSpin : area.script.pauses;
  state.pauses = wanted != Pauses::kAuto ? wanted : cpus == 1 ? Pauses::kCpuTime : Pauses::kSpin;
}

void refuse(const char* path, const char* why) {
  char line[400];
  const int bytes = snprintf(line, sizeof line, "stab: no causal profile: '%s': %s\n", path, why);
  if (bytes <= 0) return;
  const auto wanted = static_cast<size_t>(bytes);
  sys::write_full(2, line, wanted < sizeof line ? wanted : sizeof line - 1);
}

void join(Area& area) {
  program.pid = sys::getpid();
  Process* const before = find_place_of_exec(area);
  Process* const place = before != nullptr ? before : take_place(area);
  if (place == nullptr) {
    program.area = nullptr;
    return;
  }
  // After an exec the threads of the program before are gone, whatever they did.
  if (before != nullptr) {
    __atomic_fetch_sub(&area.state.runnable, place->runnable, __ATOMIC_SEQ_CST);
    place->runnable = 0;
    __atomic_store_n(&place->ended, kProcessRuns, __ATOMIC_RELEASE);
  }
  program.process = place;
  count_threads(area, *place, 1);
}

void before_fork() {
  if (is_profiled() && must_pay()) pay();
}

}  // namespace

// What of its thread is the program's goes on; what is an account of ours begins anew.
void begin_child() {
  if (!is_profiled()) return;
  Area& area = *program.area;
  Thread child = kNewThread;
  child.alternate_stack = self.alternate_stack;
  child.blocks_trap = self.blocks_trap;
  child.mask_with_trap = self.mask_with_trap;
  self = child;
  if (program.event >= 0) sys::close(program.event);  // its parent's
  program.event = -1;
  forget_early_samples();
  forget_trap_change();
  forget_module_change();
  progress::leave_row_to_parent();
  program.pid = sys::getpid();
  Process* const place = take_place(area);
  if (place == nullptr) {
    program.area = nullptr;
    return;
  }
  program.process = place;
  count_threads(area, *place, 1);
  arrive();
  start_sampling();
  __atomic_fetch_add(&area.state.attached, 1u, __ATOMIC_SEQ_CST);
  sys::futex_wake(&area.state.attached);
}

namespace {

// Whoever traces this process gets its SIGTRAPs first, and a debugger keeps them.
bool is_traced() {
  char text[2048];
  const int fd = sys::open("/proc/self/status", O_RDONLY);
  if (fd < 0) return false;
  const long bytes = sys::read(fd, text, sizeof text - 1);
  sys::close(fd);
  if (bytes <= 0) return false;
  text[bytes] = 0;
  constexpr char kTracer[] = "\nTracerPid:\t";
  const char* const at = strstr(text, kTracer);
  return at != nullptr && at[sizeof kTracer - 1] != '0';
}

// A descriptor is this process's alone: what it executes must not look for it, and its own descriptors get the numbers that they
// would have had.
void forget_descriptor(const char* path) {
  constexpr char kOwn[] = "/proc/self/fd/";
  if (strncmp(path, kOwn, sizeof kOwn - 1) != 0) return;
  sys::close(atoi(path + sizeof kOwn - 1));
  char* at = const_cast<char*>(path);
  for (; at[1] != 0; ++at) *at = '/';
  *at = '-';
}

void attach(uint64_t begun_ns) {
  const char* const setting = getenv(kCausalSettingName);
  if (setting == nullptr || getauxval(AT_SECURE) != 0) return;
  const char* const path = path_in(setting);
  if (path == nullptr) return refuse(setting, "STAB_CAUSAL is not of this version");
  if (strcmp(path, "/-") == 0) return;
  const char* fault = nullptr;
  Area* const area = map_area(path, fault);
  if (area != nullptr) fault = fault_of(*area);
  if (fault != nullptr) return refuse(path, fault);
  const bool is_first = look(area->state.first_attach_ns) == 0;
  if (is_first) {
    decide_pauses(*area);
    raise_to(area->state.modules_used, area->script.module_count);
    area->state.first_attach_ns = begun_ns;
  }
  forget_descriptor(path);
  program.area = area;
  join(*area);
  if (program.area == nullptr) return;
  program.pauses = area->state.pauses;
  list_modules(*area);
  meet_program();
  if (is_loaded(area->script)) watch_load();
  if ((area->script.flags & kScriptCallers) != 0) load_unwinder();
  give_alternate_stack();
  take_signal();
  follow_threads();
  pthread_atfork(before_fork, nullptr, begin_child);
  arrive();
  if (is_traced()) {
    degrade(*area, Degraded::kTraced);
  } else {
    unblock_trap(false);
    start_sampling();
  }
  if (is_first) area->state.start_ns = sys::monotonic_ns() - begun_ns;
  __atomic_fetch_add(&area->state.attached, 1u, __ATOMIC_SEQ_CST);
  sys::futex_wake(&area->state.attached);
}

__attribute__((constructor(101))) void begin() {
  const int saved_errno = errno;
  const uint64_t begun_ns = sys::monotonic_ns();
  find_all_real();  // of what isn't profiled, too: its calls come to us all the same
  attach(begun_ns);
  errno = saved_errno;
}

__attribute__((destructor(101))) void end() {
  if (!is_profiled()) return;
  list_modules(*program.area);
  end_process();
}

}  // namespace
}  // namespace stab::causal
