// stab-helper's own side is runtime/helper. Here: a socket pair of which the program gets one end, a pipe for
// the report, and patience bounded by a deadline, because a helper that hangs must not stop the laboratory.
#include "stabd/host/helper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/helper/epoch_record.h"
#include "stabd/broker/wire/client.h"
#include "stabd/host/process_tree.h"

namespace stab::host {
namespace {

// The helper reports within milliseconds of the program's death; longer than this it hangs.
constexpr int kReportMs = 10'000;
// A report is some KiB, and then come the epochs, 28 MiB at most, and samples by function; more than this is not one of ours.
constexpr size_t kReportBytes = 64u << 20;
// Numbers the descriptors have in the helper.
constexpr int kSocketThere = 3;
constexpr int kReportThere = 4;
constexpr int kScriptThere = 5;
constexpr int kAbove = 16;

// How many bytes the part at the front of `rest` says that it has; absent where it is none or cut off in its header.
std::optional<uint64_t> part_bytes(std::string_view rest) {
  if (helper::EpochHeader header; rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    if (std::memcmp(header.magic, helper::kEpochMagic, sizeof header.magic) == 0)
      return sizeof header + uint64_t{header.count} * sizeof(helper::EpochRecord);
  }
  if (helper::SampleHeader header; rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    if (std::memcmp(header.magic, helper::kSampleMagic, sizeof header.magic) == 0)
      return sizeof header + uint64_t{header.count} * sizeof(helper::FunctionSamples) +
             uint64_t{header.stayed_count} * sizeof(helper::StayedFunction);
  }
  if (helper::LibraryHeader header; rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    if (std::memcmp(header.magic, helper::kLibraryMagic, sizeof header.magic) == 0)
      return sizeof header + uint64_t{header.count} * sizeof(helper::LibraryFunction) + header.name_bytes;
  }
  return {};
}

// Whether what follows a report was written to its end. What they say is looked at by whoever needs them.
bool is_whole(std::string_view rest) {
  while (!rest.empty()) {
    const std::optional<uint64_t> bytes = part_bytes(rest);
    if (!bytes || *bytes > rest.size()) return false;
    rest.remove_prefix(*bytes);
  }
  return true;
}

// Cuts off the frames in front, and returns the last of them. What isn't whole yet stays.
std::optional<helper::ProgressFrame> take_frames(std::string& said) {
  std::optional<helper::ProgressFrame> latest;
  size_t taken = 0;
  for (helper::ProgressFrame frame; said.size() - taken >= sizeof frame; taken += sizeof frame) {
    std::memcpy(&frame, said.data() + taken, sizeof frame);
    if (std::memcmp(frame.magic, helper::kProgressMagic, sizeof frame.magic) != 0) break;
    latest = frame;
  }
  said.erase(0, taken);
  return latest;
}

// The helper runs as the program's user, so its word is bounded like a stranger's.
std::vector<PointVisits> points_of(const helper::ProgressFrame& frame) {
  std::vector<PointVisits> points;
  for (uint32_t i = 0; i < std::min(frame.count, helper::kEpochPoints); ++i) {
    PointVisits point{std::string(frame.points[i], ::strnlen(frame.points[i], sizeof frame.points[i])), frame.visits[i]};
    for (char& letter : point.name)
      if (letter < ' ' || letter > '~') letter = '?';
    points.push_back(std::move(point));
  }
  return points;
}

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
                                    std::to_string(kReportThere), "--epochs", "1"};
  const auto add = [&words](const char* option, int64_t value) {
    words.push_back(option);
    words.push_back(std::to_string(value));
  };
  if (task.samples) add("--samples", 1);
  if (task.long_loops) add("--long-loops", 1);
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
    : pid_(std::exchange(other.pid_, -1)),
      broker_(other.broker_),
      program_end_(std::move(other.program_end_)),
      report_(std::move(other.report_)),
      said_(std::move(other.said_)) {}

Helper Helper::at(broker::Client& broker, pid_t pid, UniqueFd report) {
  Helper helper;
  helper.broker_ = &broker;
  helper.pid_ = pid;
  helper.report_ = std::move(report);
  return helper;
}

Helper::~Helper() { end(); }

int Helper::end() {
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return 0;
  if (broker_ != nullptr) {
    const auto ended = end_at_broker(*broker_, {.tree = 0, .pid = pid}, std::chrono::milliseconds(kReportMs));
    // Whose broker is gone has died with it, or hangs; the request that follows says so.
    return ended ? ended->status : SIGKILL;
  }
  int status = 0;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, &status, 0);
  return status;
}

std::optional<std::vector<PointVisits>> Helper::progress() {
  std::array<char, 16 * sizeof(helper::ProgressFrame)> buffer;
  pollfd waiting{report_.get(), POLLIN, 0};
  if (said_.size() > buffer.size() || ::poll(&waiting, 1, 0) != 1 || (waiting.revents & POLLIN) == 0) return {};
  const ssize_t got = ::read(report_.get(), buffer.data(), buffer.size());
  if (got > 0) said_.append(buffer.data(), static_cast<size_t>(got));
  const std::optional<helper::ProgressFrame> latest = take_frames(said_);
  if (!latest) return {};
  return points_of(*latest);
}

Result<HelperEnd> Helper::finish(std::chrono::milliseconds patience) {
  program_end_.reset();
  HelperEnd ended;
  std::string& text = ended.report;
  text = std::exchange(said_, {});
  std::array<char, 16384> buffer;
  pollfd waiting{report_.get(), POLLIN, 0};
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    const auto left = std::clamp(3 * patience - passed, std::chrono::milliseconds(0), patience);
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 || left.count() == 0) {  // stopped, by somebody or for want of memory; or it goes on and on
      ended.given_up = passed + left;
      ended.report.clear();
      end();
      return ended;
    }
    if (ready < 0) return system_error("wait for the dose report", errno);
    const ssize_t got = ::read(report_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read the dose report", errno);
    if (got == 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kReportBytes) return Error{ErrorCode::kCorrupt, "the dose report is longer than 64 MiB", {}};
  }
  // It closes the report last; what is left of it is its exit. Where it has died before, our signal changes nothing.
  const int status = end();
  (void)take_frames(text);
  if (const size_t line = text.find('\n'); line != std::string::npos && is_whole(std::string_view(text).substr(line + 1))) {
    ended.epochs = text.substr(line + 1);
    text.resize(line + 1);
    return ended;
  }
  if (!WIFSIGNALED(status))
    return Error{ErrorCode::kSystem,
                 "the helper ended with exit status " + std::to_string(WEXITSTATUS(status)) +
                     " and says why on its standard error",
                 {}};
  ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace stab::host
