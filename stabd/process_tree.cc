// A trial may leave children behind that have left its session and process group. A cgroup holds them all:
// v2 kills it whole (cgroup.kill; what that doesn't reach, one by one), v1 is frozen first, so that nobody forks while we
// kill one by one. Without any cgroup the engine is made subreaper: whatever a trial leaves behind becomes our child, and
// everything below us that is not spared is the trial's.
//
// The cgroup's name holds our pid: an engine that starts later kills what a dead one has left.
#include "stabd/process_tree.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "base/unique_fd.h"
#include "stabd/host/roots.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kPrefix = "stab-trial-";
// Between two looks at a tree that is dying; a kill takes some 100 us.
constexpr milliseconds kRetry{1};

std::vector<std::string> entries(const std::string& directory) {
  std::vector<std::string> names;
  DIR* open_directory = ::opendir(directory.c_str());
  if (open_directory == nullptr) return names;
  while (const dirent* entry = ::readdir(open_directory)) names.emplace_back(entry->d_name);
  ::closedir(open_directory);
  return names;
}

std::vector<pid_t> listed_pids(const std::string& file) {
  std::vector<pid_t> pids;
  const auto text = read_small_file(file);
  if (!text) return pids;
  std::istringstream words(*text);
  for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
  return pids;
}

bool cgroup2_empty(const std::string& directory) {
  const auto events = read_small_file(directory + "/cgroup.events");
  return !events || events->find("populated 0") != std::string::npos;
}

// A v1 group lists zombies too until they are reaped; those are not alive.
bool freezer_empty(const Roots& roots, const std::string& directory) {
  const auto pids = listed_pids(directory + "/cgroup.procs");
  if (pids.empty()) return true;
  const auto alive = live_parents(roots);
  return std::none_of(pids.begin(), pids.end(), [&](pid_t pid) { return alive.count(pid) > 0; });
}

void kill_listed(const std::string& directory) {
  for (const pid_t pid : listed_pids(directory + "/cgroup.procs")) ::kill(pid, SIGKILL);
}

void kill_cgroup2(const std::string& directory) {
  write_small_file(directory + "/cgroup.kill", "1");  // absent before Linux 5.14; the caller repeats until it is empty
  // It reaches no process whose first thread has ended (seen on Linux 6.18): the signal goes to that thread.
  kill_listed(directory);
}

void kill_freezer(const std::string& directory) {
  write_small_file(directory + "/freezer.state", "FROZEN");
  kill_listed(directory);
  write_small_file(directory + "/freezer.state", "THAWED");
}

// "stab-trial-123-4" -> 123
pid_t owner(std::string_view group) {
  if (group.substr(0, kPrefix.size()) != kPrefix) return -1;
  group.remove_prefix(kPrefix.size());
  pid_t pid = -1;
  std::from_chars(group.data(), group.data() + group.size(), pid);
  return pid;
}

std::string make_group(const std::string& parent) {
  static std::atomic<int> serial{0};
  if (parent.empty()) return {};
  remove_dead_trees(parent);
  const std::string directory =
      parent + "/" + std::string(kPrefix) + std::to_string(::getpid()) + "-" + std::to_string(serial++);
  if (::mkdir(directory.c_str(), 0755) != 0) return {};
  return directory;
}

}  // namespace

std::string_view name(TreeKind kind) {
  switch (kind) {
    case TreeKind::kCgroup2: return "cgroup v2";
    case TreeKind::kFreezer: return "cgroup v1 freezer";
    case TreeKind::kAncestry: return "ancestry";
  }
  return "?";
}

