// stab-helper's own side is runtime/helper. Here: a socket pair of which the program gets one end, and a pipe for the report.
#include "stabd/host/helper_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>


namespace stab::host {
namespace {

// Numbers the descriptors have in the helper.
constexpr int kSocketThere = 3;
constexpr int kReportThere = 4;
constexpr int kScriptThere = 5;
constexpr int kAbove = 16;

Result<UniqueFd> moved_above(UniqueFd fd) {
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kAbove));
  if (!moved) return system_error("dup a descriptor for the helper", errno);
  return moved;
}

}  // namespace

Result<Helper> Helper::start(const std::string& path, const HelperTask& task, const std::optional<Submitter>& submitter) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair", errno);
  UniqueFd program_end(ends[0]), helper_end(ends[1]);
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2", errno);
  UniqueFd report_read(ends[0]), report_write(ends[1]);
  STAB_TRY(helper_end, moved_above(std::move(helper_end)));
  STAB_TRY(report_write, moved_above(std::move(report_write)));
  UniqueFd script;
  if (task.script >= 0) {
    script.reset(::fcntl(task.script, F_DUPFD_CLOEXEC, kAbove));
    if (!script) return system_error("dup the layout script for the helper", errno);
  }

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, helper_end.get(), kSocketThere);
  ::posix_spawn_file_actions_adddup2(&actions, report_write.get(), kReportThere);
  if (script) ::posix_spawn_file_actions_adddup2(&actions, script.get(), kScriptThere);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, script ? kScriptThere + 1 : kReportThere + 1);

  std::vector<std::string> words = {"stab-helper", "--socket", std::to_string(kSocketThere), "--report",
                                    std::to_string(kReportThere)};
  const auto add = [&words](const char* option, int64_t value) {
    words.push_back(option);
    words.push_back(std::to_string(value));
  };
  for (const helper::SwitchWord& known : helper::kSwitchWords)
    if (task.switches & known.bit) add(known.word, 1);
  if (script) add("--script", kScriptThere);
  if (task.cpu >= 0) add("--cpu", task.cpu);
  add("--parent", ::getpid());
  // Its groups are of no use to it: it opens nothing but what /proc shows of the program.
  if (submitter || ::geteuid() == 0) {
    add("--user", submitter ? submitter->uid : 0);
    add("--group", submitter ? submitter->gid : ::getegid());
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char* envp[] = {nullptr};

  // It binds its life to ours in its first microseconds (runtime/helper/confine.h). One that is stopped before it could is hung
  // up on by the kernel when we end, as stopped members of a process group are that nobody of their session leads any more.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t hang_up;
  ::sigemptyset(&hang_up);
  ::sigaddset(&hang_up, SIGHUP);
  ::posix_spawnattr_setsigdefault(&attributes, &hang_up);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);

  Helper helper;
  const int failed = ::posix_spawn(&helper.pid_, path.c_str(), &actions, &attributes, argv.data(), envp);
  ::posix_spawnattr_destroy(&attributes);
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
    : pid_(std::exchange(other.pid_, -1)), program_end_(std::move(other.program_end_)), report_(std::move(other.report_)) {}

Helper::~Helper() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace stab::host
