// The program is started without an engine: an answer about it is wanted before there is a plan. What the kernel has counted of
// it is read while it is a zombie.
#include "stabctl/sides/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/line_ends.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/wording.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "stabd/engine/machine/ledger.h"
#include "stabd/host/process_tree.h"

namespace stab::ctl {
namespace {

using std::chrono::nanoseconds;

std::string read_from(int fd, off_t from, size_t most) {
  std::string text(most, '\0');
  const ssize_t got = ::pread(fd, text.data(), most, from);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

off_t size_of(int fd) {
  struct stat info;
  return ::fstat(fd, &info) == 0 ? info.st_size : 0;
}

// The last lines, ten at most.
std::string last_lines(int fd) {
  constexpr off_t kMost = 4096;
  constexpr int kLines = 10;
  const off_t size = size_of(fd);
  const std::string text = without_line_ends(read_from(fd, std::max<off_t>(0, size - kMost), static_cast<size_t>(kMost)));
  size_t at = text.size();
  for (int lines = 0; lines < kLines && at != std::string::npos && at > 0; ++lines) at = text.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

class SpawnSettings {
 public:
  SpawnSettings(int in, int out, int errors, const std::string& directory) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_adddup2(&actions, errors, 2);
    ::posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    ::posix_spawnattr_init(&attributes);
    // Its own group, so that what it has started is killed with it; ignored signals would stay ignored.
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// What a program may print, to both together: as much as a trial may by default. Its files lie in memory.
const off_t kMostPrinted = static_cast<off_t>(plan::Program{}.output_limit_bytes);

enum class Waited { kOver, kLate, kStopped, kTooMuchPrinted };

// How long this thread could have run and waited for a CPU.
nanoseconds own_delay() {
  return nanoseconds(engine::scheduled_time_of(host::Roots(), ::gettid()).value_or(engine::ScheduledTime{}).run_delay_ns);
}

// Anything but kOver: it was killed. `late`: how long it was over before we came onto a CPU and saw it.
Waited wait_until_over(pid_t pid, int out, int errors, nanoseconds most, const engine::StopSignal& stop, nanoseconds& late) {
  const SystemClock clock;
  Waited waited = Waited::kLate;
  const UniqueFd over(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const nanoseconds end = clock.monotonic_raw() + most;
  for (;;) {
    const nanoseconds left = end - clock.monotonic_raw();
    if (stop.asked()) waited = Waited::kStopped;
    else if (size_of(out) + size_of(errors) > kMostPrinted) waited = Waited::kTooMuchPrinted;
    if (waited != Waited::kLate || left.count() <= 0) break;
    pollfd ready{over.get(), POLLIN, 0};
    const auto ms = std::min<int64_t>(20, std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1);
    const nanoseconds before = own_delay();
    if (::poll(&ready, 1, static_cast<int>(ms)) <= 0) continue;
    late = own_delay() - before;
    return Waited::kOver;
  }
  ::kill(-pid, SIGKILL);
  return waited;
}

// What descends from this process from now on, also when its parent has ended.
Result<host::ProcessTree> tree_below_us() {
  const host::Roots roots;
  STAB_TRY(host::ProcessTree tree, host::ProcessTree::create(roots, host::TreeKind::kAncestry));
  for (const pid_t pid : host::descendants(host::live_parents(roots), ::getpid(), {})) tree.spare(pid);
  return tree;
}

// The kernel says of a script whose interpreter is missing what it says of a missing script.
std::string why_not_started(const std::string& program, const std::string& directory, int failed) {
  const std::filesystem::path path = std::filesystem::path(directory) / program;
  std::error_code ignored;
  if (failed != ENOENT || !std::filesystem::exists(path, ignored)) return std::strerror(failed);
  constexpr size_t kMostRead = 256;  // of which the kernel takes the line (BINPRM_BUF_SIZE)
  std::string line(kMostRead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.erase(std::min(line.find('\n'), line.size()));
  if (!line.starts_with("#!"))
    return "the loader that it was linked for (readelf -l) is not on this machine";
  const size_t begin = std::min(line.find_first_not_of(" \t", 2), line.size());
  const std::string interpreter = in_quotes(line.substr(begin, line.find_first_of(" \t\r", begin) - begin));
  if (line.ends_with('\r'))
    return "its lines end as on Windows, so " + interpreter + " is not found: sed -i 's/\\r$//' " + shell_word(program);
  return interpreter + ", which its first line names, is not on this machine";
}

}  // namespace

double Probe::busy() const {
  const double on = std::chrono::duration<double>(cpu()).count();
  const double all = std::chrono::duration<double>(wall).count(), had = std::chrono::duration<double>(wall - delay).count();
  if (all <= 0) return 1;
  // The delay is that of its first thread: of a program with several it says nothing.
  const double share = on / all;
  if (waits && *waits == 0) return std::max(share, 1.0);
  return share >= 1 || had <= 0 ? share : std::max(share, std::min(1.0, on / had));
}

Probe probe_of(const store::Outcome& outcome) {
  Probe out;
  out.wall = nanoseconds(outcome.wall_ns.value_or(0));
  out.user = nanoseconds(outcome.user_ns.value_or(0));
  out.system = nanoseconds(outcome.system_ns.value_or(0));
  const auto delay = outcome.ledger.find("run_delay_ns");
  out.delay = nanoseconds(delay == outcome.ledger.end() ? 0 : static_cast<int64_t>(delay->second));
  return out;
}

Result<Probe> probe(const std::vector<std::string>& words, const std::string& input, const std::string& directory,
                    const std::vector<std::string>& environment, nanoseconds most, const engine::StopSignal& stop) {
  if (most.count() <= 0)
    return Error{ErrorCode::kUnavailable, "no time was left to try " + in_quotes(words[0]) + "; give it more with --at-most", {}};
  Probe out;
  const UniqueFd in(::open(input.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in) return system_error("open " + in_quotes(input), errno);
  const UniqueFd errors(::memfd_create("probe", MFD_CLOEXEC));
  out.out.reset(::memfd_create("probe", MFD_CLOEXEC));
  if (!errors || !out.out) return system_error("make a file in memory", errno);
  const SpawnSettings settings(in.get(), out.out.get(), errors.get(), directory);
  std::vector<std::string> copy = words, variables = environment;
  std::vector<char*> argv, envp;
  for (std::string& word : copy) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr), envp.push_back(nullptr);
  STAB_TRY(host::ProcessTree left_running, tree_below_us());
  const SystemClock clock;
  const nanoseconds start = clock.monotonic_raw();
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, words[0].c_str(), &settings.actions, &settings.attributes, argv.data(), envp.data());
  if (failed == ENOEXEC)
    return bad_input(in_quotes(words[0]) + " is no program of this machine; a script begins with a line such as #!/bin/sh");
  if (failed != 0) return bad_input(in_quotes(words[0]) + " can't be started: " + why_not_started(words[0], directory, failed));
  nanoseconds late{0};
  Waited waited = wait_until_over(pid, out.out.get(), errors.get(), most, stop, late);
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  out.wall = clock.monotonic_raw() - start - late;
  out.delay = nanoseconds(engine::scheduled_time_of(host::Roots(), pid).value_or(engine::ScheduledTime{}).run_delay_ns);
  // What it has left running ends with it: as long as it is a zombie, no other group has its number.
  ::kill(-pid, SIGKILL);
  rusage used{};
  while (::wait4(pid, &out.status, 0, &used) < 0 && errno == EINTR) {
  }
  // Daemons have a session of their own, and would run beside all that is measured.
  if (const Status ended_too = left_running.kill_all(std::chrono::seconds(1)); !ended_too) return ended_too.error();
  out.user = nanoseconds_of(used.ru_utime), out.system = nanoseconds_of(used.ru_stime);
  out.max_rss_kib = used.ru_maxrss;
  // Its end is the one time that every process gives its CPU up. A kernel that doesn't count has none.
  if (used.ru_nvcsw > 0) out.waits = used.ru_nvcsw - 1;
  out.errors = last_lines(errors.get());
  if (waited == Waited::kOver && size_of(out.out.get()) + size_of(errors.get()) > kMostPrinted) waited = Waited::kTooMuchPrinted;
  if (waited == Waited::kStopped) return Error{ErrorCode::kUnavailable, "it was interrupted", {}};
  if (waited == Waited::kTooMuchPrinted)
    return bad_input(in_quotes(words[0]) + " printed more than " + std::to_string(kMostPrinted) +
                     " bytes; make it print less, or write a plan with a larger 'output_limit'");
  if (waited == Waited::kLate)
    return Error{ErrorCode::kUnavailable,
                 in_quotes(words[0]) + " was still running after " + plan::duration_text(most) +
                     "; give it less to do, or more time with --at-most",
                 {}};
  return out;
}

std::string failure_of(const Probe& probe, const std::vector<int>& accepted) {
  if (WIFSIGNALED(probe.status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(probe.status));
    return "was killed by " + (name ? "SIG" + std::string(name) : "signal " + std::to_string(WTERMSIG(probe.status)));
  }
  const int code = WEXITSTATUS(probe.status);
  const bool is_accepted = std::find(accepted.begin(), accepted.end(), code) != accepted.end();
  return is_accepted ? std::string() : "ended with exit status " + std::to_string(code);
}

std::optional<std::string> difference_of_outputs(const Probe& a, const Probe& b) {
  constexpr size_t kChunk = 1 << 16, kShown = 60;
  const off_t size = std::max(size_of(a.out.get()), size_of(b.out.get()));
  size_t line = 1;
  off_t start = 0;  // of the line that is compared
  for (off_t at = 0; at < size; at += static_cast<off_t>(kChunk)) {
    const std::string first = read_from(a.out.get(), at, kChunk), second = read_from(b.out.get(), at, kChunk);
    const auto [x, y] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
    const size_t same = static_cast<size_t>(x - first.begin());
    for (size_t i = 0; i < same; ++i)
      if (first[i] == '\n') ++line, start = at + static_cast<off_t>(i) + 1;
    if (x == first.end() && y == second.end()) continue;
    const auto shown = [&](const Probe& of) {
      const std::string text = read_from(of.out.get(), start, kShown + 1);
      return text.empty() ? std::string("nothing") : in_quotes(one_line(text.substr(0, text.find('\n'))), kShown);
    };
    return "line " + std::to_string(line) + ": " + shown(a) + " against " + shown(b);
  }
  return {};
}

}  // namespace stab::ctl
