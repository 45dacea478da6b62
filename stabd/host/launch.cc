// The engine's side of the launcher: lays out the request, spawns stab-launcher with its descriptors at their
// fixed numbers, and reads its answers. What happens between spawn and exec is in launcher/launcher.cc.
//
// The process that is spawned makes the one that becomes the program, our child as well, and ends (launcher.cc says why);
// or one that stays makes it (starter.h).
//
// With a broker all that happens there, and what comes back are the pipes and a number: whoever talks to the launcher
// afterwards does it in the same way.
#include "stabd/host/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stabd/broker/wire/client.h"
#include "stabd/host/launcher/launch_block.h"
#include "stabd/host/process_tree.h"
#include "stabd/host/spawn.h"
#include "stabd/host/starter.h"

namespace stab::host {
namespace {

using launch::LaunchHeader;
using launch::LaunchLimit;
using launch::LaunchReport;

// A launcher that is not ready by then hangs in a system call (a frozen cgroup, a dead network directory).
constexpr int kReadyMs = 10'000;
// What is killed is gone within milliseconds; longer than this, it sits in the kernel.
constexpr std::chrono::seconds kEndDeadline{10};

void append(std::string& block, const void* data, size_t bytes) {
  block.append(static_cast<const char*>(data), bytes);
}

bool append_string(std::string& block, const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  const uint32_t length = static_cast<uint32_t>(text.size());
  append(block, &length, sizeof length);
  block.append(text).push_back('\0');
  return true;
}

Result<UniqueFd> memory_file(const char* name, const std::string& block) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", errno);
  if (::write(fd.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size()))
    return system_error("write the launch request", errno);
  return fd;
}

Result<std::pair<UniqueFd, UniqueFd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2", errno);
  return std::pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

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

}  // namespace

Result<std::string> encode_terms(const LaunchRequest& request, uint32_t argc, uint32_t envc) {
  LaunchHeader header{};
  std::memcpy(header.magic, launch::kMagic, sizeof header.magic);
  header.version = launch::kVersion;
  header.flags = (request.aslr ? 0 : launch::kNoAslr) | (request.thp ? 0 : launch::kNoThp) |
                 (request.no_new_privs ? launch::kNoNewPrivs : 0) |
                 (request.submitter ? launch::kDropPrivileges : 0) | (request.reset_oom_score ? launch::kResetOomScore : 0) |
                 (request.private_ipc ? launch::kPrivateIpc : 0);
  header.cpu = request.cpu;
  header.slice_ns = static_cast<uint64_t>(request.slice.count());
  if (request.submitter) {
    header.uid = request.submitter->uid;
    header.gid = request.submitter->gid;
    header.group_count = static_cast<uint32_t>(request.submitter->groups.size());
  }
  header.limit_count = static_cast<uint32_t>(request.limits.size());
  header.cgroup_count = static_cast<uint32_t>(request.cgroup_procs.size());
  header.argc = argc;
  header.envc = envc;

  std::string block;
  append(block, &header, sizeof header);
  if (request.submitter)
    for (const uint32_t group : request.submitter->groups) append(block, &group, sizeof group);
  for (const Limit& limit : request.limits) {
    const LaunchLimit stored{static_cast<uint32_t>(limit.resource), 0, limit.soft, limit.hard};
    append(block, &stored, sizeof stored);
  }
  bool clean = true;
  for (const std::string& text : request.cgroup_procs) clean = clean && append_string(block, text);
  if (!clean) return bad_input("a zero byte in a cgroup's path");
  return block;
}

Result<std::string> encode_command(const LaunchRequest& request) {
  std::string block;
  launch::Identity identity{};
  if (request.must_be)
    identity = launch::identity_of(request.must_be->inode, request.must_be->bytes, request.must_be->modified_ns);
  const std::string must_be = request.must_be ? std::string(identity.text, sizeof identity.text) : std::string();
  bool clean =
      append_string(block, request.exec_path) &&
      append_string(block, request.program_path.empty() ? request.exec_path : request.program_path) &&
      append_string(block, must_be) && append_string(block, request.directory);
  for (const auto* list : {&request.argv, &request.env})
    for (const std::string& text : *list) clean = clean && append_string(block, text);
  if (!clean) return bad_input("a zero byte in the command, its environment or a path");
  return block;
}

