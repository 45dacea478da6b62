// What each class of interposed calls does while a window is open, in a process that is its own laboratory: it makes an area,
// runs itself again under libstabcausal with it, opens a window by hand and lets debts arise. No samples come (the period is
// 100 ms of CPU time), so whatever is paid was paid by the call.
//
//   calls LIBRARY
//
// Prints a line for each fault. Accounting is exact. Times are bounded from below, and from above only by a credit of 15 s, which
// nobody may sleep for: this holds on a loaded machine.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "runtime/causal/causal_abi.h"

using namespace stab::causal;

namespace {

Area* area = nullptr;
int faults = 0;
constexpr uint64_t kDebtNs = 3'000'000;
// A thread that is to do something meanwhile may be late by as much.
constexpr uint64_t kLongWaitNs = 200'000'000;

void expect(bool holds, const char* call, const char* what) {
  if (holds) return;
  ++faults;
  printf("FAIL: %s: %s\n", call, what);
}

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t spun() { return __atomic_load_n(&area->state.spun_counted_ns, __ATOMIC_SEQ_CST); }
void raise_global() { __atomic_fetch_add(&area->state.global, kDebtNs, __ATOMIC_SEQ_CST); }
void forgive() {
  for (uint32_t cpu = 0; cpu < area->state.cpu_limit; ++cpu) area->cpus[cpu].lost = area->state.global;
}

// A thread that is moved to a CPU where nobody ran owes nothing there: that CPU was idle (rule R3 of clock.h). So it stays.
class Stays {
 public:
  Stays() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
  }
  ~Stays() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

template <typename Call>
void pays_first(const char* name, Call call) {
  const Stays stays;
  forgive();
  pthread_kill(pthread_self(), 0);  // owes nothing, and occupies this CPU from now on
  raise_global();
  const uint64_t before = spun();
  call();
  expect(spun() - before >= kDebtNs, name, "did not pay before it might wake somebody");
}

// Blocked while the debt arises, then woken by a thread of ours, which pays nothing itself here as it has no debt of its own.
template <typename Call>
void owes_nothing_after(const char* name, Call call) {
  forgive();
  const uint64_t before = spun();
  call();
  expect(spun() - before < kDebtNs / 2, name, "paid although it was woken by one who had");
}

template <typename Call>
void sleeps_longer(const char* name, Call call) {
  forgive();
  area->state.live.open += 2;  // what it slept too long before is another window's
  pthread_t thread;
  // While it waits somebody is credited with kDebtNs.
  const auto credit = [](void*) -> void* {
    // From then on main waits: what was credited before is not for it.
    const uint64_t end = now_ns() + 2'000'000'000;
    while (__atomic_load_n(&area->state.runnable, __ATOMIC_SEQ_CST) > 1 && now_ns() < end) sched_yield();
    timespec soon = {0, 2'000'000};
    while (nanosleep(&soon, &soon) != 0) {}
    raise_global();
    forgive();
    return nullptr;
  };
  pthread_create(&thread, nullptr, credit, nullptr);
  const uint64_t begun = now_ns();
  call();
  const uint64_t took = now_ns() - begun;
  pthread_join(thread, nullptr);
  expect(took >= kLongWaitNs + kDebtNs - 200'000, name, "did not wait for as long as the others were credited meanwhile");
}

// The same, but whoever wakes it is ours, and nobody sleeps for what was credited meanwhile, which is long.
constexpr uint64_t kLongCreditNs = 15'000'000'000;
void credit_soon() {
  timespec soon = {0, 20'000'000};
  while (nanosleep(&soon, &soon) != 0) {}
  __atomic_fetch_add(&area->state.global, kLongCreditNs, __ATOMIC_SEQ_CST);
  forgive();
}
enum class Wakes { kByWriting, kByReading, kWhileItReads, kBySignal };
int wakes_fd = -1;
Wakes wakes_how = Wakes::kByWriting;
pthread_t main_thread;
template <typename Call>
void sleeps_no_longer(const char* name, int fd, Call call) {
  forgive();
  wakes_fd = fd;
  main_thread = pthread_self();
  pthread_t thread;
  const auto credit_and_wake = [](void*) -> void* {
    credit_soon();
    const uint64_t one = 1;
    static char room[1 << 22];
    switch (wakes_how) {
      case Wakes::kByWriting:
        if (write(wakes_fd, &one, sizeof one) != sizeof one) abort();
        break;
      case Wakes::kByReading:
        while (recv(wakes_fd, room, sizeof room, MSG_DONTWAIT) > 0) {}
        break;
      // Has made room long before it returns: there is never so much.
      case Wakes::kWhileItReads:
        if (recv(wakes_fd, room, sizeof room, MSG_WAITALL) < 0) abort();
        break;
      case Wakes::kBySignal: pthread_kill(main_thread, SIGUSR1); break;
    }
    return nullptr;
  };
  pthread_create(&thread, nullptr, credit_and_wake, nullptr);
  const uint64_t begun = now_ns();
  const bool woken = call() == 1;
  const uint64_t took = now_ns() - begun;
  pthread_join(thread, nullptr);
  expect(woken, name, "was not woken");
  expect(took < kLongCreditNs, name, "waited for what the others were credited, although one of ours woke it");
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t barrier;
sem_t semaphore;
volatile bool flag = false;

// A thread of ours that does `wake` 20 ms later, while global has grown by kDebtNs without that it had a debt.
template <typename Wake>
pthread_t wake_later(Wake) {
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void*) -> void* {
    timespec soon = {0, 20'000'000};
    while (nanosleep(&soon, &soon) != 0) {}
    raise_global();
    forgive();
    Wake{}();
    return nullptr;
  }, nullptr);
  return thread;
}

void empty(int fd) {
  char room[64];
  if (read(fd, room, sizeof room) <= 0) abort();
}

// What says that something can be read was woken by whoever wrote it; a timer is the world.
void wait_for_readiness() {
  int pipe_ends[2], sockets[2];
  if (pipe(pipe_ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) abort();
  const int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
  // Registered by what is no descriptor, as libraries do; another descriptor was there before.
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.ptr = &sockets;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &wanted) != 0 ||
      epoll_ctl(epoll, EPOLL_CTL_DEL, pipe_ends[0], nullptr) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[0], &wanted) != 0)
    abort();
  wanted.data.ptr = &wanted;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &wanted) != 0) abort();
  pollfd readable = {pipe_ends[0], POLLIN, 0};
  epoll_event event{};
  const auto set_of = [&] {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe_ends[0], &set);
    return set;
  };
  sleeps_no_longer("poll", pipe_ends[1], [&] { return poll(&readable, 1, -1); });
  empty(pipe_ends[0]);
  sleeps_no_longer("ppoll", pipe_ends[1], [&] { return ppoll(&readable, 1, nullptr, nullptr); });
  empty(pipe_ends[0]);
  sleeps_no_longer("select", pipe_ends[1], [&] {
    fd_set set = set_of();
    return select(pipe_ends[0] + 1, &set, nullptr, nullptr, nullptr);
  });
  empty(pipe_ends[0]);
  sleeps_no_longer("pselect", pipe_ends[1], [&] {
    fd_set set = set_of();
    return pselect(pipe_ends[0] + 1, &set, nullptr, nullptr, nullptr, nullptr);
  });
  empty(pipe_ends[0]);
  sleeps_no_longer("epoll_wait", sockets[1], [&] { return epoll_wait(epoll, &event, 1, -1); });
  empty(sockets[0]);
  sleeps_no_longer("epoll_pwait", sockets[1], [&] { return epoll_pwait(epoll, &event, 1, -1, nullptr); });
  empty(sockets[0]);
  sleeps_no_longer("epoll_pwait2", sockets[1], [&] { return epoll_pwait2(epoll, &event, 1, nullptr, nullptr); });
  empty(sockets[0]);
  // Full, until one of ours reads: the other end's room is what is waited for.
  char much[4096] = {};
  while (send(sockets[0], much, sizeof much, MSG_DONTWAIT) > 0) {}
  pollfd writable = {sockets[0], POLLOUT, 0};
  wakes_how = Wakes::kByReading;
  sleeps_no_longer("poll, for room", sockets[1], [&] { return poll(&writable, 1, -1); });
  while (send(sockets[0], much, sizeof much, MSG_DONTWAIT) > 0) {}
  sleeps_no_longer("send, for room", sockets[1], [&] { return send(sockets[0], much, sizeof much, 0) == sizeof much; });
  wakes_how = Wakes::kWhileItReads;
  while (send(sockets[0], much, sizeof much, MSG_DONTWAIT) > 0) {}
  sleeps_no_longer("poll, for room that is being made", sockets[1], [&] {
    const int found = poll(&writable, 1, -1);
    shutdown(sockets[0], SHUT_WR);
    return found;
  });
  wakes_how = Wakes::kByWriting;
  const itimerspec once = {{}, {0, kLongWaitNs}};
  sleeps_longer("epoll_wait, by a timer", [&] {
    if (timerfd_settime(timer, 0, &once, nullptr) != 0) abort();
    epoll_wait(epoll, &event, 1, -1);
  });
}

