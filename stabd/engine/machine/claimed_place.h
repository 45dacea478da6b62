// ClaimedPlace: the CPUs of an experiment, of which the trials' is claimed, so that no two laboratories of one machine measure on
// the same.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/machine/topology.h"
#include "stabd/host/placement.h"
#include "stabd/host/roots.h"

namespace stab::engine {

struct ClaimedPlace {
  host::Placement placement;
  UniqueFd claim;      // held as long as trials may run
  std::string shared;  // who else's trials run there; empty: nobody's
};

// As place(); where another laboratory has claimed that CPU, the next one that the words allow, on another core, and where they
// allow none the first one all the same. A claim is a lock on the kernel's directory of the CPU: every user may take one, and
// it ends with its process. Where there is no such directory nothing is claimed.
Result<ClaimedPlace> claim_place(const Topology& topology, const std::string& cpus, const std::string& housekeeping,
                                 const host::Roots& roots);

}  // namespace stab::engine
