// What is said over them: launcher/launch_block.h.
#include "stabd/host/launcher_pipes.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/host/launcher/launch_block.h"

namespace stab::host {
namespace {

using launch::LaunchReport;

// A launcher that is not ready by then hangs in a system call (a frozen cgroup, a dead network directory).
constexpr int kReadyMs = 10'000;

Error launcher_error(const LaunchReport& report) {
  const char* step =
      report.step < static_cast<uint32_t>(launch::Step::kCount) ? launch::kStepWords[report.step] : "unknown step";
  if (report.step == static_cast<uint32_t>(launch::Step::kSameFile))
    return Error{ErrorCode::kCorrupt, "it has changed since the experiment began", {}};
  if (report.error_number != 0) return system_error(std::string("launcher: ") + step, report.error_number);
  return Error{ErrorCode::kDenied, std::string("launcher: ") + step + ": not so", {}};
}

LaunchStamp stamp_of(const LaunchReport& report) {
  LaunchStamp stamp;
  stamp.raw = std::chrono::nanoseconds(report.raw_ns);
  stamp.user = std::chrono::microseconds(report.user_us);
  stamp.system = std::chrono::microseconds(report.system_us);
  stamp.minor_faults = static_cast<int64_t>(report.minor_faults);
  stamp.major_faults = static_cast<int64_t>(report.major_faults);
  stamp.voluntary_switches = static_cast<int64_t>(report.voluntary_switches);
  stamp.involuntary_switches = static_cast<int64_t>(report.involuntary_switches);
  return stamp;
}

// POLLIN: until there is something to read; 0: until the other end is closed. False after kReadyMs.
bool wait_for(int fd, short events) {
  pollfd waiting{fd, events, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, kReadyMs);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// Without waiting. False: the other end was closed before.
bool next_report(int fd, LaunchReport& report) {
  return ::read(fd, &report, sizeof report) == static_cast<ssize_t>(sizeof report);
}

// The next report, which must be of this kind.
Result<LaunchReport> wait_for_report(int fd, LaunchReport::Kind kind) {
  if (!wait_for(fd, POLLIN)) return Error{ErrorCode::kSystem, "launcher: not ready after 10 s", {}};
  LaunchReport report{};
  // Killed: it ends in no other way without a report.
  if (!next_report(fd, report)) return Error{ErrorCode::kUnavailable, "launcher: ended before it was ready", {}};
  if (report.kind != kind) return launcher_error(report);
  return report;
}

Error ended_instead() { return {ErrorCode::kUnavailable, "launcher: ended instead of starting the program", {}}; }

}  // namespace

Result<pid_t> LauncherPipes::learn_pid() const {
  STAB_TRY(const LaunchReport moved, wait_for_report(status.get(), LaunchReport::kMoved));
  return moved.pid;
}

Status LauncherPipes::wait_until_ready() const {
  STAB_TRY(const LaunchReport ready, wait_for_report(status.get(), LaunchReport::kReady));
  (void)ready;
  return {};
}

Status LauncherPipes::send_go() const {
  if (::write(go.get(), "g", 1) == 1) return {};
  return errno == EPIPE ? ended_instead() : system_error("send go to the launcher", errno);
}

Result<LaunchStamp> LauncherPipes::wait_for_exec() const {
  // The descriptor closes with the exec, or with the launcher. Only then is the answer read: one wake-up less while
  // the program starts.
  if (!wait_for(status.get(), 0)) return Error{ErrorCode::kSystem, "launcher: has not started the program after 10 s", {}};
  LaunchReport report{};
  if (!next_report(status.get(), report)) return ended_instead();
  if (report.kind == LaunchReport::kFailed) return launcher_error(report);
  const LaunchStamp stamp = stamp_of(report);
  // A second record says why there was no exec.
  if (next_report(status.get(), report)) return launcher_error(report);
  return stamp;
}

}  // namespace stab::host
