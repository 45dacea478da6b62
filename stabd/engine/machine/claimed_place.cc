#include "stabd/engine/machine/claimed_place.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace stab::engine {
namespace {

struct Claim {
  UniqueFd lock;
  bool taken = false;  // another has it
};

Claim claim(const host::Roots& roots, int cpu) {
  UniqueFd directory(
      ::open((roots.sys + "/devices/system/cpu/cpu" + std::to_string(cpu)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return {UniqueFd(), errno == EWOULDBLOCK};
  return {std::move(directory), false};
}

Topology without_core_of(const Topology& topology, int cpu) {
  int core = -1;
  for (const ProcessingUnit& unit : topology.units())
    if (unit.cpu == cpu) core = unit.core;
  std::vector<ProcessingUnit> rest;
  for (const ProcessingUnit& unit : topology.units())
    if (unit.core != core) rest.push_back(unit);
  return Topology(std::move(rest));
}

}  // namespace

Result<ClaimedPlace> claim_place(const Topology& topology, const std::string& cpus, const std::string& housekeeping,
                                 const host::Roots& roots) {
  STAB_TRY(const host::Placement first, place(topology, cpus, housekeeping));
  if (first.trial_cpu < 0) return ClaimedPlace{first, {}, {}};
  Topology left = topology;
  for (host::Placement now = first;;) {
    Claim claimed = claim(roots, now.trial_cpu);
    if (!claimed.taken) return ClaimedPlace{now, std::move(claimed.lock), {}};
    left = without_core_of(left, now.trial_cpu);
    if (left.units().empty()) break;
    Result<host::Placement> next = place(left, cpus, housekeeping);
    if (!next || next->trial_cpu == next->housekeeping_cpu || next->housekeeping_cpu != first.housekeeping_cpu) break;
    now = *std::move(next);
  }
  return ClaimedPlace{first,
                      {},
                      "another laboratory's trials run on cpu " + std::to_string(first.trial_cpu) +
                          ", and these allow no other: both measure each other; run one after the other, or name other "
                          "CPUs ([machine] cpus)"};
}

}  // namespace stab::engine
