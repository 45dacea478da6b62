// hwloc names cores, hardware threads and NUMA nodes; the choice itself is arithmetic on its answer. Two
// hardware threads of one core share everything that a trial is measured by, so the housekeeper never sits on
// the trial's sibling if there is another core.
#include "stabd/engine/machine/topology.h"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace stab::engine {
namespace {

class HwlocTopology {
 public:
  HwlocTopology() { hwloc_topology_init(&topology_); }
  ~HwlocTopology() { hwloc_topology_destroy(topology_); }
  HwlocTopology(const HwlocTopology&) = delete;
  HwlocTopology& operator=(const HwlocTopology&) = delete;
  hwloc_topology_t get() const { return topology_; }

 private:
  hwloc_topology_t topology_{};
};

// The affinity before main: threads of ours are pinned later. Empty where the kernel has more CPUs than the mask holds.
cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}
const cpu_set_t kStartedWith = affinity();

bool was_allowed(const ProcessingUnit& unit) {
  return CPU_COUNT(&kStartedWith) == 0 || (unit.cpu < CPU_SETSIZE && CPU_ISSET(static_cast<size_t>(unit.cpu), &kStartedWith));
}

int numa_of(hwloc_topology_t topology, hwloc_obj_t unit) {
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));)
    if (hwloc_bitmap_isincluded(unit->cpuset, node->cpuset)) return static_cast<int>(node->logical_index);
  return 0;
}

int package_of(hwloc_topology_t topology, hwloc_obj_t unit) {
  const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, unit);
  return package ? static_cast<int>(package->logical_index) : 0;
}

Result<Topology> load(const HwlocTopology& hwloc) {
  if (hwloc_topology_load(hwloc.get()) != 0)
    return Error{ErrorCode::kSystem, "hwloc can't read this machine's topology", {}};
  std::vector<ProcessingUnit> units;
  for (hwloc_obj_t unit = nullptr; (unit = hwloc_get_next_obj_by_type(hwloc.get(), HWLOC_OBJ_PU, unit));) {
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(hwloc.get(), HWLOC_OBJ_CORE, unit);
    units.push_back({static_cast<int>(unit->os_index),
                     static_cast<int>(core ? core->logical_index : unit->logical_index),
                     numa_of(hwloc.get(), unit), package_of(hwloc.get(), unit)});
  }
  std::sort(units.begin(), units.end(), [](const auto& a, const auto& b) { return a.cpu < b.cpu; });
  if (units.empty()) return Error{ErrorCode::kUnavailable, "hwloc finds no processing unit", {}};
  return Topology(std::move(units));
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

// "2-3,5" -> kernel CPU numbers
std::optional<std::set<int>> cpu_list(std::string_view text) {
  std::set<int> cpus;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const size_t dash = item.find('-');
    const auto first = number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(item.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first > 4096) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (cpus.empty()) return {};
  return cpus;
}

// The units that words such as "core:1" name.
Result<std::vector<ProcessingUnit>> named(const Topology& topology, const std::string& words) {
  const size_t colon = words.find(':');
  const std::string kind = colon == std::string::npos ? "pu" : words.substr(0, colon);
  const auto wanted = cpu_list(std::string_view(words).substr(colon == std::string::npos ? 0 : colon + 1));
  if (!wanted || (kind != "pu" && kind != "core" && kind != "numa" && kind != "package"))
    return bad_input("cpus '" + words + "': expected auto, none, a list such as 2-3, pu:N, core:N, numa:N or package:N");
  std::vector<ProcessingUnit> units;
  for (const ProcessingUnit& unit : topology.units()) {
    const int key = kind == "pu" ? unit.cpu : kind == "core" ? unit.core : kind == "numa" ? unit.numa : unit.package;
    if (wanted->count(key)) units.push_back(unit);
  }
  if (units.empty())
    return Error{ErrorCode::kUnavailable, "cpus '" + words + "': this process may use none of these CPUs; see 'taskset -p'", {}};
  return units;
}


// First unit of the last core other than `avoid`'s; a sibling of it, or the unit itself, where nothing else is.
ProcessingUnit away_from(const Topology& topology, const ProcessingUnit& avoid, bool from_the_end) {
  std::vector<ProcessingUnit> units = topology.units();
  std::stable_sort(units.begin(), units.end(), [&](const auto& a, const auto& b) {
    return from_the_end ? a.core > b.core : a.core < b.core;
  });
  for (const ProcessingUnit& unit : units)
    if (unit.core != avoid.core) return unit;
  for (const ProcessingUnit& unit : units)
    if (unit.cpu != avoid.cpu) return unit;
  return avoid;
}

std::string explain(const ProcessingUnit& trial, const ProcessingUnit& house) {
  std::string text = "trials on cpu " + std::to_string(trial.cpu) + " (core " + std::to_string(trial.core) +
                     "), everything else of ours on cpu " + std::to_string(house.cpu) + " (core " +
                     std::to_string(house.core) + ")";
  if (trial.cpu == house.cpu) return text + ": there is only one, so helper and engine disturb the trial";
  if (trial.core == house.core) return text + ": two threads of one core, which share its caches and units";
  return text;
}

}  // namespace

Result<Topology> Topology::discover() {
  HwlocTopology hwloc;
  STAB_TRY(const Topology machine, load(hwloc));
  std::vector<ProcessingUnit> units;
  for (const ProcessingUnit& unit : machine.units())
    if (was_allowed(unit)) units.push_back(unit);
  return Topology(units.empty() ? machine.units() : units);
}

Result<Topology> Topology::synthetic(const std::string& description) {
  HwlocTopology hwloc;
  if (hwloc_topology_set_synthetic(hwloc.get(), description.c_str()) != 0)
    return bad_input("hwloc can't read the topology '" + description + "'");
  return load(hwloc);
}

Result<host::Placement> place(const Topology& topology, const std::string& cpus, const std::string& housekeeping) {
  if (cpus == "none") return host::Placement{-1, -1, "trials are not pinned, as the plan asks"};
  std::optional<ProcessingUnit> trial, house;
  if (cpus != "auto") {
    STAB_TRY(const auto units, named(topology, cpus));
    trial = units.back();
  }
  if (housekeeping != "auto" && housekeeping != "none") {
    STAB_TRY(const auto units, named(topology, housekeeping));
    house = units.front();
  }
  if (!trial && !house) house = topology.units().front();
  if (!trial) trial = away_from(topology, *house, true);
  if (!house) house = away_from(topology, *trial, false);
  host::Placement placement{trial->cpu, house->cpu, explain(*trial, *house)};
  if (housekeeping == "none") {
    placement.housekeeping_cpu = -1;
    placement.why = "trials on cpu " + std::to_string(trial->cpu) + ", everything else where the kernel likes";
  }
  return placement;
}

}  // namespace stab::engine
