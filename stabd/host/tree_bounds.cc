// Only what bounds a whole tree counts here. A limit of a process (setrlimit) is another thing: RLIMIT_AS counts addresses,
// of which sanitizers and garbage collectors reserve terabytes, and each child has as many again; RLIMIT_NPROC counts all
// processes of the user. So where there is no controller nothing is put in its place, and why_no_*() says so.
//
// A trial that may use so much memory may not use swap for more: what it then measures is the disk. In version 2 the kernel
// kills all of a tree at once (memory.oom.group), so nothing waits for a child that is gone.
//
// Documentation/admin-guide/cgroup-v2 (Memory, PID), cgroup-v1/memory and cgroup-v1/pids.
#include "stabd/host/tree_bounds.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "stabd/host/process_tree.h"

namespace stab::host {
namespace {

constexpr char kMemory[] = "memory", kPids[] = "pids";
// Version 1 has one limit of memory and one of memory and swap, and counts only who met the first (seen on Linux 6.18), so
// that must be the lower one.
constexpr uint64_t kSwapV1 = 1u << 20;

UniqueFd open_events(const std::string& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

// Of "key value" lines; an empty key: of a file that is a number. 0 where it isn't there.
uint64_t count_in(const UniqueFd& file, std::string_view key) {
  char buffer[1024];
  const ssize_t got = file ? ::pread(file.get(), buffer, sizeof buffer, 0) : 0;
  std::string_view text(buffer, got > 0 ? static_cast<size_t>(got) : 0);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!key.empty() && (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ')) continue;
    const auto value = to_integer(line.substr(key.empty() ? 0 : key.size() + 1));
    return value && *value > 0 ? static_cast<uint64_t>(*value) : 0;
  }
  return 0;
}

// A counter never goes back.
uint64_t since(uint64_t before, uint64_t now) { return now > before ? now - before : 0; }

Error not_set(const char* what, const std::string& why) {
  return Error{ErrorCode::kUnavailable, std::string(what) + " of trials can't be limited: " + why, {}};
}

}  // namespace

TreeBounds::TreeBounds(const Roots& roots, const std::string& parent, const std::string& group, Delegation& delegation)
    : memory_(find(roots, kMemory, parent, group, delegation)), processes_(find(roots, kPids, parent, group, delegation)) {
  if (memory_.why_not.empty()) {
    memory_.events = open_events(memory_.group + (memory_.is_beside ? "/memory.oom_control" : "/memory.events"));
    if (memory_.is_beside) reached_ = open_events(memory_.group + "/memory.failcnt");
    else (void)write_small_file(memory_.group + "/memory.oom.group", "1");
  }
  if (processes_.why_not.empty()) processes_.events = open_events(processes_.group + "/pids.events");
  seen_ = counts();
}

TreeBounds::~TreeBounds() {
  for (const Controller* controller : {&memory_, &processes_})
    if (controller->is_beside) ::rmdir(controller->group.c_str());
}

TreeBounds::Controller TreeBounds::find(const Roots& roots, const char* name, const std::string& parent, const std::string& group,
                                        Delegation& delegation) {
  Controller found;
  found.group = group;
  found.why_not = group.empty() ? "trials are in no cgroup" : delegation.give(parent, name);
  if (found.why_not.empty()) return found;
  const std::string beside = make_tree_group(own_cgroup(roots, name));
  if (beside.empty()) return found;
  found.group = beside;
  found.is_beside = true;
  found.why_not.clear();
  return found;
}

std::vector<std::string> TreeBounds::procs_files() const {
  std::vector<std::string> files;
  for (const Controller* controller : {&memory_, &processes_})
    if (controller->is_beside) files.push_back(controller->group + "/cgroup.procs");
  return files;
}

Status TreeBounds::set(const TreeLimits& limits) {
  if (limits.memory_bytes != memory_.limit) STAB_CHECK_OK(set_memory(limits.memory_bytes));
  if (limits.processes != processes_.limit) STAB_CHECK_OK(set_processes(limits.processes));
  return {};
}

// In version 1 the limit with swap must not be the lower one at any moment; it is absent where swap isn't counted.
Status TreeBounds::set_memory(uint64_t bytes) {
  if (!memory_.why_not.empty()) return not_set("memory", memory_.why_not);
  const std::string none = memory_.is_beside ? "-1" : "max";
  const std::string wanted = bytes == 0 ? none : std::to_string(bytes);
  const std::string swap = memory_.group + (memory_.is_beside ? "/memory.memsw.limit_in_bytes" : "/memory.swap.max");
  if (memory_.is_beside) (void)write_small_file(swap, none);
  if (!write_small_file(memory_.group + (memory_.is_beside ? "/memory.limit_in_bytes" : "/memory.max"), wanted))
    return not_set("memory", "cgroup '" + memory_.group + "' doesn't take " + wanted);
  (void)write_small_file(swap, bytes == 0 ? none : memory_.is_beside ? std::to_string(bytes + kSwapV1) : "0");
  memory_.limit = bytes;
  return {};
}

Status TreeBounds::set_processes(uint64_t most) {
  if (!processes_.why_not.empty()) return not_set("the number of processes", processes_.why_not);
  const std::string wanted = most == 0 ? "max" : std::to_string(most);
  if (!write_small_file(processes_.group + "/pids.max", wanted))
    return not_set("the number of processes", "cgroup '" + processes_.group + "' doesn't take " + wanted);
  processes_.limit = most;
  return {};
}

TreeBounds::Counts TreeBounds::counts() const {
  return {memory_.is_beside ? count_in(reached_, "") : count_in(memory_.events, "oom"), count_in(memory_.events, "oom_kill"),
          count_in(processes_.events, "max")};
}

LimitHits TreeBounds::take_hits() {
  const Counts now = counts(), before = seen_;
  seen_ = now;
  LimitHits hits;
  const uint64_t kills = since(before.kills, now.kills);
  (since(before.reached, now.reached) > 0 ? hits.memory_kills : hits.outside_kills) = kills;
  hits.refused_processes = since(before.refused, now.refused);
  return hits;
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::pair<uint64_t, const char*> kUnits[] = {
      {uint64_t{1} << 30, " GiB"}, {uint64_t{1} << 20, " MiB"}, {uint64_t{1} << 10, " KiB"}};
  std::string text = std::to_string(bytes) + " bytes";
  for (const auto& [unit, name] : kUnits) {
    if (bytes < unit) continue;
    const uint64_t tenths = bytes / (unit / 10);
    return text + " (" + std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) + name + ")";
  }
  return text;
}

}  // namespace stab::host
