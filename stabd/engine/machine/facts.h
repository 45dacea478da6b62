// Facts: what this machine is, for whoever reads an experiment later.
#pragma once

#include <map>
#include <string>

#include "stabd/host/roots.h"

namespace stab::engine {

// "cpu.model", "kernel.release", ...; what the machine does not tell is left out.
std::map<std::string, std::string> host_facts(const host::Roots& roots);

}  // namespace stab::engine
