// Commands go through the same launcher, tree and waiter as trials, without counters, pinning and helper: they
// run as the submitter, can't outlive their time, and leave no process behind.
#include "stabd/engine/build/command.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/engine/separation/launched_at_broker.h"
#include "stabd/engine/separation/process_end.h"
#include "stabd/engine/separation/supervise.h"

namespace stab::engine {
namespace {

// The end of a log says what went wrong; the store keeps this much.
constexpr off_t kLogBytes = 64 << 10;
// No question that is asked has a longer answer, and half of one is none.
constexpr off_t kMostAnswerBytes = 4 << 20;
// A build that writes more is out of hand.
constexpr uint64_t kOutputLimitBytes = 1u << 30;

std::string tail(int fd, off_t bytes) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return {};
  const off_t start = info.st_size > bytes ? info.st_size - bytes : 0;
  std::string text(static_cast<size_t>(info.st_size - start), '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), start);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string words_of(store::TrialEvent event, std::chrono::nanoseconds timeout) {
  if (event == store::TrialEvent::kDeadline)
    return "still running after " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) +
           " s, killed";
  if (event == store::TrialEvent::kOverflow) return "more than 1 GiB of output, killed";
  return "cancelled";
}

}  // namespace

Result<CommandOutput> run_command(const Laboratory& laboratory, const host::LaunchRequest& request,
                                  std::chrono::nanoseconds timeout, Stdout out) {
  const UniqueFd log(::memfd_create("stab-command", MFD_CLOEXEC));
  const UniqueFd apart(out == Stdout::kApart ? ::memfd_create("stab-answer", MFD_CLOEXEC) : -1);
  if (!log || (out == Stdout::kApart && !apart)) return system_error("memfd_create", errno);
  // Both streams append to the one file.
  ::fcntl(log.get(), F_SETFL, O_APPEND);
  const int out_fd = apart ? apart.get() : log.get();
  const UniqueFd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  STAB_TRY(LaunchedAtBroker launched,
           LaunchedAtBroker::start(laboratory.tree->broker(), {request, laboratory.tree, laboratory.limits.commands, {}},
                                   {in.get(), out_fd, log.get(), -1, -1}));
  CommandOutput output;
  const auto start = launched.go();
  if (!start) {
    output.failure = start.error().message;
    return output;
  }
  STAB_TRY(const Ending ending,
           wait_for_ending({launched.pidfd(), timeout, laboratory.cancel_fd, {log.get(), out_fd}, kOutputLimitBytes, {}},
                           *laboratory.clock));
  STAB_TRY(const host::ProcessUsage used, launched.end(laboratory.tree, std::chrono::seconds(10)));
  const int status = used.status;
  output.duration = ending.raw - start->raw;
  output.log = tail(log.get(), kLogBytes);
  if (apart) output.answer = tail(apart.get(), kMostAnswerBytes + 1);
  output.ok = ending.event == store::TrialEvent::kExited && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (output.ok && output.answer.size() > static_cast<size_t>(kMostAnswerBytes)) {
    output.ok = false;
    output.failure = "it answers with more than 4 MiB";
  }
  if (output.ok || !output.failure.empty()) return output;
  if (ending.event != store::TrialEvent::kExited) {
    output.failure = words_of(ending.event, timeout);
    output.cancelled = ending.event == store::TrialEvent::kCancel;
    return output;
  }
  if (used.hits.memory_kills > 0) {
    output.failure = "killed for memory: it may use at most " + host::bytes_text(laboratory.limits.commands.memory_bytes) +
                     ", the lab's limit; an administrator can raise memory in [limits] of stabd.toml";
    return output;
  }
  output.failure = WIFEXITED(status) ? describe_end(WEXITSTATUS(status), {}) : describe_end({}, WTERMSIG(status));
  if (used.hits.refused_processes > 0)
    output.failure += "; it was refused new processes or threads: it may have at most " +
                      std::to_string(laboratory.limits.commands.processes) + ", the lab's limit";
  return output;
}

}  // namespace stab::engine
