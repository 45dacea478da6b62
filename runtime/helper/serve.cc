// The helper's life: handshake, first image, then one step an epoch until the program ends.
//
// It sleeps on a futex in the control block, with the next epoch as its deadline. Two things wake it early: the
// program, which asks for its dose report in a late exit handler and waits for it; and a watcher thread of the
// helper's own, which blocks on the program's pidfd, so that the report of a program that was killed or called
// _exit is written at once, too. Exec leaves the process alive and takes the address space away: each epoch looks.
#include <poll.h>
#include <sys/resource.h>

#include "runtime/helper/orders.h"
#include "runtime/helper/session.h"
#include "runtime/helper/socket.h"
#include "runtime/helper/thread.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// Without epochs the helper still looks now and then whether an exec took the address space away.
constexpr uint64_t kIdleNs = 100'000'000;

struct Watched {
  int pidfd;
  uint32_t* request;
  uint32_t is_dead;  // what the watcher says; the request, which it is woken by, others may overwrite
  uint32_t is_heard;
};
Watched watched;

// Ends with the helper. Never touches anything but the request and its own words.
[[noreturn]] void watch_program() {
  pollfd waited{watched.pidfd, POLLIN, 0};
  while (sys::call(SYS_ppoll, sys::word(&waited), 1, 0, 0, 8) <= 0) {
  }
  __atomic_store_n(&watched.is_dead, 1u, __ATOMIC_RELEASE);
  do {
    __atomic_store_n(watched.request, kRequestDead, __ATOMIC_RELEASE);
    sys::futex_wake(watched.request);
    const timespec rest{0, 10'000'000};
    sys::call(SYS_nanosleep, sys::word(&rest), 0);
  } while (__atomic_load_n(&watched.is_heard, __ATOMIC_ACQUIRE) == 0);
  for (;;) sys::call(SYS_exit, 0);
}

bool is_program_dead() { return __atomic_load_n(&watched.is_dead, __ATOMIC_ACQUIRE) != 0; }

void fill_use(Session& session) {
  rusage usage{};
  sys::call(SYS_getrusage, RUSAGE_SELF, sys::word(&usage));
  session.use.cpu_ns = sys::process_cpu_ns();
  session.use.minor_faults = static_cast<uint64_t>(usage.ru_minflt);
  session.use.major_faults = static_cast<uint64_t>(usage.ru_majflt);
  session.use.launched = session.task.launched;
  session.use.loops = session.looks.leads_loops ? &session.looks.loops : nullptr;
  const bool follows = session.followed.is_there && (session.images.program.moves || session.followed.matches() ||
                                                     session.followed.is_about_libraries());
  session.use.script = follows ? &session.followed.script() : nullptr;
  session.use.placed_in_libraries = session.followed.placed_in_libraries();
  session.use.matched = session.images.program.scratch.match.count > 0 ? session.images.program.scratch.order_count : 0;
  session.use.counts_cpu = session.clock.counts_cpu();
  static MovedFile moved_files[code::kMaxLibraries];
  session.use.moved_files = moved_files;
  session.use.moved_file_count = tell_libraries(session, moved_files);
}

// Known at the end alone, as a library with pads may come at any time.
bool lacks_pads(const Session& session) {
  const StackDose& stack = session.control->stack;
  return abi::draws_pads(session.hello.settings.stack) && session.hello.of_host == 0 && stack.slots + stack.library_slots == 0;
}

// Once: the descriptor is closed, which tells a reader of a pipe that the report is complete.
void write_dose(Session& session, End end) {
  if (session.task.report < 0) return;
  count_executed(session);
  fill_use(session);
  // One epoch in ten that lasts too long is the noise of a machine with other things to do, and so are a few.
  if (session.use.ticks_late > 10 && session.use.ticks_late * 10 > session.use.ticks)
    degrade(*session.control, Degradation::kLateTicks);
  if (lacks_pads(session)) degrade(*session.control, Degradation::kNoPads);
  static char text[kReportBytes];
  static progress::Counts counts;
  session.samples.take(session.family, session.images);
  const bool counts_entries = session.images.program.moves && session.followed.is_there;
  const bool counted = session.board != nullptr || counts_entries;
  if (session.board != nullptr) progress::read_board(*session.board, counts);
  if (counts_entries) add_entries(session.followed.script(), *session.control, counts);
  const size_t bytes =
      write_report(session.hello.settings, *session.control, session.use, end, text, counted ? &counts : nullptr);
  record_epoch(session, kEpochEnd);
  sys::write_over(session.task.report, text, bytes);
  // The program waits for its report, not for what only the laboratory reads, later than it may fit into the pipe.
  __atomic_store_n(&session.control->report_state, kReportWritten, __ATOMIC_RELEASE);
  sys::futex_wake(&session.control->report_state);
  session.layouts.log.write_to(session.task.report);
  session.samples.write_to(session.task.report, session.images.program.code, session.use.text_hash);
  session.samples.end();
  sys::close(session.task.report);
  session.task.report = -1;
}

// The time has come, or is past: returns how many epochs have ended, and sets when the next one ends. Those that were missed are
// not made up for, but counted. By the time of day the next one is whole, as layouts that last a moment would be no epochs; by
// CPU time it ends where it would have ended, so that an epoch is the same part of the program's work whatever was missed.
// pre: due_ns <= now
uint64_t end_epochs(Session& session, uint64_t now, uint64_t& due_ns) {
  const uint64_t period_ns = has_epochs(session) ? session.hello.settings.epoch_ns : kIdleNs;
  const uint64_t passed = (now - due_ns) / period_ns + 1;
  session.layouts.passed += static_cast<uint32_t>(passed);
  due_ns = passed == 1 || session.clock.counts_cpu() ? due_ns + passed * period_ns : now + period_ns;
  return passed;
}