// Stopped while it sleeps, it comes back long after the time that it asked for. It has not waited for the world since then, so
// what the others were credited with meanwhile, which is less, is none of its business.
void is_late_from_a_sleep() {
  constexpr time_t kStoppedSeconds = 5;
  constexpr uint64_t kCreditNs = 4'500'000'000;
  forgive();
  area->state.live.open += 2;
  const pid_t sleeper = getpid();
  const pid_t child = fork();
  if (child == 0) {
    timespec soon = {0, 50'000'000}, stopped = {kStoppedSeconds, 0};
    while (nanosleep(&soon, &soon) != 0) {}
    kill(sleeper, SIGSTOP);
    __atomic_fetch_add(&area->state.global, kCreditNs, __ATOMIC_SEQ_CST);
    forgive();
    syscall(SYS_nanosleep, &stopped, nullptr);
    kill(sleeper, SIGCONT);
    _exit(0);
  }
  const timespec time = {0, kLongWaitNs};
  const uint64_t begun = now_ns();
  const int left = nanosleep(&time, nullptr);
  const uint64_t took = now_ns() - begun;
  if (waitpid(child, nullptr, 0) != child) abort();
  constexpr uint64_t kStoppedNs = uint64_t{kStoppedSeconds} * 1'000'000'000;
  expect(left == 0 && took >= kStoppedNs, "nanosleep", "was not stopped in its sleep");
  expect(took < kStoppedNs + kCreditNs, "nanosleep", "slept off what the others were credited with while it only was late");
}