Result<std::string> encode(const LaunchRequest& request) {
  STAB_TRY(const std::string terms,
           encode_terms(request, static_cast<uint32_t>(request.argv.size()), static_cast<uint32_t>(request.env.size())));
  STAB_TRY(const std::string command, encode_command(request));
  return terms + command;
}

Result<Launched> Launched::begin(const std::string& launcher, const LaunchRequest& request,
                                 const LaunchDescriptors& descriptors) {
  if (request.broker != nullptr) return ask(request, descriptors);
  STAB_TRY(const std::string block, encode(request));
  return spawn(launcher, block, descriptors, nullptr);
}

Result<Launched> Launched::begin_encoded(const std::string& launcher, const std::string& block,
                                         const LaunchDescriptors& descriptors, Starter* starter) {
  STAB_TRY(Launched launched, spawn(launcher, block, descriptors, starter));
  STAB_CHECK_OK(launched.learn_pid());
  return launched;
}

Result<Launched> Launched::spawn(const std::string& launcher, const std::string& block, const LaunchDescriptors& descriptors,
                                 Starter* starter) {
  STAB_TRY(UniqueFd config, memory_file("stab-launch", block));
  STAB_TRY(auto go, make_pipe());
  STAB_TRY(auto status, make_pipe());
  const LauncherDescriptors born_with{descriptors.in, descriptors.out, descriptors.err, config.get(), go.first.get(),
                                      status.second.get(), descriptors.helper, descriptors.report, descriptors.ipc,
                                      descriptors.mounts};
  Launched launched;
  if (starter != nullptr) {
    STAB_CHECK_OK(starter->order(born_with));
  } else {
    STAB_TRY(launched.starter_, spawn_launcher(launcher, born_with));
  }
  launched.go_ = std::move(go.second);
  launched.status_ = std::move(status.first);
  return launched;
}