// Forked children of a program that has ended still run in the images.
void serve_kin(Session& session, uint64_t due_ns) {
  // As often the helper looks whether they are gone; epochs last what they did.
  const uint64_t epoch_ns = session.hello.settings.epoch_ns;
  const uint64_t period_ns = has_epochs(session) && epoch_ns < kIdleNs ? epoch_ns : kIdleNs;
  uint32_t unsettled = 0;
  while (any_kin(session)) {
    // A fork whose child died before it could settle it stays pending for ever; nobody is left to move then.
    const bool somebody = __atomic_load_n(&session.control->forks_pending, __ATOMIC_ACQUIRE) == 0;
    unsettled = somebody ? 0 : unsettled + 1;
    if (unsettled * period_ns > 2'000'000'000u) return;
    const timespec rest{static_cast<time_t>(period_ns / 1'000'000'000u), static_cast<long>(period_ns % 1'000'000'000u)};
    sys::call(SYS_nanosleep, sys::word(&rest), 0);
    const uint64_t now = session.clock.now_ns(session.control->kin);
    if (!has_epochs(session) || now < due_ns) continue;
    end_epochs(session, now, due_ns);
    advance_unless_paused(session);
  }
}

bool tells_progress(const Session& session) { return session.task.report >= 0 && session.layouts.log.is_on(); }

// When there is something to do before a request comes: at the latest an epoch, samples that nobody has taken, or the next word
// of what the program has done.
uint64_t next_wake_ns(const Session& session, uint64_t due_ns) {
  if (!session.has_clock) return 0;  // no time would come: when there is a request, or the program ends
  if (tells_progress(session) && session.layouts.log.tells_at_ns() < due_ns) due_ns = session.layouts.log.tells_at_ns();
  if (!session.samples.is_on()) return due_ns;
  const uint64_t soon_ns = sys::monotonic_ns() + SampledFunctions::kTakeEveryNs;
  return soon_ns < due_ns ? soon_ns : due_ns;
}

void run_epochs(Session& session) {
  Control& control = *session.control;
  const bool epochs = has_epochs(session) && session.has_clock;
  if (has_epochs(session) && !session.has_clock) degrade(control, Degradation::kNoClock);
  const uint64_t period_ns = epochs ? session.hello.settings.epoch_ns : kIdleNs;
  const auto now_ns = [&] { return session.clock.now_ns(control.kin); };
  uint64_t due_ns = now_ns() + period_ns;
  uint64_t looks_alive_ns = sys::monotonic_ns() + period_ns;
  bool reported = false;
  for (;;) {
    const uint32_t request = __atomic_load_n(&control.request, __ATOMIC_ACQUIRE);
    if (is_program_dead()) break;
    if (request == kRequestOrders) {
      uint32_t expected = kRequestOrders;
      __atomic_compare_exchange_n(&control.request, &expected, kRequestNone, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      if (obey_orders(session)) due_ns = now_ns() + period_ns;
      continue;
    }
    if (request == kRequestReport && !reported) {
      obey_orders(session);  // one may have been overwritten by this request
      write_dose(session, End::kExit);
      reported = true;
    }
    sys::futex_wait(&control.request, request, next_wake_ns(session, session.clock.look_at_ns(due_ns, period_ns)));
    const uint64_t monotonic_ns = sys::monotonic_ns(), now = now_ns();
    if (tells_progress(session) && monotonic_ns >= session.layouts.log.tells_at_ns())
      session.layouts.log.tell_progress(session.task.report);
    // A program that sleeps has no epochs, and may still be another one by now.
    if (now < due_ns && monotonic_ns < looks_alive_ns) {
      session.samples.take(session.family, session.images);
      continue;
    }
    // Without /proc the watcher alone sees an end.
    const Process& program = session.family.program;
    if (program.memory >= 0 && !is_alive(program, session.hello.control_address)) {
      write_dose(session, is_ending(program) ? End::kDied : End::kExec);
      break;
    }
    looks_alive_ns = monotonic_ns + period_ns;
    if (now < due_ns) continue;
    const uint64_t passed = end_epochs(session, now, due_ns);
    if (!epochs) continue;
    session.use.ticks_late += passed - 1;
    if (reported) continue;
    ++session.use.ticks;
    advance_unless_paused(session);
  }
  __atomic_store_n(&watched.is_heard, 1u, __ATOMIC_RELEASE);
  // Dies: the watcher may have been faster than the exit handler's request.
  write_dose(session, End::kDied);
  serve_kin(session, due_ns);
}

// Epochs that are matched are of the program's CPU time; others of the time of day.
void begin_clock(Session& session) {
  if (!has_epochs(session) || !session.followed.matches()) return;
  if (!session.clock.count_cpu(session.family)) degrade(*session.control, Degradation::kWallEpochs);
}

}  // namespace

int serve(const Task& task) {
  // Large, and zero until used: not on the stack of a program's clone.
  static Session session;
  session.task = task;
  if (!shake_hands(session)) {
    if (task.report < 0) return 1;
    static char text[512];
    sys::write_full(task.report, text, write_no_hello(text));
    return 1;
  }
  begin_clock(session);
  build_first(session);
  send_ready(session);
  watched = {session.family.pidfd, &session.control->request, 0, 0};
  start_thread(watch_program);
  run_epochs(session);
  return 0;
}

}  // namespace stab::helper
