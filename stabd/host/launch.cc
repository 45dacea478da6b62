// The engine's side of the launcher: lays out the request, spawns stab-launcher with its descriptors at their
// fixed numbers, and reads its answers. What happens between spawn and exec is in launcher/launcher.cc.
//
// The process that is spawned makes the one that becomes the program, our child as well, and ends (launcher.cc says why);
// or one that stays makes it (starter.h).
#include "stabd/host/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "stabd/host/launcher/launch_block.h"
#include "stabd/host/process_tree.h"
#include "stabd/host/spawn.h"
#include "stabd/host/starter.h"

namespace stab::host {
namespace {

using launch::LaunchHeader;
using launch::LaunchLimit;

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

}  // namespace

Limit limit_within_ours(int resource, uint64_t most) {
  rlimit ours{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &ours) == 0) most = std::min<uint64_t>(most, ours.rlim_max);
  return {resource, most, most};
}

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
  launched.pipes_ = {std::move(go.second), std::move(status.first)};
  return launched;
}

// It is our child and not waited for, so its number stays its own.
Status Launched::learn_pid() {
  STAB_TRY(pid_, pipes_.learn_pid());
  if (starter_ > 0) ::waitpid(std::exchange(starter_, -1), nullptr, 0);
  pidfd_.reset(open_pidfd(pid_));
  if (!pidfd_) return system_error("pidfd_open", errno);
  return {};
}

Status Launched::wait_until_ready() {
  if (pid_ <= 0) STAB_CHECK_OK(learn_pid());
  return pipes_.wait_until_ready();
}

Result<Launched> Launched::start(const std::string& launcher, const LaunchRequest& request,
                                 const LaunchDescriptors& descriptors) {
  STAB_TRY(Launched launched, begin(launcher, request, descriptors));
  STAB_CHECK_OK(launched.wait_until_ready());
  return launched;
}

Result<LaunchStamp> Launched::go() {
  STAB_CHECK_OK(pipes_.send_go());
  return pipes_.wait_for_exec();
}

Result<ProcessUsage> Launched::end() {
  ::kill(pid_, SIGKILL);
  ProcessUsage used;
  if (::wait4(std::exchange(pid_, -1), &used.status, 0, &used.usage) < 0) return system_error("wait4", errno);
  return used;
}

Launched::~Launched() {
  if (!pipes_.status) return;
  if (starter_ > 0) (void)learn_pid();
  for (const pid_t pid : {starter_, pid_}) {
    if (pid <= 0) continue;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

}  // namespace stab::host
