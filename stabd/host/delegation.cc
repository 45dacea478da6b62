// A group of version 2 bounds its children only where its cgroup.subtree_control names the controller, and unless it is the
// root that takes no process beside: "no internal processes". We are in such a group ourselves, so we go into one below it,
// with whoever asks us and what has descended from us both; a group that others are in as well is not ours to give.
//
// own_cgroup() says where we were at first, before and after. What is left of this by one who was killed is an empty group.
//
// Documentation/admin-guide/cgroup-v2, "No Internal Process Constraint".
#include "stabd/host/delegation.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "stabd/host/process_stat.h"
#include "stabd/host/process_tree.h"

namespace stab::host {
namespace {

constexpr char kControl[] = "/cgroup.subtree_control";

std::vector<pid_t> members_of(const std::string& group) {
  std::vector<pid_t> pids;
  std::istringstream words(read_small_file(group + "/cgroup.procs").value_or(""));
  for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
  return pids;
}

// Those of the dead are empty, or somebody else's by now.
void remove_left_groups(const std::string& parent) {
  DIR* directory = ::opendir(parent.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kAsidePrefix)) continue;
    const auto pid = to_integer(name.substr(kAsidePrefix.size()));
    if (pid && !is_alive(static_cast<pid_t>(*pid))) ::rmdir((parent + "/" + std::string(name)).c_str());
  }
  ::closedir(directory);
}

}  // namespace

bool has_word(const std::string& path, const std::string& wanted) {
  std::istringstream words(read_small_file(path).value_or(""));
  for (std::string word; words >> word;)
    if (word == wanted) return true;
  return false;
}

std::string Delegation::give(const std::string& group, const std::string& controller) {
  const std::string control = group + kControl;
  if (has_word(control, controller)) return {};
  if (!has_word(group + "/cgroup.controllers", controller))
    return "cgroup '" + group + "' has no controller " + controller + " (Delegate=yes of a systemd service or scope gives it)";
  const std::string word = "+" + controller;
  if (!write_small_file(control, word)) {
    if (errno != EBUSY) return "controller " + controller + " of cgroup '" + group + "': " + std::strerror(errno);
    const std::string why_not = step_aside(group);
    if (!why_not.empty()) return why_not;
    if (!write_small_file(control, word))
      return "controller " + controller + " of cgroup '" + group + "': " + std::strerror(errno);
  }
  given_.emplace_back(group, controller);
  return {};
}

bool Delegation::is_ours(pid_t pid) const {
  if (pid == ::getpid() || pid == engine_) return true;
  const auto parents = live_parents(roots_);
  for (const pid_t root : {::getpid(), engine_}) {
    const auto below = descendants(parents, root, {});
    if (std::find(below.begin(), below.end(), pid) != below.end()) return true;
  }
  return false;
}

// All of us, or none: others in the group are who keeps the controllers from its children.
std::string Delegation::step_aside(const std::string& group) {
  if (!aside_.empty()) return "cgroup '" + group + "' is busy";
  const std::vector<pid_t> members = members_of(group);
  const auto others = std::count_if(members.begin(), members.end(), [&](pid_t pid) { return !is_ours(pid); });
  if (others > 0)
    return "cgroup '" + group + "' holds " + std::to_string(others) + " other processes, so the groups below it "
           "get no controllers; start it in a group of its own, as 'systemd-run --scope -p Delegate=yes' does";
  remove_left_groups(group);
  const std::string aside = group + "/" + std::string(kAsidePrefix) + std::to_string(::getpid());
  if (::mkdir(aside.c_str(), 0755) != 0 && errno != EEXIST) return "make cgroup '" + aside + "': " + std::strerror(errno);
  aside_ = aside;
  for (const pid_t pid : members)
    if (!write_small_file(aside + "/cgroup.procs", std::to_string(pid)) && errno != ESRCH)
      return "move process " + std::to_string(pid) + " to cgroup '" + aside + "': " + std::strerror(errno);
  return {};
}

// Where we were alone. In a root, where nobody has to step aside, others may have groups that are bounded by now.
Delegation::~Delegation() {
  if (aside_.empty()) return;
  for (const auto& [group, controller] : given_) (void)write_small_file(group + kControl, "-" + controller);
  const std::string group = aside_.substr(0, aside_.rfind('/'));
  for (const pid_t pid : members_of(aside_)) (void)write_small_file(group + "/cgroup.procs", std::to_string(pid));
  ::rmdir(aside_.c_str());
}

}  // namespace stab::host
