#include "engine/causal/line_query.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "engine/results/printable.h"
#include "engine/trial/expectation.h"
#include "engine/trial/supervise.h"

namespace stab::engine {
namespace {

// What stab-lines allows itself, and a little.
constexpr std::chrono::seconds kTimeout{330};

Result<UniqueFd> memory_file(const std::string& content) {
  UniqueFd fd(::memfd_create("stab-lines", MFD_CLOEXEC));
  if (!fd) return system_error("memfd_create", errno);
  if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::lseek(fd.get(), 0, SEEK_SET) != 0)
    return system_error("write a question for lines", errno);
  return fd;
}

Result<std::string> content_of(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return system_error("look at an answer", errno);
  if (info.st_size < 0 || static_cast<size_t>(info.st_size) > lines::kMostAnswerBytes)
    return Error{ErrorCode::kCorrupt, "an answer of stab-lines that is too long", {}};
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{ErrorCode::kCorrupt, "an answer of stab-lines that becomes shorter", {}};
    at += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace

Result<lines::Answer> ask_for_lines(const Laboratory& laboratory, const std::optional<Submitter>& submitter,
                                    const std::string& program, const lines::Request& question) {
  STAB_TRY(const UniqueFd in, memory_file(lines::encode(question)));
  STAB_TRY(const UniqueFd out, memory_file({}));
  STAB_TRY(const UniqueFd error, memory_file({}));
  LaunchRequest request;
  request.exec_path = program;
  request.directory = "/";
  request.argv = {"stab-lines"};
  request.env = {"LC_ALL=C.UTF-8"};
  request.submitter = submitter;
  request.limits_of_tree = laboratory.limits.commands;
  STAB_CHECK_OK(laboratory.tree->admit(request));
  laboratory.tree->forget_spared();
  STAB_TRY(Launched launched, Launched::start(laboratory.launcher, request, {in.get(), out.get(), error.get(), -1, -1}));
  if (const auto start = launched.go(); !start)
    return Error{start.error().code, "start '" + program + "': " + start.error().message + "; build or install all of stab", {}};
  STAB_TRY(const Ending ending, wait_for_ending({launched.pidfd(), kTimeout, laboratory.cancel_fd, {}, 0}, *laboratory.clock));
  STAB_TRY(const ProcessUsage used, launched.end(laboratory.tree, std::chrono::seconds(10)));
  while (laboratory.tree->number() == 0 && ::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  if (ending.event == store::TrialEvent::kCancel) return Error{ErrorCode::kBusy, "cancelled while lines were looked up", {}};
  if (!WIFEXITED(used.status) || WEXITSTATUS(used.status) != 0) {
    const std::string end =
        WIFEXITED(used.status) ? describe_end(WEXITSTATUS(used.status), {}) : describe_end({}, WTERMSIG(used.status));
    return bad_input("the debug information of the program can't be read: stab-lines ended with " + end + " " +
                     printable(head_of_fd(error.get(), 400)));
  }
  STAB_TRY(const std::string bytes, content_of(out.get()));
  return lines::decode_answer(bytes, question);
}

}  // namespace stab::engine
