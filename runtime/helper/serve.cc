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
  session.use.script = session.followed.is_there && session.images.moves ? &session.followed.script : nullptr;
}

// Once: the descriptor is closed, which tells a reader of a pipe that the report is complete.
void write_dose(Session& session, End end) {
  if (session.task.report < 0) return;
  count_executed(session);
  fill_use(session);
  // One epoch in ten that lasts too long is the noise of a machine with other things to do, and so are a few.
  if (session.use.ticks_late > 10 && session.use.ticks_late * 10 > session.use.ticks)
    degrade(*session.control, Degradation::kLateTicks);
  static char text[kReportBytes];
  static progress::Counts counts;
  session.samples.take(session.family, session.images);
  const bool counts_entries = session.images.moves && session.followed.is_there;
  const bool counted = session.board != nullptr || counts_entries;
  if (session.board != nullptr) progress::read_board(*session.board, counts);
  if (counts_entries) add_entries(session.followed.script, *session.control, counts);
  const size_t bytes =
      write_report(session.hello.settings, *session.control, session.use, end, text, counted ? &counts : nullptr);
  record_epoch(session, kEpochEnd);
  sys::write_over(session.task.report, text, bytes);
  // The program waits for its report, not for what only the laboratory reads, later than it may fit into the pipe.
  __atomic_store_n(&session.control->report_state, kReportWritten, __ATOMIC_RELEASE);
  sys::futex_wake(&session.control->report_state);
  session.layouts.log.write_to(session.task.report);
  session.samples.write_to(session.task.report, session.images.code, session.use.text_hash);
  session.samples.end();
  sys::close(session.task.report);
  session.task.report = -1;
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
    const uint64_t now = sys::monotonic_ns();
    if (!has_epochs(session) || now < due_ns) continue;
    advance_unless_paused(session);
    due_ns = now + epoch_ns;
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
  uint64_t due_ns = sys::monotonic_ns() + period_ns;
  bool reported = false;
  for (;;) {
    const uint32_t request = __atomic_load_n(&control.request, __ATOMIC_ACQUIRE);
    if (is_program_dead()) break;
    if (request == kRequestOrders) {
      uint32_t expected = kRequestOrders;
      __atomic_compare_exchange_n(&control.request, &expected, kRequestNone, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      if (obey_orders(session)) due_ns = sys::monotonic_ns() + period_ns;
      continue;
    }
    if (request == kRequestReport && !reported) {
      obey_orders(session);  // one may have been overwritten by this request
      write_dose(session, End::kExit);
      reported = true;
    }
    sys::futex_wait(&control.request, request, next_wake_ns(session, due_ns));
    const uint64_t now = sys::monotonic_ns();
    if (tells_progress(session) && now >= session.layouts.log.tells_at_ns())
      session.layouts.log.tell_progress(session.task.report);
    if (now < due_ns) {
      session.samples.take(session.family, session.images);
      continue;
    }
    if (!is_alive(session.family.program, session.hello.control_address)) {
      write_dose(session, is_ending(session.family.program) ? End::kDied : End::kExec);
      break;
    }
    if (epochs && !reported) {
      ++session.use.ticks;
      advance_unless_paused(session);
    }
    due_ns += period_ns;
    if (due_ns > now) continue;
    // Epochs that were missed are not made up for: layouts that last a moment would be no epochs.
    if (epochs) session.use.ticks_late += (now - due_ns) / period_ns + 1;
    due_ns = now + period_ns;
  }
  __atomic_store_n(&watched.is_heard, 1u, __ATOMIC_RELEASE);
  // Dies: the watcher may have been faster than the exit handler's request.
  write_dose(session, End::kDied);
  serve_kin(session, due_ns);
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
  build_first(session);
  send_ready(session);
  watched = {session.family.pidfd, &session.control->request, 0, 0};
  start_thread(watch_program);
  run_epochs(session);
  return 0;
}

}  // namespace stab::helper