// A write that finds no room until somebody reads who is none of ours: by a system call that nobody stands before.
void waits_for_a_strange_reader() {
  static int ends[2];
  if (pipe(ends) != 0) abort();
  static char much[1 << 16];
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], much, sizeof much) > 0) {}
  fcntl(ends[1], F_SETFL, 0);
  sleeps_longer("write, that finds no room", [] {
    pthread_t reader;
    pthread_create(&reader, nullptr, [](void*) -> void* {
      timespec late = {0, kLongWaitNs};
      while (nanosleep(&late, &late) != 0) {}
      static char room[1 << 20];
      if (syscall(SYS_read, ends[0], room, sizeof room) <= 0) abort();
      return nullptr;
    }, nullptr);
    if (write(ends[1], "x", 1) != 1) abort();
    pthread_join(reader, nullptr);
  });
}

// Signals and children are ours or the world's.
void wait_for_signals_and_children() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  int came = 0;
  wakes_how = Wakes::kBySignal;
  sleeps_no_longer("sigwait", -1, [&] { return sigwait(&set, &came) == 0; });
  wakes_how = Wakes::kByWriting;
  sleeps_longer("sigwait, by a timer", [&] {
    timer_t timer;
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    const itimerspec once = {{}, {0, kLongWaitNs}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &once, nullptr) != 0) abort();
    sigwait(&set, &came);
    timer_delete(timer);
  });
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  const auto child_of = [] {
    const pid_t child = fork();
    if (child != 0) return child;
    credit_soon();
    _exit(0);
  };
  const auto takes_no_longer = [&](const char* name, auto wait_for) {
    forgive();
    const pid_t child = child_of();
    const uint64_t begun = now_ns();
    expect(wait_for(child), name, "did not wait for the child");
    expect(now_ns() - begun < kLongCreditNs, name, "waited for what its child was credited");
  };
  takes_no_longer("waitpid", [](pid_t child) { return waitpid(child, nullptr, 0) == child; });
  takes_no_longer("waitid", [](pid_t child) {
    siginfo_t info;
    return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) == 0 && info.si_pid == child;
  });
}

