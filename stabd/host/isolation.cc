// Cgroup v2: a partition. A group with one CPU of its own takes it away from everybody else's effective CPUs; the
// kernel moves them, and gives it back when the group is removed. Trials live in groups below it. Below a service's group
// there can be none, so it stands at the top of the hierarchy then.
//
// Cgroup v1 has no such thing: a second group gets all other CPUs, and whoever is in ours moves there, we too, until
// the trials are over. Groups beside ours may still use the CPU, and before Linux 6.2 a process that is moved forgets
// the CPUs that it chose itself.
//
// Documentation/admin-guide/cgroup-v2 (Cpuset) and cgroup-v1/cpusets.
#include "stabd/host/isolation.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "stabd/host/delegation.h"
#include "stabd/host/process_tree.h"

namespace stab::host {
namespace {

constexpr char kIsolated[] = "/stab-isolated";
constexpr char kOthers[] = "/stab-others";

// "0-2,5" without 2 -> "0-1,5", as the kernel will say it; empty where nothing is left or the list can't be read.
std::string without(const std::string& list, int cpu) {
  std::vector<long long> rest;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const auto first = to_integer(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : to_integer(part.substr(dash + 1));
    if (!first || !last) return {};
    for (long long at = *first; at <= *last; ++at)
      if (at != cpu) rest.push_back(at);
  }
  std::string text;
  for (size_t i = 0; i < rest.size();) {
    size_t end = i + 1;
    while (end < rest.size() && rest[end] == rest[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(rest[i]);
    if (end - i > 1) text += "-" + std::to_string(rest[end - 1]);
    i = end;
  }
  return text;
}

KnobWrite write(KnobWrite::Kind kind, const std::string& path, const std::string& wanted = "") {
  return {"cpuset", path, wanted, false, kind};
}

// The group that a partition is made in. A partition's parent has to be the root of one (Linux before 6.7 knows no other, and
// later ones want settings of every group above); the hierarchy's root always is, and the group of a service never: so where
// ours is an ordinary member, it is made at the top.
std::string parent_of_partition(const Roots& roots, const std::string& own) {
  const auto kind = read_small_file(own + "/cpuset.cpus.partition");  // the hierarchy's root has none
  return !kind || *kind == "root" || *kind == "isolated" ? own : cgroup_mount(roots, "");
}

Isolation partition(const std::string& base, const std::string& cpu) {
  const std::string group = base + kIsolated;
  Isolation made;
  made.parent_of_trials = group;
  if (!has_word(base + "/cgroup.subtree_control", "cpuset"))
    made.writes.push_back(write(KnobWrite::Kind::kController, base + "/cgroup.subtree_control", "cpuset"));
  made.writes.push_back(write(KnobWrite::Kind::kDirectory, group));
  made.writes.push_back(write(KnobWrite::Kind::kInside, group + "/cpuset.cpus", cpu));
  made.writes.push_back(write(KnobWrite::Kind::kInside, group + "/cpuset.cpus.partition", "isolated"));
  return made;
}

Result<Isolation> two_groups(const std::string& base, int cpu) {
  const std::string group = base + kIsolated, others = base + kOthers;
  const std::string rest = without(read_small_file(base + "/cpuset.cpus").value_or(""), cpu);
  const std::string memory = read_small_file(base + "/cpuset.mems").value_or("");
  if (rest.empty() || memory.empty())
    return Error{ErrorCode::kUnavailable, "knob cpuset: '" + base + "' has no cpu but the trial's", {}};
  Isolation made;
  made.procs_file = group + "/cgroup.procs";
  for (const auto& [directory, cpus] : {std::pair(group, std::to_string(cpu)), std::pair(others, rest)}) {
    made.writes.push_back(write(KnobWrite::Kind::kDirectory, directory));
    made.writes.push_back(write(KnobWrite::Kind::kInside, directory + "/cpuset.cpus", cpus));
    made.writes.push_back(write(KnobWrite::Kind::kInside, directory + "/cpuset.mems", memory));
  }
  made.writes.push_back(write(KnobWrite::Kind::kMembers, others + "/cgroup.procs", base + "/cgroup.procs"));
  return made;
}

}  // namespace

Result<Isolation> isolation_of(const Roots& roots, const Placement& placement) {
  if (placement.trial_cpu < 0 || placement.housekeeping_cpu < 0 || placement.trial_cpu == placement.housekeeping_cpu)
    return Error{ErrorCode::kUnavailable, "knob cpuset: there is no other cpu for all other programs", {}};
  const std::string unified = own_cgroup(roots, "");
  if (!unified.empty() && has_word(unified + "/cgroup.controllers", "cpuset"))
    return partition(parent_of_partition(roots, unified), std::to_string(placement.trial_cpu));
  const std::string old = own_cgroup(roots, "cpuset");
  if (!old.empty()) return two_groups(old, placement.trial_cpu);
  return Error{ErrorCode::kUnavailable,
               "knob cpuset: our cgroup has no cpuset controller; run as a systemd service with Delegate=cpuset, or boot with "
               "isolcpus=", {}};
}

}  // namespace stab::host
