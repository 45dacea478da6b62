// stab-helper's own side is runtime/helper. Here: a socket pair of which the program gets one end, a pipe for
// the report, and patience bounded by a deadline, because a helper that hangs must not stop the laboratory.
#include "stabd/helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace stab::engine {
namespace {

// The helper reports within milliseconds of the program's death; longer than this it hangs.
constexpr int kReportMs = 10'000;
// A report is some KiB; more than this is not one of ours.
constexpr size_t kReportBytes = 16u << 20;
// Numbers the descriptors have in the helper.
constexpr int kSocketThere = 3;
constexpr int kReportThere = 4;
constexpr int kAbove = 16;

Result<UniqueFd> moved_above(UniqueFd fd) {
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kAbove));
  if (!moved) return system_error("dup a descriptor for the helper", errno);
  return moved;
}

}  // namespace

Result<Helper> Helper::start(const std::string& path, int cpu) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair", errno);
  UniqueFd program_end(ends[0]), helper_end(ends[1]);
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2", errno);
  UniqueFd report_read(ends[0]), report_write(ends[1]);
  STAB_TRY(helper_end, moved_above(std::move(helper_end)));
  STAB_TRY(report_write, moved_above(std::move(report_write)));

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, helper_end.get(), kSocketThere);
  ::posix_spawn_file_actions_adddup2(&actions, report_write.get(), kReportThere);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kReportThere + 1);

  const std::array<std::string, 7> words = {
      "stab-helper", "--socket", std::to_string(kSocketThere), "--report", std::to_string(kReportThere),
      "--cpu", std::to_string(cpu)};
  std::array<char*, 8> argv{};
  const size_t argc = cpu >= 0 ? words.size() : words.size() - 2;
  for (size_t i = 0; i < argc; ++i) argv[i] = const_cast<char*>(words[i].c_str());
  char* envp[] = {nullptr};

  Helper helper;
  const int failed = ::posix_spawn(&helper.pid_, path.c_str(), &actions, nullptr, argv.data(), envp);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    helper.pid_ = -1;
    return system_error("start '" + path + "'", failed);
  }
  helper.program_end_ = std::move(program_end);
  helper.report_ = std::move(report_read);
  return helper;
}

Helper::Helper(Helper&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      program_end_(std::move(other.program_end_)),
      report_(std::move(other.report_)) {}

Helper::~Helper() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<std::string> Helper::finish() {
  program_end_.reset();
  std::string text;
  std::array<char, 16384> buffer;
  pollfd waiting{report_.get(), POLLIN, 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, kReportMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Error{ErrorCode::kSystem, "the helper has sent no dose report for 10 s", {}};
    const ssize_t got = ::read(report_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read the dose report", errno);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kReportBytes) return Error{ErrorCode::kCorrupt, "the dose report is longer than 16 MiB", {}};
  }
  // It closes the report last; what is left of it is its exit.
  int status = 0;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return text;
}

}  // namespace stab::engine
