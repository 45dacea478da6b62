// What each class of interposed calls does while a window is open, in a process that is its own laboratory: it makes an area,
// runs itself again under libstabcausal with it, opens a window by hand and lets debts arise. No samples come (the period is
// 100 ms of CPU time), so whatever is paid was paid by the call.
//
//   calls LIBRARY
//
// Prints a line for each fault. Accounting is exact, times are only bounded from below: this holds on a loaded machine.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
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
  pthread_t thread;
  // While it waits somebody is credited with kDebtNs.
  const auto credit = [](void*) -> void* {
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
