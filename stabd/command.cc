// Commands go through the same launcher, tree and waiter as trials, without counters, pinning and helper: they
// run as the submitter, can't outlive their time, and leave no process behind.
#include "stabd/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/expectation.h"
#include "stabd/supervise.h"

namespace stab::engine {
namespace {

// The end of a log says what went wrong; the store keeps this much.
constexpr off_t kLogBytes = 64 << 10;
// A build that writes more is out of hand.
constexpr uint64_t kOutputLimitBytes = 1u << 30;

std::string tail(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return {};
  const off_t start = info.st_size > kLogBytes ? info.st_size - kLogBytes : 0;
  std::string text(static_cast<size_t>(info.st_size - start), '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), start);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string words_of(TrialEvent event, std::chrono::nanoseconds timeout) {
  if (event == TrialEvent::kDeadline)
    return "still running after " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) + " s, killed";
  if (event == TrialEvent::kOverflow) return "more than 1 GiB of output, killed";
  return "cancelled";
}

}  // namespace

Result<CommandOutput> run_command(const Laboratory& laboratory, const LaunchRequest& request,
                                  std::chrono::nanoseconds timeout) {
  const UniqueFd log(::memfd_create("stab-command", MFD_CLOEXEC));
  if (!log) return system_error("memfd_create", errno);
  // Both streams append to the one file.
  ::fcntl(log.get(), F_SETFL, O_APPEND);
  const UniqueFd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  LaunchRequest full = request;
  full.cgroup_procs = laboratory.tree->procs_files();
  laboratory.tree->forget_spared();
  STAB_TRY(Launched launched, Launched::start(laboratory.launcher, full, {in.get(), log.get(), log.get(), -1, -1}));
  CommandOutput output;
  const auto start = launched.go();
  if (!start) {
    output.failure = start.error().message;
    return output;
  }
  STAB_TRY(const Ending ending, wait_for_ending({launched.pidfd(), timeout, laboratory.cancel_fd, {log.get()}, kOutputLimitBytes},
                                                *laboratory.clock));
  if (ending.event != TrialEvent::kExited) ::kill(launched.pid(), SIGKILL);
  STAB_CHECK_OK(laboratory.tree->kill_all(std::chrono::seconds(10)));
  int status = 0;
  ::waitpid(launched.pid(), &status, 0);
  launched.release();
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  output.duration = ending.raw - start->raw;
  output.log = tail(log.get());
  output.ok = ending.event == TrialEvent::kExited && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (output.ok) return output;
  if (ending.event != TrialEvent::kExited) {
    output.failure = words_of(ending.event, timeout);
    return output;
  }
  output.failure = WIFEXITED(status) ? describe_end(WEXITSTATUS(status), {}) : describe_end({}, WTERMSIG(status));
  return output;
}

}  // namespace stab::engine
