// The waiter that stamps the end of a trial. It sleeps in one poll() on the process and on timers, and reads
// the clock before it looks at what has happened. The deadline is a timerfd; output goes to memory files, so
// nothing has to be drained and a slow timer that looks at their size is enough. How late that timer is seen says how
// late the end may be seen: who stops the laboratory (Ctrl-Z) or starves it stops the waiter, and the program goes on.
#include "stabd/engine/separation/supervise.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A process writes at most some GB/s: a quarter of a second bounds what a flood can take. On a virtual machine
// whose wake-ups take 100 us of the housekeeping CPU four looks a second leave the daemon below 0.1 % of it, and ten did not.
constexpr milliseconds kOutputTick{250};

Status arm(const UniqueFd& timer, nanoseconds after) {
  const timespec time{static_cast<time_t>(after.count() / 1'000'000'000), static_cast<long>(after.count() % 1'000'000'000)};
  const itimerspec setting{{}, time};
  if (::timerfd_settime(timer.get(), 0, &setting, nullptr) != 0) return system_error("timerfd_settime", errno);
  return {};
}

Result<UniqueFd> timer(nanoseconds after) {
  UniqueFd fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!fd) return system_error("timerfd_create", errno);
  STAB_CHECK_OK(arm(fd, after));
  return fd;
}

bool limits_output(const Watch& watch) { return watch.output_limit_bytes > 0 && !watch.output_fds.empty(); }

bool over_limit(const Watch& watch) {
  return limits_output(watch) && std::any_of(watch.output_fds.begin(), watch.output_fds.end(), [&](int fd) {
    struct stat info;
    return ::fstat(fd, &info) == 0 && static_cast<uint64_t>(info.st_size) > watch.output_limit_bytes;
  });
}

// Of all its threads; also of a process that has ended and is not waited for. The clock's number is that of
// clock_getcpuclockid(3).
nanoseconds cpu_time_of(pid_t pid) {
  timespec used{};
  if (::clock_gettime(static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2), &used) != 0) return nanoseconds(0);
  return nanoseconds_of(used);
}

// What is looked at four times a second. Nothing: it may go on.
std::optional<store::TrialEvent> look_at(const Watch& watch) {
  if (over_limit(watch)) return store::TrialEvent::kOverflow;
  if (watch.cpu_timeout > nanoseconds(0) && cpu_time_of(watch.pid) > watch.cpu_timeout) return store::TrialEvent::kDeadline;
  if (watch.now_and_then) watch.now_and_then();
  return {};
}

// A machine that is busy comes to a timer some milliseconds late; to have missed a whole one is something else.
constexpr nanoseconds kMissed = kOutputTick;
// And of a long trial it is what nobody looks for.
constexpr int64_t kShareThatMatters = 1000;

}  // namespace

bool is_too_late(nanoseconds late, nanoseconds wall) { return late >= kMissed && late * kShareThatMatters >= wall; }

Result<Ending> wait_for_ending(const Watch& watch, const Clock& clock) {
  Ending ending;
  STAB_CHECK_OK(wait_for_endings({&watch, 1}, clock, [&](size_t, const Ending& seen) {
    ending = seen;
    return true;
  }));
  return ending;
}

Status wait_for_endings(std::span<const Watch> watches, const Clock& clock,
                        const std::function<bool(size_t, const Ending&)>& ended) {
  const size_t count = watches.size();
  // poll() ignores entries of -1, and what has ended becomes one: the processes, their deadlines, then one for all: cancel, tick.
  std::vector<pollfd> waiting(2 * count + 2, pollfd{-1, POLLIN, 0});
  std::vector<UniqueFd> deadlines(count);
  for (size_t i = 0; i < count; ++i) {
    const Watch& watch = watches[i];
    waiting[i].fd = watch.pidfd;
    if (watch.timeout > nanoseconds(0)) {
      STAB_TRY(deadlines[i], timer(watch.timeout));
      waiting[count + i].fd = deadlines[i].get();
    }
  }
  pollfd &cancel = waiting[2 * count], &tick = waiting[2 * count + 1];
  cancel.fd = watches.empty() ? -1 : watches.front().cancel_fd;
  const nanoseconds here = clock.monotonic_raw();
  nanoseconds armed = !watches.empty() && watches.front().began.count() > 0 ? watches.front().began : here;
  STAB_TRY(const UniqueFd tick_timer, timer(std::max(armed + kOutputTick - here, nanoseconds(1))));
  tick.fd = tick_timer.get();
  std::optional<nanoseconds> latency;
  for (size_t left = count; left > 0;) {
    const int ready = ::poll(waiting.data(), waiting.size(), -1);
    const nanoseconds now = clock.monotonic_raw();
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return system_error("poll", errno);
    // The two clocks may disagree by microseconds in a tick, so a tick can seem early; armed anew, that doesn't add up.
    const nanoseconds late = std::max(now - armed - kOutputTick, nanoseconds(0));
    const bool looks = tick.revents != 0;
    if (looks || late.count() > 0) latency = std::max(latency.value_or(nanoseconds(0)), late);
    for (size_t i = 0; i < count; ++i) {
      if (waiting[i].fd < 0) continue;
      std::optional<store::TrialEvent> event;
      if (waiting[i].revents) event = store::TrialEvent::kExited;
      else if (cancel.revents) event = store::TrialEvent::kCancel;
      else if (waiting[count + i].revents) event = store::TrialEvent::kDeadline;
      else if (looks) event = look_at(watches[i]);
      if (!event) continue;
      waiting[i].fd = waiting[count + i].fd = -1;
      --left;
      if (!ended(i, {*event, now, latency, late})) return {};
    }
    if (!looks) continue;
    armed = now;
    STAB_CHECK_OK(arm(tick_timer, kOutputTick));
  }
  return {};
}

}  // namespace stab::engine
