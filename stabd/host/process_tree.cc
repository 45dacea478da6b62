// A trial may leave children behind that have left its session and process group. A cgroup holds them all:
// v2 kills it whole (cgroup.kill; what that doesn't reach, one by one), v1 is frozen first, so that nobody forks while we
// kill one by one. Without any cgroup the engine is made subreaper: whatever a trial leaves behind becomes our child, and
// everything below us that is not spared is the trial's.
//
// The cgroup's name holds our pid: an engine that starts later kills what a dead one has left.
#include "stabd/host/process_tree.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/unique_fd.h"
#include "stabd/host/process_stat.h"
#include "stabd/host/roots.h"

namespace stab::host {
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

// A pid means something in its PID namespace only, and containers share a machine's groups.
uint64_t pid_namespace() {
  struct stat info;
  return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

std::string prefix_of_ours() { return std::string(kPrefix) + std::to_string(pid_namespace()) + "-"; }

// "stab-trial-4026531836-123-4" -> 123; -1 for what no process of our namespace has made.
pid_t owner(std::string_view group, std::string_view prefix) {
  if (!group.starts_with(prefix)) return -1;
  group.remove_prefix(prefix.size());
  pid_t pid = -1;
  std::from_chars(group.data(), group.data() + group.size(), pid);
  return pid;
}

}  // namespace

std::string make_tree_group(const std::string& parent) {
  static std::atomic<int> serial{0};
  if (parent.empty()) return {};
  remove_dead_trees(parent);
  // There may be one that an earlier process with our pid has left.
  const std::string prefix = parent + "/" + prefix_of_ours() + std::to_string(::getpid()) + "-";
  for (;;) {
    const std::string directory = prefix + std::to_string(serial++);
    if (::mkdir(directory.c_str(), 0755) == 0) return directory;
    if (errno != EEXIST) return {};
  }
}

std::string_view name(TreeKind kind) {
  switch (kind) {
    case TreeKind::kCgroup2: return "cgroup v2";
    case TreeKind::kFreezer: return "cgroup v1 freezer";
    case TreeKind::kAncestry: return "ancestry";
  }
  return "?";
}

std::string cgroup_mount(const Roots& roots, std::string_view controller) {
  std::istringstream lines(read_small_file(roots.proc + "/self/mounts").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, where, type, options;
    words >> device >> where >> type >> options;
    if (controller.empty() ? type != "cgroup2" : type != "cgroup") continue;
    const std::string listed = "," + options + ",";
    if (controller.empty() || listed.find("," + std::string(controller) + ",") != std::string::npos) return where;
  }
  return {};
}

std::string own_cgroup(const Roots& roots, std::string_view controller) {
  const std::string mount = cgroup_mount(roots, controller);
  const auto groups = read_small_file(roots.proc + "/self/cgroup");
  if (mount.empty() || !groups) return {};

  std::istringstream group_lines(*groups);
  for (std::string line; std::getline(group_lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string listed = "," + line.substr(first + 1, second - first - 1) + ",";
    if (listed != "," + std::string(controller) + ",") continue;
    std::string path = line.substr(second + 1);
    const size_t last = path.rfind('/');
    if (controller.empty() && last != std::string::npos && std::string_view(path).substr(last + 1).starts_with(kAsidePrefix))
      path.resize(std::max<size_t>(last, 1));
    return path == "/" ? mount : mount + path;
  }
  return {};
}

void remove_dead_trees(const std::string& parent) {
  const std::string prefix = prefix_of_ours();
  for (const std::string& entry : entries(parent)) {
    const pid_t pid = owner(entry, prefix);
    if (pid <= 0 || is_alive(pid)) continue;
    const std::string directory = parent + "/" + entry;
    // Those who run here are orphans; init reaps them. Give them 1 s.
    for (int tries = 0; tries < 1000 && ::rmdir(directory.c_str()) != 0 && errno == EBUSY; ++tries) {
      ::access((directory + "/freezer.state").c_str(), F_OK) == 0 ? kill_freezer(directory) : kill_cgroup2(directory);
      ::poll(nullptr, 0, kRetry.count());
    }
  }
}

// glibc 2.36 declares pidfd_open without extern "C".
int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

namespace {

// Nothing of a process that is gone, or a zombie.
std::optional<pid_t> live_parent_of(const Roots& roots, pid_t pid) {
  const auto stat = read_process_stat(roots, pid);
  if (!stat || stat->has_ended()) return {};
  return stat->parent;
}

// Of each of its threads; nothing where the kernel keeps no such list (CONFIG_PROC_CHILDREN).
std::optional<std::vector<pid_t>> children_of(const Roots& roots, pid_t pid) {
  const std::string tasks = roots.proc + "/" + std::to_string(pid) + "/task";
  std::vector<pid_t> children;
  bool is_known = false;
  for (const std::string& thread : entries(tasks)) {
    if (!to_integer(thread)) continue;
    const std::string file = tasks + "/" + thread + "/children";
    is_known = is_known || ::access(file.c_str(), R_OK) == 0;
    for (const pid_t child : listed_pids(file)) children.push_back(child);
  }
  return is_known ? std::optional(children) : std::nullopt;
}

// What lives below us and is not spared, by lists of children: as dear as what is there, not as all that runs on the
// machine. Such a list is whole unless one of them is reaped meanwhile. Ours are reaped by nobody else, so nothing of ours is
// left out; below them something may be, and is ours once its parent has ended. So nothing lives where nothing of ours
// does, and none of ours has left us its children since the list was read. No list: every process is asked for its parent.
std::vector<pid_t> live_below_us(const Roots& roots, const std::vector<pid_t>& spared) {
  auto ours = children_of(roots, ::getpid());
  if (!ours) return descendants(live_parents(roots), ::getpid(), spared);
  for (;;) {
    std::vector<pid_t> found, left = *ours;
    while (!left.empty()) {
      const pid_t pid = left.back();
      left.pop_back();
      if (std::find(spared.begin(), spared.end(), pid) != spared.end() || !live_parent_of(roots, pid)) continue;
      found.push_back(pid);
      for (const pid_t child : children_of(roots, pid).value_or(std::vector<pid_t>())) left.push_back(child);
    }
    const auto again = children_of(roots, ::getpid());
    if (!found.empty() || again == ours) return found;
    ours = again;
    if (!ours) return descendants(live_parents(roots), ::getpid(), spared);
  }
}

}  // namespace

std::map<pid_t, pid_t> live_parents(const Roots& roots) {
  std::map<pid_t, pid_t> parents;
  for (const std::string& entry : entries(roots.proc)) {
    const auto pid = to_integer(entry);
    const auto parent = pid ? live_parent_of(roots, static_cast<pid_t>(*pid)) : std::nullopt;
    if (parent) parents[static_cast<pid_t>(*pid)] = *parent;
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
    : roots_(std::move(roots)), kind_(kind), directory_(std::move(directory)) {
  why_no_memory_ = why_no_processes_ = "this tree is not held so that it can be limited";
}

ProcessTree::ProcessTree(ProcessTree&& other) noexcept
    : roots_(std::move(other.roots_)),
      kind_(other.kind_),
      directory_(std::exchange(other.directory_, {})),
      spared_(std::move(other.spared_)),
      bounds_(std::move(other.bounds_)),
      why_no_memory_(std::move(other.why_no_memory_)),
      why_no_processes_(std::move(other.why_no_processes_)) {}

ProcessTree::~ProcessTree() {
  if (directory_.empty()) return;
  (void)kill_all(milliseconds(1000));
  ::rmdir(directory_.c_str());
}

Result<ProcessTree> ProcessTree::create(const Roots& roots, TreeKind wanted, const std::string& parent, Delegation* delegation) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return system_error("become a subreaper", errno);
  const std::string above = parent.empty() ? own_cgroup(roots, "") : parent;
  ProcessTree tree(roots, TreeKind::kCgroup2, wanted == TreeKind::kCgroup2 ? make_tree_group(above) : std::string());
  const bool is_unified = !tree.directory_.empty();
  if (!is_unified) {
    tree.kind_ = TreeKind::kFreezer;
    if (wanted != TreeKind::kAncestry) tree.directory_ = make_tree_group(own_cgroup(roots, "freezer"));
  }
  if (tree.directory_.empty()) tree.kind_ = TreeKind::kAncestry;
  if (delegation == nullptr) return tree;
  tree.bounds_ = std::make_unique<TreeBounds>(roots, above, is_unified ? tree.directory_ : std::string(), *delegation);
  tree.why_no_memory_ = tree.bounds_->why_no_memory();
  tree.why_no_processes_ = tree.bounds_->why_no_processes();
  return tree;
}

Status ProcessTree::limit(const TreeLimits& limits) {
  if (bounds_) return bounds_->set(limits);
  if (limits == TreeLimits()) return {};
  return Error{ErrorCode::kUnavailable, "trials can't be limited: " + why_no_memory_, {}};
}

LimitHits ProcessTree::take_hits() { return bounds_ ? bounds_->take_hits() : LimitHits(); }

std::vector<std::string> ProcessTree::procs_files() const {
  std::vector<std::string> files = bounds_ ? bounds_->procs_files() : std::vector<std::string>();
  if (!directory_.empty()) files.insert(files.begin(), directory_ + "/cgroup.procs");
  return files;
}

bool ProcessTree::empty() const {
  switch (kind_) {
    case TreeKind::kCgroup2: return cgroup2_empty(directory_);
    case TreeKind::kFreezer: return freezer_empty(roots_, directory_);
    case TreeKind::kAncestry: return live_below_us(roots_, spared_).empty();
  }
  return true;
}

Status ProcessTree::kill_all(milliseconds deadline) {
  const auto give_up = steady_clock::now() + deadline;
  // However long a look at all processes takes, each turn kills before it gives up.
  while (!empty()) {
    switch (kind_) {
      case TreeKind::kCgroup2: kill_cgroup2(directory_); break;
      case TreeKind::kFreezer: kill_freezer(directory_); break;
      case TreeKind::kAncestry:
        for (const pid_t pid : live_below_us(roots_, spared_)) ::kill(pid, SIGKILL);
        break;
    }
    if (empty()) break;
    if (steady_clock::now() > give_up)
      return Error{ErrorCode::kBusy, "a process of the trial is still alive after being killed", {}};
    ::poll(nullptr, 0, static_cast<int>(kRetry.count()));
  }
  return {};
}

}  // namespace stab::host
