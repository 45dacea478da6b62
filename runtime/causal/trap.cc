// Samples: a SIGTRAP in the thread itself after each period of its CPU time, judged and paid on the spot.
//
// The event (perf, software task-clock, sigtrap) is opened once, for this process; threads inherit it, each with a period of its
// own, other processes don't, and an exec takes it away. Its signal is synchronous and comes on the way back to user mode only,
// so no system call ends with EINTR. Where perf is refused each thread has a timer on its CPU clock, with the grain of the
// kernel's tick.
//
// A thread's first period is sampled by an event of its own (early_sample.h), its last one by where it began.
//
// What falls into a pause is no sample of the program. All signals are blocked in the handler: a handler of the program's that
// ran in it might jump out of it, in the middle of what it does to the area. A sample that falls due there comes right after it,
// marked as late, and stands for no time.
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <ucontext.h>

#include "runtime/arch/arch.h"
#include "runtime/causal/attach.h"
#include "runtime/causal/insides.h"
#include "runtime/causal/load.h"
#include "runtime/causal/moment.h"
#include "runtime/causal/real.h"
#include "runtime/causal/regions.h"
#include "runtime/causal/sampling_event.h"
#include "runtime/round_up.h"

namespace stab::causal {
namespace {

constexpr int kTrapPerf = 6;              // TRAP_PERF, which libc's headers of Debian 12 don't have
constexpr uint32_t kTrapAsync = 1;        // TRAP_PERF_FLAG_ASYNC
constexpr uint64_t kOurs = 0x5354'4142'4341'5553;  // sig_data, and what timers carry
constexpr uint64_t kTickNs = 10'000'000;  // no kernel's tick is longer
// Switches are read every so many traps: a system call.
constexpr uint32_t kTrapsPerLook = 16;

// As the kernel lays siginfo out; libc's type has no names for the last three.
struct TrapInfo {
  int signal, error, code, padding;
  uint64_t address;
  uint64_t data;
  uint32_t type, flags;
};

// Not yet closed, as the companion sees the program's CPU time a tick of the kernel's late.
bool is_over(Area& area) {
  Snapshot now;
  take_times(area, program.pid, now);
  return effective_ns(program.pauses, area.state.begin, now) >= look(area.state.live.until_ns);
}

// What is still owed when the window closes was not paused.
void pause_in_bulk(Area& area, uint64_t delay_ns, bool everybody) {
  const uint64_t window = look(area.state.live.open);
  const uint64_t bulk_ns = bulk_ns_of(area.script);
  if (self.owed_in != window) {
    self.owed_in = window;
    // A window begins somewhere in a bulk, or all would end owing half of one.
    self.owed_ns = drawn(window, bulk_ns);
  }
  self.owed_ns += delay_ns;
  if (self.owed_ns < bulk_ns || (everybody && is_over(area))) return;
  const uint64_t wanted_ns = self.owed_ns;
  self.owed_ns = 0;
  pause_in_window(wanted_ns, everybody);
}

// What the arm of the open window does with a sample in its region that stands for `weight_ns`.
void judge(Area& area, uint64_t weight_ns) {
  const Live& live = area.state.live;
  const uint64_t delay_ns = weight_ns * live.speedup_permille / 1000;
  if (delay_ns == 0) return;
  const Clock clock = clock_of(area);
  switch (live.kind) {
    case ArmKind::kSpeedup:
      raise_by(area.state.credited_ns, delay_ns);
      if (program.pauses == Pauses::kThread) {
        self.local += delay_ns;
        raise_to(area.state.global, self.local);
      } else {
        clock.credit(sched_getcpu(), delay_ns);
      }
      break;
    case ArmKind::kNull:
      // On one CPU nobody pays, so the pause is made here.
      if (program.pauses == Pauses::kCpuTime) {
        pause_in_bulk(area, delay_ns, true);
      } else {
        raise_by(area.state.credited_ns, delay_ns);
        clock.charge_everybody(delay_ns);
      }
      break;
    case ArmKind::kSlowdown:
      if (program.pauses == Pauses::kCpuTime)
        pause_in_bulk(area, delay_ns, false);
      else
        spin_for(delay_ns);
      break;
    case ArmKind::kBaseline:
    case ArmKind::kCount: break;
  }
}

void count(Area& area, const Place& place, bool by_caller, uint64_t weight_ns) {
  State& state = area.state;
  raise_by(state.samples, 1);
  if (by_caller) raise_by(state.samples_by_caller, 1);
  const bool wants_caller = (area.script.flags & kScriptCallers) != 0;
  if (wants_caller ? !place.in_scope : place.module == kNoModule) raise_by(state.samples_unattributed, 1);
  // kNoModule + 1 is 0, the number of "nowhere"; its address says nothing.
  if (!count_in(area.histogram, place.module == kNoModule ? kMaxModules : place.module, place.address)) {
    raise_by(state.samples_lost, 1);
    degrade(area, Degraded::kHistogramFull);
  }
  if (place.region == kNoRegion) return;
  raise_by(state.samples_in_ranges, 1);
  raise_by(state.region_samples[place.region], 1);
  raise_by(state.region_ns[place.region], weight_ns);
}

Sampled sampled_at(Area& area, uint64_t pc) {
  Sampled found{find_place(area, original_of(pc)), false, true};
  found.by_caller = !found.place.in_scope && (area.script.flags & kScriptCallers) != 0 && find_caller(pc, found.place);
  return found;
}

void stand_for(Area& area, const Sampled& sampled, uint64_t weight_ns) {
  count(area, sampled.place, sampled.by_caller, weight_ns);
  const Live& live = area.state.live;
  if (look(live.open) % 2 == 1) {
    if (sampled.place.region != kNoRegion && sampled.place.region == live.region) judge(area, weight_ns);
    add_insides(area, program.pid);
    pay();
  } else if (is_loaded(area.script)) {
    pay();
  }
}

void take_early_sample(Area& area, uint64_t pc) {
  const bool is_due = is_early_sample_due();
  end_early_sample();
  if (is_due && !self.spins && !self.last.is_there) self.early.found = sampled_at(area, pc);
}

void take_sample(Area& area, uint64_t pc, bool is_late) {
  if (self.spins) return raise_by(area.state.samples_spun, 1);
  const uint64_t cpu_ns = thread_cpu_ns();
  const uint64_t since_ns = cpu_ns - self.program_ns;
  const uint64_t own_ns = since_ns > self.spun_ns ? since_ns - self.spun_ns : 0;
  if (is_late && own_ns < area.script.period_ns / 2) return raise_by(area.state.samples_spun, 1);
  if (is_late) raise_by(area.state.samples_late, 1);
  // A timer's sample comes with a tick, after whatever time.
  const uint64_t weight_ns = program.by_timer ? (own_ns < kTickNs ? own_ns : kTickNs)
                                              : weight_of(since_ns, self.spun_ns, area.script.period_ns);
  self.program_ns = cpu_ns;
  self.spun_ns = 0;
  const Sampled here = sampled_at(area, pc);
  stand_for(area, self.early.found.is_there && !self.last.is_there ? self.early.found : here, weight_ns);
  self.last = here;
  if (++self.traps % kTrapsPerLook == 0) read_switches();
}

void obey(Area& area) {
  if (look(area.state.live.layouts_wanted) != look(area.state.layouts_asked)) ask_for_layout();
  if (const uint64_t order = waiting_order(area); order != 0) carry_out(area, order, program.pid);
}

// The rest of what the program's action says, which the kernel has done by ours. interrupted: the mask of what was interrupted. A
// handler that jumps out of here leaves its mask as it is.
void do_as_flagged(const struct sigaction& own, uint64_t interrupted) {
  if ((own.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) set_own_trap_action(action_of(SIG_DFL));
  const uint64_t trap = (own.sa_flags & SA_NODEFER) != 0 ? 0 : uint64_t{1} << (SIGTRAP - 1);
  const uint64_t mask = interrupted | word_of(own.sa_mask) | trap;
  sys::call(SYS_rt_sigprocmask, SIG_SETMASK, sys::word(&mask), 0, sizeof mask);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction own = own_trap_action();
  const uint64_t interrupted = word_of(static_cast<const ucontext_t*>(context)->uc_sigmask);
  const bool is_blocked = believes_trap_blocked(interrupted);
  // What the kernel makes of an instruction can be neither ignored nor blocked.
  const bool by_instruction = info->si_code > 0;
  if (is_blocked && !by_instruction) return keep_trap(*info);
  if (program.area != nullptr) raise_by(program.area->state.foreign_traps, 1);
  if (own.sa_handler == SIG_IGN && !by_instruction) return;
  if (own.sa_handler == SIG_DFL || own.sa_handler == SIG_IGN || is_blocked) {
    const struct sigaction fall = action_of(SIG_DFL);
    real_sigaction(SIGTRAP, &fall, nullptr);
    sys::call(SYS_tgkill, sys::getpid(), sys::gettid(), SIGTRAP);  // comes when this handler returns
    return;
  }
  do_as_flagged(own, interrupted);
  if ((own.sa_flags & SA_SIGINFO) != 0)
    own.sa_sigaction(signal, info, context);
  else
    own.sa_handler(signal);
}

void on_trap(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto& trap = *reinterpret_cast<const TrapInfo*>(info);
  const bool by_perf = trap.code == kTrapPerf && trap.data == kOurs;
  const bool by_timer = trap.code == SI_TIMER && trap.data == kOurs;
  const bool is_early = trap.code == kTrapPerf && trap.data == kEarlySignal;
  const auto pc = arch::interrupted_pc(context);
  if ((by_perf || by_timer || is_early) && !is_profiled()) {
    // Was on its way when the program went into its sandbox.
  } else if (is_early) {
    take_early_sample(*program.area, pc);
  } else if (by_perf || by_timer) {
    take_sample(*program.area, pc, by_perf && (trap.flags & kTrapAsync) != 0);
    obey(*program.area);
  } else {
    pass_on(signal, info, context);
  }
  errno = saved_errno;
}

int open_event(uint64_t period_ns) {
  perf_event_attr attr = sampling_event(period_ns, kOurs);
  attr.inherit = 1;
  attr.inherit_thread = 1;
  return sys::open_event(attr, 0, -1);
}

// Threads with inherited events look alike to the kernel, and where one makes way for another on a CPU it lets their events go on
// instead of stopping one and starting the other: what is then sampled after each period is the CPU, and not the thread. A
// program whose threads make way for each other about as often as samples come has these in step with it, and one line too few of
// them. A thread that has ever opened an event of its own is not like others.
void keep_own_period() {
  perf_event_attr attr = sys::event_attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  if (const int fd = sys::open_event(attr, 0, -1); fd >= 0) sys::close(fd);
}

}  // namespace

void take_signal() {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  memset(&action.sa_mask, 0xff, sizeof action.sa_mask);  // sigfillset leaves out those that libc uses
  real_sigaction(SIGTRAP, &action, &before);
  set_own_trap_action(before);
}

bool start_sampling() {
  Area& area = *program.area;
  if (const int fd = open_event(area.script.period_ns); fd >= 0) {
    program.event = out_of_the_way(fd);
    return true;
  }
  program.by_timer = true;
  degrade(area, Degraded::kCoarseSamples);
  start_thread_sampling();
  if (self.timer_made) return true;
  degrade(area, Degraded::kNoSamples);
  return false;
}

void stop_sampling() {
  stop_early_samples();
  if (program.event >= 0) sys::call(SYS_ioctl, program.event, PERF_EVENT_IOC_DISABLE, 0);
  end_thread_sampling();
}

void start_thread_sampling() {
  if (!program.by_timer) {
    if (program.event >= 0 && !begin_early_sample(program.area->script.period_ns)) keep_own_period();
    return;
  }
  sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGTRAP;
  event.sigev_value.sival_ptr = reinterpret_cast<void*>(kOurs);
  event._sigev_un._tid = sys::gettid();
  if (sys::call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, sys::word(&event), sys::word(&self.timer)) != 0) return;
  self.timer_made = true;
  const uint64_t period_ns = program.area->script.period_ns;
  const timespec period{static_cast<time_t>(period_ns / 1'000'000'000u), static_cast<long>(period_ns % 1'000'000'000u)};
  const itimerspec times{period, period};
  sys::call(SYS_timer_settime, self.timer, 0, sys::word(&times), 0);
}

// A thread of less than a period has an early sample as often as its time is of one; where it has more, its last sample is where
// the rest begins.
void take_rest() {
  if (program.by_timer || program.is_silent) return;
  end_early_sample();
  Area& area = *program.area;
  const uint64_t period_ns = area.script.period_ns;
  if (!self.last.is_there) {
    if (self.early.found.is_there) stand_for(area, self.early.found, period_ns);
    return;
  }
  if (!self.early.found.is_there) return;  // whole periods alone
  const uint64_t cpu_ns = thread_cpu_ns(), since_ns = cpu_ns - self.program_ns;
  const uint64_t rest_ns = since_ns > self.spun_ns ? since_ns - self.spun_ns : 0;
  if (drawn(cpu_ns, period_ns) < rest_ns) stand_for(area, self.last, period_ns);
}

void end_thread_sampling() {
  if (self.timer_made) sys::call(SYS_timer_delete, self.timer);
  self.timer_made = false;
}

// A frame of a signal with AVX-512 or AMX takes up to 11 KB, and there are stacks of 16 KiB. Handlers of the program's that want
// such a stack, in a thread for which it has none, run here as well, and would have had the thread's own. What is not used is no
// memory.
namespace {
constexpr size_t kRoomForHandlers = 256 * 1024;
size_t alternate_bytes() {
  return kRoomForHandlers + round_up(getauxval(AT_MINSIGSTKSZ), arch::kPage);
}
}  // namespace

void give_alternate_stack() {
  stack_t now{};
  if (sys::call(SYS_sigaltstack, 0, sys::word(&now)) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE;
  void* const room = sys::map(nullptr, alternate_bytes(), PROT_READ | PROT_WRITE, kFlags);
  if (!sys::is_address(room)) return degrade(*program.area, Degraded::kNoAlternateStack);
  self.alternate_stack = room;
  if (restore_alternate_stack()) return;
  self.alternate_stack = nullptr;
  sys::unmap(room, alternate_bytes());
}

bool restore_alternate_stack() {
  stack_t own{};
  own.ss_sp = self.alternate_stack;
  own.ss_size = alternate_bytes();
  return sys::call(SYS_sigaltstack, sys::word(&own), 0) == 0;
}

void free_alternate_stack() {
  if (self.alternate_stack == nullptr) return;
  stack_t now{};
  // Left alone where the program has put its own there meanwhile, or runs on ours.
  if (sys::call(SYS_sigaltstack, 0, sys::word(&now)) == 0 && now.ss_sp == self.alternate_stack) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (sys::call(SYS_sigaltstack, sys::word(&none), 0) != 0) return;
  }
  sys::unmap(self.alternate_stack, alternate_bytes());
  self.alternate_stack = nullptr;
}

}  // namespace stab::causal