std::string own_cgroup(const Roots& roots, std::string_view controller) {
  const auto mounts = read_small_file(roots.proc + "/self/mounts");
  const auto groups = read_small_file(roots.proc + "/self/cgroup");
  if (!mounts || !groups) return {};

  std::string mount;
  std::istringstream mount_lines(*mounts);
  for (std::string line; std::getline(mount_lines, line) && mount.empty();) {
    std::istringstream words(line);
    std::string device, where, type, options;
    words >> device >> where >> type >> options;
    if (controller.empty() ? type != "cgroup2" : type != "cgroup") continue;
    const std::string listed = "," + options + ",";
    if (controller.empty() || listed.find("," + std::string(controller) + ",") != std::string::npos) mount = where;
  }
  if (mount.empty()) return {};

  std::istringstream group_lines(*groups);
  for (std::string line; std::getline(group_lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string listed = "," + line.substr(first + 1, second - first - 1) + ",";
    if (listed != "," + std::string(controller) + ",") continue;
    const std::string path = line.substr(second + 1);
    return path == "/" ? mount : mount + path;
  }
  return {};
}

void remove_dead_trees(const std::string& parent) {
  for (const std::string& entry : entries(parent)) {
    const pid_t pid = owner(entry);
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    const std::string directory = parent + "/" + entry;
    // Those who run here are orphans; init reaps them. Give them 1 s.
    for (int tries = 0; tries < 1000 && ::rmdir(directory.c_str()) != 0 && errno == EBUSY; ++tries) {
      ::access((directory + "/freezer.state").c_str(), F_OK) == 0 ? kill_freezer(directory) : kill_cgroup2(directory);
      ::poll(nullptr, 0, kRetry.count());
    }
  }
}

std::map<pid_t, pid_t> live_parents(const Roots& roots) {
  std::map<pid_t, pid_t> parents;
  for (const std::string& entry : entries(roots.proc)) {
    const auto pid = to_integer(entry);
    if (!pid) continue;
    const auto stat = read_small_file(roots.proc + "/" + entry + "/stat");
    if (!stat) continue;
    // "pid (comm) state ppid ...": comm may hold anything, so count from the last parenthesis.
    const size_t comm_end = stat->rfind(')');
    if (comm_end == std::string::npos) continue;
    std::istringstream rest(stat->substr(comm_end + 1));
    char state = 0;
    pid_t parent = 0;
    if (!(rest >> state >> parent)) continue;
    // A first thread that has ended is a zombie as long as others of its process live.
    std::string skipped;
    for (int field = 5; field < 20; ++field) rest >> skipped;
    int thread_count = 0;
    rest >> thread_count;
    if ((state == 'Z' || state == 'X') && thread_count <= 1) continue;
    parents[static_cast<pid_t>(*pid)] = parent;
  }
  return parents;
}

std::vector<pid_t> descendants(const std::map<pid_t, pid_t>& parents, pid_t root,
                               const std::vector<pid_t>& spared) {
  const auto belongs = [&](pid_t pid) {
    // A chain longer than the map would be a cycle, which a snapshot taken while processes die may show.
    for (size_t steps = 0; steps <= parents.size(); ++steps) {
      if (std::find(spared.begin(), spared.end(), pid) != spared.end()) return false;
      const auto at = parents.find(pid);
      if (at == parents.end()) return false;
      if (at->second == root) return true;
      pid = at->second;
    }
    return false;
  };
  std::vector<pid_t> members;
  for (const auto& [pid, parent] : parents)
    if (belongs(pid)) members.push_back(pid);
  return members;
}

ProcessTree::ProcessTree(Roots roots, TreeKind kind, std::string directory)
    : roots_(std::move(roots)), kind_(kind), directory_(std::move(directory)) {}

ProcessTree::ProcessTree(ProcessTree&& other) noexcept
    : roots_(std::move(other.roots_)),
      kind_(other.kind_),
      directory_(std::exchange(other.directory_, {})),
      spared_(std::move(other.spared_)) {}

ProcessTree::~ProcessTree() {
  if (directory_.empty()) return;
  (void)kill_all(milliseconds(1000));
  ::rmdir(directory_.c_str());
}

Result<ProcessTree> ProcessTree::create(const Roots& roots, TreeKind wanted, const std::string& parent) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return system_error("become a subreaper", errno);
  if (wanted == TreeKind::kCgroup2) {
    std::string directory = make_group(parent.empty() ? own_cgroup(roots, "") : parent);
    if (!directory.empty()) return ProcessTree(roots, TreeKind::kCgroup2, std::move(directory));
  }
  if (wanted != TreeKind::kAncestry) {
    std::string directory = make_group(own_cgroup(roots, "freezer"));
    if (!directory.empty()) return ProcessTree(roots, TreeKind::kFreezer, std::move(directory));
  }
  return ProcessTree(roots, TreeKind::kAncestry, {});
}

std::vector<std::string> ProcessTree::procs_files() const {
  if (directory_.empty()) return {};
  return {directory_ + "/cgroup.procs"};
}

bool ProcessTree::empty() const {
  switch (kind_) {
    case TreeKind::kCgroup2: return cgroup2_empty(directory_);
    case TreeKind::kFreezer: return freezer_empty(roots_, directory_);
    case TreeKind::kAncestry: return descendants(live_parents(roots_), ::getpid(), spared_).empty();
  }
  return true;
}

Status ProcessTree::kill_all(milliseconds deadline) {
  const auto give_up = steady_clock::now() + deadline;
  while (!empty()) {
    if (steady_clock::now() > give_up)
      return Error{ErrorCode::kBusy, "a process of the trial is still alive after being killed", {}};
    switch (kind_) {
      case TreeKind::kCgroup2: kill_cgroup2(directory_); break;
      case TreeKind::kFreezer: kill_freezer(directory_); break;
      case TreeKind::kAncestry:
        for (const pid_t pid : descendants(live_parents(roots_), ::getpid(), spared_)) ::kill(pid, SIGKILL);
        break;
    }
    if (empty()) break;
    ::poll(nullptr, 0, static_cast<int>(kRetry.count()));
  }
  return {};
}

}  // namespace stab::engine