// It computes in the kernel, and waits for nobody, when the credit comes.
void finds_what_it_wants() {
  constexpr size_t kBytes = 64 << 20;  // populated, as a page fault may wait for the other thread
  void* const room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  const int zeros = open("/dev/zero", O_RDONLY);
  if (room == MAP_FAILED || zeros < 0) abort();
  forgive();
  const uint64_t before = area->state.global;
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void*) -> void* {
    timespec soon = {0, 10'000'000};
    while (nanosleep(&soon, &soon) != 0) {}
    __atomic_fetch_add(&area->state.global, kLongCreditNs, __ATOMIC_SEQ_CST);
    forgive();
    return nullptr;
  }, nullptr);
  const uint64_t begun = now_ns();
  while (__atomic_load_n(&area->state.global, __ATOMIC_SEQ_CST) == before)
    if (read(zeros, room, kBytes) <= 0) abort();
  const uint64_t took = now_ns() - begun;
  pthread_join(thread, nullptr);
  munmap(room, kBytes);
  close(zeros);
  expect(took < kLongCreditNs, "read", "waited for what the others were credited, although it had not to wait");
}

// Nor was its CPU idle meanwhile: it pays as one that computes.
void pays_for_what_it_computed_in_the_kernel() {
  constexpr size_t kBytes = 64 << 20;
  void* const room = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  static int zeros;
  zeros = open("/dev/zero", O_RDONLY);
  if (room == MAP_FAILED || zeros < 0) abort();
  const Stays stays;
  static int here;
  here = sched_getcpu();
  // Where the credit comes between two reads it is missed.
  bool paid = false;
  for (int i = 0; i < 20 && !paid; ++i) {
    static volatile bool is_elsewhere, is_expected, is_over;
    is_elsewhere = false;
    is_expected = false;
    is_over = false;
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* {
      for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        cpu_set_t elsewhere;
        CPU_ZERO(&elsewhere);
        CPU_SET(cpu, &elsewhere);
        if (cpu != here && sched_setaffinity(0, sizeof elsewhere, &elsewhere) == 0) break;
      }
      timespec soon = {0, 1'000'000};
      while (nanosleep(&soon, &soon) != 0) {}  // occupies that CPU from now on
      is_elsewhere = true;
      while (!is_expected) {}
      const uint64_t end = now_ns() + 1'000'000;
      while (now_ns() < end) {}
      raise_global();  // once: who looks for it has noted what was there before
      while (!is_over) {}  // and pays nothing meanwhile
      return nullptr;
    }, nullptr);
    while (!is_elsewhere) sched_yield();
    forgive();
    const uint64_t spun_before = spun(), before = area->state.global;
    is_expected = true;
    while (__atomic_load_n(&area->state.global, __ATOMIC_SEQ_CST) == before)
      if (read(zeros, room, kBytes) <= 0) abort();
    paid = spun() - spun_before >= kDebtNs;
    is_over = true;
    pthread_join(thread, nullptr);
  }
  munmap(room, kBytes);
  close(zeros);
  expect(paid, "read", "owed nothing after it had computed in the kernel, as if its CPU had been idle");
}

