// The waiter that stamps the end of a trial. It sleeps in one poll() on the process and on timers, and reads
// the clock before it looks at what has happened. The deadline is a timerfd; output goes to memory files, so
// nothing has to be drained and a slow timer that looks at their size is enough. How late that timer is seen says how
// late the end may be seen: who stops the laboratory (Ctrl-Z) or starves it stops the waiter, and the program goes on.
#include "engine/trial/supervise.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

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

bool over_limit(const Watch& watch) {
  return std::any_of(watch.output_fds.begin(), watch.output_fds.end(), [&](int fd) {
    struct stat info;
    return ::fstat(fd, &info) == 0 && static_cast<uint64_t>(info.st_size) > watch.output_limit_bytes;
  });
}

// A machine that is busy comes to a timer some milliseconds late; to have missed a whole one is something else.
constexpr nanoseconds kMissed = kOutputTick;
// And of a long trial it is what nobody looks for.
constexpr int64_t kShareThatMatters = 1000;

}  // namespace

bool is_too_late(nanoseconds late, nanoseconds wall) { return late >= kMissed && late * kShareThatMatters >= wall; }

Result<Ending> wait_for_ending(const Watch& watch, const Clock& clock) {
  UniqueFd deadline, tick;
  if (watch.timeout > nanoseconds(0)) {
    STAB_TRY(deadline, timer(watch.timeout));
  }
  const bool limits_output = watch.output_limit_bytes > 0 && !watch.output_fds.empty();
  STAB_TRY(tick, timer(kOutputTick));
  nanoseconds armed = clock.monotonic_raw();
  std::optional<nanoseconds> latency;
  // poll() ignores entries of -1.
  std::array<pollfd, 4> waiting = {{{watch.pidfd, POLLIN, 0},
                                    {watch.cancel_fd, POLLIN, 0},
                                    {deadline.get(), POLLIN, 0},
                                    {tick.get(), POLLIN, 0}}};
  for (;;) {
    const int ready = ::poll(waiting.data(), waiting.size(), -1);
    const nanoseconds now = clock.monotonic_raw();
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return system_error("poll", errno);
    // The two clocks may disagree by microseconds in a tick, so a tick can seem early; armed anew, that doesn't add up.
    const nanoseconds late = std::max(now - armed - kOutputTick, nanoseconds(0));
    if (waiting[3].revents || late.count() > 0) latency = std::max(latency.value_or(nanoseconds(0)), late);
    if (waiting[0].revents) return Ending{store::TrialEvent::kExited, now, latency, late};
    if (waiting[1].revents) return Ending{store::TrialEvent::kCancel, now, latency, late};
    if (waiting[2].revents) return Ending{store::TrialEvent::kDeadline, now, latency, late};
    if (!waiting[3].revents) continue;
    if (limits_output && over_limit(watch)) return Ending{store::TrialEvent::kOverflow, now, latency, late};
    if (watch.now_and_then) watch.now_and_then();
    armed = now;
    STAB_CHECK_OK(arm(tick, kOutputTick));
  }
}

}  // namespace stab::engine
