// What it saves is a spawn and an exec for each trial. It knows nothing: what it makes begins with an order's descriptors
// and reads its request itself, as any launcher does (launcher/launcher.cc).
#include "stabd/host/starter.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "base/message_socket.h"
#include "stabd/host/launcher/launch_block.h"
#include "stabd/host/process_tree.h"
#include "stabd/host/spawn.h"

namespace stab::host {
namespace {

// Best effort: a CPU that was taken out of our reach is entered by what belongs there (the launcher pins itself).
void pin(pid_t pid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::sched_setaffinity(pid, sizeof set, &set);
}

}  // namespace

Result<Starter> Starter::start(const std::string& launcher, int cpu) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair", errno);
  Starter starter;
  starter.orders_.reset(ends[0]);
  const UniqueFd its(ends[1]);
  STAB_TRY(starter.pid_, spawn_starter(launcher, its.get()));
  starter.pidfd_.reset(open_pidfd(starter.pid_));
  if (!starter.pidfd_) return system_error("pidfd_open", errno);
  starter.cpu_ = cpu;
  pin(starter.pid_, cpu);
  return starter;
}

Starter::Starter(Starter&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), cpu_(other.cpu_), pidfd_(std::move(other.pidfd_)), orders_(std::move(other.orders_)) {}

// By its descriptor: whoever reaps orphans may have been first, and its number be another's.
Starter::~Starter() {
  if (pid_ <= 0) return;
  if (!pidfd_) ::kill(pid_, SIGKILL);  // nobody has waited for it
  // glibc 2.36 declares pidfd_send_signal without extern "C".
  else ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  siginfo_t info;
  if (pidfd_) ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd_.get()), &info, WEXITED);
  else ::waitpid(pid_, nullptr, 0);
}

Status Starter::order(const LauncherDescriptors& descriptors) {
  launch::Order order{launch::kVersion, 0};
  std::vector<int> beside = {descriptors.in,     descriptors.out, descriptors.err,
                             descriptors.config, descriptors.go,  descriptors.status};
  const auto add = [&](int fd, uint32_t flag) {
    if (fd < 0) return;
    order.flags |= flag;
    beside.push_back(fd);
  };
  add(descriptors.helper, launch::kOrderHelper);
  add(descriptors.report, launch::kOrderReport);
  for (const int fd : {descriptors.ipc, descriptors.mounts}) add(fd, launch::kOrderIpc);
  const Status sent =
      send_message(orders_.get(), std::string_view(reinterpret_cast<const char*>(&order), sizeof order), beside);
  if (!sent && sent.error().code == ErrorCode::kUnavailable)
    return Error{ErrorCode::kUnavailable, "launcher: ended before it was ready", {}};
  return sent;
}

}  // namespace stab::host