// A time-out of the program's own may jump out of whatever goes on: a wait that so has no end, a read, a pause.
sigjmp_buf again;
template <typename Call>
bool jumps_out_of(Call call) {
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(again, 1); };
  sigaction(SIGALRM, &action, nullptr);
  if (sigsetjmp(again, 1) != 0) return true;
  const itimerval soon = {{0, 0}, {0, 50'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  call();
  return false;
}

void leaves_by_jumps() {
  static int ends[2];
  if (pipe(ends) != 0) abort();
  forgive();
  const int before = area->state.runnable;
  const bool left_sleep = jumps_out_of([] {
    timespec long_time = {60, 0};
    nanosleep(&long_time, nullptr);
  });
  expect(left_sleep && area->state.runnable == before, "nanosleep", "waits still, after a handler has jumped out of it");
  const bool left_read = jumps_out_of([] {
    char one;
    if (read(ends[0], &one, 1) < 0) abort();
  });
  uint64_t going_on = 0;
  for (const LastWrite& cell : area->last_writes) going_on += cell.going_on;
  expect(left_read && area->state.runnable == before && going_on == 0, "read", "goes on, after a handler has jumped out of it");
  const Stays stays;  // to another CPU it would owe nothing
  const bool left_pause = jumps_out_of([] {
    __atomic_fetch_add(&area->state.global, kLongCreditNs, __ATOMIC_SEQ_CST);
    sem_post(&semaphore);
  });
  forgive();
  expect(left_pause, "sem_post", "was not left in its pause");
  pays_first("sem_post, after a pause that was left", [] { sem_post(&semaphore); });
  while (sem_trywait(&semaphore) == 0) {}
}

int check() {
  area->state.live.claimed = area->state.live.ordered = 1;
  area->state.live.kind = ArmKind::kSpeedup;
  area->state.live.open = 1;  // a window
  sem_init(&semaphore, 0, 0);
  pthread_barrier_init(&barrier, nullptr, 2);
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return 2;
  const int counter = eventfd(0, 0);
  mtx_t plain;
  mtx_init(&plain, mtx_plain);
  cnd_t plain_condition;
  cnd_init(&plain_condition);

  pthread_mutex_lock(&mutex);
  pays_first("pthread_mutex_unlock", [] { pthread_mutex_unlock(&mutex); });
  pthread_rwlock_rdlock(&rwlock);
  pays_first("pthread_rwlock_unlock", [] { pthread_rwlock_unlock(&rwlock); });
  pays_first("pthread_cond_signal", [] { pthread_cond_signal(&condition); });
  pays_first("pthread_cond_broadcast", [] { pthread_cond_broadcast(&condition); });
  pays_first("sem_post", [] { sem_post(&semaphore); });
  pays_first("sem_wait", [] { sem_wait(&semaphore); });
  mtx_lock(&plain);
  pays_first("mtx_unlock", [&] { mtx_unlock(&plain); });
  pays_first("cnd_signal", [&] { cnd_signal(&plain_condition); });
  pays_first("write", [&] { if (write(pipe_ends[1], "x", 1) != 1) abort(); });
  pays_first("eventfd_write", [&] { eventfd_write(counter, 1); });
  pays_first("pthread_kill", [] { pthread_kill(pthread_self(), 0); });
  pays_first("pthread_create", [] {
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
    pthread_join(thread, nullptr);
  });

  // An uncontended lock costs no accounting, whatever is owed.
  forgive();
  raise_global();
  const uint64_t before = spun();
  pthread_mutex_lock(&mutex);
  expect(spun() == before, "pthread_mutex_lock", "paid although it had not to wait");
  forgive();
  pthread_mutex_unlock(&mutex);

  owes_nothing_after("sem_wait", [] {
    const pthread_t thread = wake_later([] { sem_post(&semaphore); });
    sem_wait(&semaphore);
    pthread_join(thread, nullptr);
  });
  owes_nothing_after("pthread_barrier_wait", [] {
    const pthread_t thread = wake_later([] { pthread_barrier_wait(&barrier); });
    pthread_barrier_wait(&barrier);
    pthread_join(thread, nullptr);
  });
  owes_nothing_after("pthread_cond_wait", [] {
    flag = false;
    pthread_mutex_lock(&mutex);
    const pthread_t thread = wake_later([] {
      pthread_mutex_lock(&mutex);
      flag = true;
      pthread_cond_signal(&condition);
      pthread_mutex_unlock(&mutex);
    });
    while (!flag) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, nullptr);
  });
  owes_nothing_after("flockfile", [] {
    static sem_t locked;
    sem_init(&locked, 0, 0);
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* {
      flockfile(stderr);
      sem_post(&locked);
      timespec soon = {0, 20'000'000};
      while (nanosleep(&soon, &soon) != 0) {}
      raise_global();
      forgive();
      funlockfile(stderr);
      return nullptr;
    }, nullptr);
    sem_wait(&locked);
    flockfile(stderr);
    funlockfile(stderr);
    pthread_join(thread, nullptr);
  });
  owes_nothing_after("pthread_join", [] { pthread_join(wake_later([] {}), nullptr); });

  constexpr timespec kTime = {0, kLongWaitNs};
  sleeps_longer("nanosleep", [&] { nanosleep(&kTime, nullptr); });
  sleeps_longer("usleep", [] { usleep(kLongWaitNs / 1000); });
  sleeps_longer("poll", [] { poll(nullptr, 0, kLongWaitNs / 1'000'000); });
  sleeps_longer("sem_timedwait, timed out", [] {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += kLongWaitNs;
    if (until.tv_nsec >= 1'000'000'000) until.tv_nsec -= 1'000'000'000, ++until.tv_sec;
    while (sem_timedwait(&semaphore, &until) != 0 && errno == EINTR) {}
  });

  wait_for_readiness();
  finds_what_it_wants();
  pays_for_what_it_computed_in_the_kernel();
  is_late_from_a_sleep();
  waits_for_a_strange_reader();
  wait_for_signals_and_children();
  leaves_by_jumps();

  const uint64_t open = area->state.live.open;
  area->state.live.open = open + 1;  // no window: nothing is paid, whatever is owed
  forgive();
  raise_global();
  const uint64_t closed = spun();
  sem_post(&semaphore);
  expect(spun() == closed, "sem_post", "paid while no window was open");
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "again") == 0) {
    area = static_cast<Area*>(mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[2]), 0));
    if (area == MAP_FAILED || area->state.attached != 1) {
      puts("FAIL: nobody attached");
      return 1;
    }
    const int status = check();
    if (status == 0) puts("PASS");
    return status;
  }
  if (argc != 2) return 2;
  const int fd = memfd_create("causal", 0);
  if (fd < 0 || ftruncate(fd, sizeof(Area)) != 0) return 2;
  area = static_cast<Area*>(mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  area->script.version = kCausalVersion;
  area->script.header_bytes = sizeof(Area);
  area->script.period_ns = 100'000'000;
  area->script.window_ns = 1'000'000'000;
  area->script.pauses = Pauses::kSpin;
  memcpy(area->script.magic, kAreaMagic, sizeof kAreaMagic);
  char setting[kCausalSettingLength + 1];
  // The library closes the descriptor that it is given.
  encode_causal_setting(("/proc/self/fd/" + std::to_string(dup(fd))).c_str(), setting);
  setenv(kCausalSettingName, setting, 1);
  setenv("LD_PRELOAD", argv[1], 1);
  execl("/proc/self/exe", argv[0], "again", std::to_string(fd).c_str(), nullptr);
  return 2;
}