Result<Launched> Launched::ask(const LaunchRequest& request, const LaunchDescriptors& descriptors) {
  STAB_TRY(const std::string command, encode_command(request));
  STAB_TRY(const UniqueFd sealed, memory_file("stab-command", command));
  if (::fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return system_error("seal the command", errno);

  using Wire = broker::Launch;
  Wire wire;
  wire.flags = (request.aslr ? 0 : Wire::kNoAslr) | (request.thp ? 0 : Wire::kNoThp) |
               (request.no_new_privs ? Wire::kNoNewPrivs : 0) | (request.with_helper ? Wire::kHelper : 0) |
               (request.begins_trial ? Wire::kBeginsTrial : 0) |
               (descriptors.helper >= 0 ? Wire::kHelperSocket : 0) | (descriptors.report >= 0 ? Wire::kReportPipe : 0) |
               (request.helper_samples ? Wire::kHelperSamples : 0) |
               (request.helper_long_loops ? Wire::kHelperLongLoops : 0) | (descriptors.script >= 0 ? Wire::kHelperScript : 0);
  if (request.submitter) wire.uid = request.submitter->uid;
  wire.tree = request.tree;
  wire.memory_bytes = request.tree != 0 ? request.limits_of_tree.memory_bytes : 0;
  wire.processes = request.tree != 0 ? request.limits_of_tree.processes : 0;
  wire.cpu = request.cpu;
  wire.slice_ns = static_cast<uint64_t>(request.slice.count());
  wire.helper_cpu = request.helper_cpu;
  wire.argc = static_cast<uint32_t>(request.argv.size());
  wire.envc = static_cast<uint32_t>(request.env.size());
  if (request.limits.size() > broker::kMostLimits) return bad_input("more than 4 limits of a program");
  for (const Limit& limit : request.limits)
    wire.limits[wire.limit_count++] = {static_cast<uint32_t>(limit.resource), 0, limit.soft, limit.hard};
  std::vector<int> beside = {sealed.get(), descriptors.in, descriptors.out, descriptors.err};
  for (const int fd : {descriptors.helper, descriptors.report, descriptors.script})
    if (fd >= 0) beside.push_back(fd);
  STAB_TRY(broker::Reply reply, request.broker->ask(wire, beside));

  Launched launched;
  launched.broker_ = request.broker;
  launched.pid_ = reply.answer.pid;
  launched.helper_pid_ = reply.answer.helper;
  if (reply.descriptors.size() != (request.with_helper ? 3 : 2))
    return Error{ErrorCode::kCorrupt, "the broker's answer: not the pipes of a launcher", {}};
  launched.go_ = std::move(reply.descriptors[0]);
  launched.status_ = std::move(reply.descriptors[1]);
  if (request.with_helper) launched.helper_report_ = std::move(reply.descriptors[2]);
  // Not reaped before we say so, so the number is its own.
  launched.pidfd_.reset(open_pidfd(launched.pid_));
  if (!launched.pidfd_) return system_error("pidfd_open", errno);
  return launched;
}

// Learns who becomes the program. It is our child and not waited for, so its number stays its own.
Status Launched::learn_pid() {
  STAB_TRY(const LaunchReport moved, wait_for_report(status_.get(), LaunchReport::kMoved));
  pid_ = moved.pid;
  if (starter_ > 0) ::waitpid(std::exchange(starter_, -1), nullptr, 0);
  pidfd_.reset(open_pidfd(pid_));
  if (!pidfd_) return system_error("pidfd_open", errno);
  return {};
}

Status Launched::wait_until_ready() {
  if (pid_ <= 0) STAB_CHECK_OK(learn_pid());
  STAB_TRY(const LaunchReport ready, wait_for_report(status_.get(), LaunchReport::kReady));
  (void)ready;
  return {};
}

Result<Launched> Launched::start(const std::string& launcher, const LaunchRequest& request,
                                 const LaunchDescriptors& descriptors) {
  STAB_TRY(Launched launched, begin(launcher, request, descriptors));
  STAB_CHECK_OK(launched.wait_until_ready());
  return launched;
}

Result<ProcessUsage> Launched::end(ProcessTree* tree, std::chrono::milliseconds deadline) {
  if (broker_ == nullptr) {
    ::kill(pid_, SIGKILL);
    if (tree != nullptr) STAB_CHECK_OK(tree->kill_all(deadline));
    ProcessUsage used;
    if (::wait4(std::exchange(pid_, -1), &used.status, 0, &used.usage) < 0) return system_error("wait4", errno);
    if (tree != nullptr) used.hits = tree->take_hits();
    return used;
  }
  STAB_TRY(const broker::Answer ended,
           end_at_broker(*broker_, {.tree = tree != nullptr ? tree->number() : 0, .pid = pid_}, deadline));
  pid_ = -1;
  ProcessUsage used;
  used.status = ended.status;
  const broker::Usage& wire = ended.usage;
  const auto time = [](int64_t us) { return timeval{us / 1'000'000, us % 1'000'000}; };
  used.usage.ru_utime = time(wire.user_us);
  used.usage.ru_stime = time(wire.system_us);
  used.usage.ru_maxrss = wire.max_rss_kib;
  used.usage.ru_minflt = wire.minor_faults;
  used.usage.ru_majflt = wire.major_faults;
  used.usage.ru_nvcsw = wire.voluntary_switches;
  used.usage.ru_nivcsw = wire.involuntary_switches;
  used.hits = {wire.memory_kills, wire.outside_kills, wire.refused_processes};
  return used;
}

Launched::~Launched() {
  if (broker_ != nullptr) {
    for (const pid_t pid : {helper_report_ ? helper_pid_ : 0, pid_})
      if (status_ && pid > 0) (void)end_at_broker(*broker_, {.tree = 0, .pid = pid}, kEndDeadline);
    return;
  }
  if (!status_) return;
  if (starter_ > 0) (void)learn_pid();
  for (const pid_t pid : {starter_, pid_}) {
    if (pid <= 0) continue;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

namespace {
Error ended_instead() { return {ErrorCode::kUnavailable, "launcher: ended instead of starting the program", {}}; }
}  // namespace

Status Launched::send_go() {
  if (::write(go_.get(), "g", 1) == 1) return {};
  return errno == EPIPE ? ended_instead() : system_error("send go to the launcher", errno);
}

Result<LaunchStamp> Launched::go() {
  STAB_CHECK_OK(send_go());
  return wait_for_exec();
}

Result<LaunchStamp> Launched::wait_for_exec() {
  // The descriptor closes with the exec, or with the launcher. Only then is the answer read: one wake-up less while
  // the program starts.
  if (!wait_for(status_.get(), 0)) return Error{ErrorCode::kSystem, "launcher: has not started the program after 10 s", {}};
  LaunchReport report{};
  if (!next_report(status_.get(), report)) return ended_instead();
  if (report.kind == LaunchReport::kFailed) return launcher_error(report);
  const LaunchStamp stamp = stamp_of(report);
  // A second record says why there was no exec.
  if (next_report(status_.get(), report)) return launcher_error(report);
  return stamp;
}

}  // namespace stab::host
