#include "stabd/engine/separation/file_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/printable.h"
#include "stabd/engine/separation/process_end.h"
#include "stabd/engine/separation/runs_as.h"
#include "stabd/engine/separation/start_error.h"
#include "stabd/engine/separation/supervise.h"
#include "stabd/host/launcher/launch_block.h"

namespace stab::engine {
namespace {

static_assert(kBesideFd == launch::kHelperFd);

constexpr std::chrono::seconds kKillDeadline{10};
// A broken file can be a reason for many messages; the first say enough.
constexpr size_t kHeadBytes = 400;

Result<UniqueFd> empty_file() {
  UniqueFd fd(::memfd_create("stab-answer", MFD_CLOEXEC));
  if (!fd) return system_error("memfd_create", errno);
  return fd;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

FileAnswer too_long(const std::string& name, uint64_t most) {
  return {AnswerEnd::kTooLong, {}, "the answer of " + name + " takes more than " + std::to_string(most >> 20) + " MiB"};
}

// The user's other processes may have the file open as well: what is read is what is there then, and no more of it than was asked
// for.
Result<FileAnswer> content_of(int fd, const std::string& name, uint64_t most) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return system_error("look at an answer", errno);
  if (info.st_size < 0 || static_cast<uint64_t>(info.st_size) > most) return too_long(name, most);
  FileAnswer answer;
  std::string& bytes = answer.bytes;
  bytes.resize(static_cast<size_t>(info.st_size));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return FileAnswer{AnswerEnd::kRefused, {}, "an answer of " + name + " that becomes shorter"};
    at += static_cast<size_t>(got);
  }
  return answer;
}

}  // namespace

ReaderSetting reader_setting(const EngineOptions& options, uid_t uid, gid_t gid, int cancel_fd) {
  return {started_by(*options.broker), runs_as(options, uid, gid), cancel_fd, options.clock};
}

Result<FileAnswer> ask_about_files(const ReaderSetting& setting, const FileQuestion& question) {
  const std::string& program = question.words.front();
  const std::string name = base_name(program);
  if (::access(program.c_str(), X_OK) != 0)
    return Error{ErrorCode::kNotFound, "'" + program + "' is missing; build or install all of stab", {}};
  STAB_TRY(const UniqueFd out, empty_file());
  STAB_TRY(const UniqueFd error, empty_file());
  host::LaunchRequest request;
  request.exec_path = program;
  request.directory = "/";
  request.argv = question.words;
  request.argv.front() = name;
  request.env = {"LC_ALL=C.UTF-8"};
  request.submitter = setting.submitter;
  // A byte more than may be: who is ended at that one has said too much.
  const host::Limit bytes = host::limit_within_ours(RLIMIT_FSIZE, question.most_bytes + 1);
  request.limits = {{RLIMIT_CORE, 0, 0}, bytes};
  const auto process = setting.start(request, {question.in, out.get(), error.get(), question.beside, -1});
  if (!process) return start_error(program, process.error());
  STAB_TRY(const Ending ending,
           wait_for_ending({(*process)->pidfd(), question.timeout, setting.cancel_fd, {}, 0, {}}, *setting.clock));
  STAB_TRY(const host::ProcessUsage used, (*process)->end(kKillDeadline));
  if (ending.event == store::TrialEvent::kCancel) return Error{ErrorCode::kBusy, "cancelled while " + name + " worked", {}};
  if (ending.event == store::TrialEvent::kDeadline)
    return FileAnswer{AnswerEnd::kTooLate, {},
                      name + " took more than " + std::to_string(question.timeout.count() / 1000) + " s and was ended"};
  if (WIFSIGNALED(used.status) && WTERMSIG(used.status) == SIGXFSZ) return too_long(name, bytes.soft - 1);
  if (WIFEXITED(used.status) && WEXITSTATUS(used.status) == 0) return content_of(out.get(), name, question.most_bytes);
  const std::string end =
      WIFEXITED(used.status) ? describe_end(WEXITSTATUS(used.status), {}) : describe_end({}, WTERMSIG(used.status));
  return FileAnswer{AnswerEnd::kRefused, {}, name + " ended with " + end + " " + printable(head_of_fd(error.get(), kHeadBytes))};
}

}  // namespace stab::engine
