#include "stabd/broker/children.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "stabd/host/process_tree.h"

namespace stab::broker {
namespace {

// Killed for so long and alive: it waits in the kernel, for a disk or a file system that a user's process serves. Nothing that
// we could do ends it, and that many users' processes of this kind must not keep others from running.
constexpr std::chrono::seconds kGiveUp{10};

}  // namespace

Child* Children::find(pid_t pid) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Child& child) { return child.pid == pid; });
  return found == all_.end() ? nullptr : &*found;
}

// Nobody else reaps it, so its number is its own.
Status Children::remember(pid_t pid, uint32_t tree, int cpu) {
  Child child;
  child.pid = pid;
  child.tree = tree;
  child.cpu = cpu;
  child.pidfd.reset(host::open_pidfd(pid));
  if (!child.pidfd) return system_error("pidfd_open", errno);
  all_.push_back(std::move(child));
  return {};
}

void Children::forget(pid_t pid) {
  std::erase_if(all_, [&](const Child& child) { return child.pid == pid; });
}

bool Children::has_places() {
  const auto now = std::chrono::steady_clock::now();
  const auto taken = [&] {
    return std::count_if(all_.begin(), all_.end(), [](const Child& child) { return !child.given_up; });
  };
  const auto fits = [&] { return static_cast<size_t>(taken()) + 2 <= kMost; };
  if (fits()) return true;
  for (Child& child : all_) {
    if (child.ended || !child.killed || now - *child.killed < kGiveUp || all_.size() > kMostGivenUp) continue;
    child.given_up = true;
    child.pidfd.reset();  // reap() sees its end without
  }
  return fits();
}

void Children::reap() {
  int status = 0;
  rusage usage{};
  for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    Child* child = find(pid);
    if (child == nullptr || child->ended) continue;
    child->ended = true;
    child->status = status;
    child->usage = usage;
  }
}

void Children::kill(Child& child) {
  ::kill(child.pid, SIGKILL);
  if (!child.killed) child.killed = std::chrono::steady_clock::now();
}

void Children::kill_all() const {
  for (const Child& child : all_)
    if (!child.ended) ::kill(child.pid, SIGKILL);
}

}  // namespace stab::broker
