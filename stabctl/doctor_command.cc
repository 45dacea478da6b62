// doctor: what this machine gives to trials, and where to get the rest.
#include <cstdio>

#include "counters/events.h"
#include "stabctl/commands.h"
#include "stabd/host/topology.h"
#include "stabd/installation.h"
#include "stabd/process_tree.h"

namespace stab::ctl {
namespace {

void line(const char* what, const std::string& value) { std::printf("%-16s %s\n", what, printable(value).c_str()); }

}  // namespace

int doctor_command(const Arguments&) {
  bool well = true;
  const auto installation = engine::find_installation();
  line("installation", installation ? installation->launcher : installation.error().message);
  well = well && installation.ok();
  const auto topology = engine::Topology::discover();
  const auto placement = topology ? engine::place(*topology, "auto", "auto") : Result<engine::Placement>(topology.error());
  line("cpus", placement ? placement->why : placement.error().message);
  const auto tree = engine::ProcessTree::create(engine::Roots());
  line("process trees", tree ? std::string(engine::name(tree->kind())) : tree.error().message);
  const auto specs = counters::resolve({"cycles", "instructions", "task-clock", "page-faults"});
  if (specs)
    for (const counters::EventSpec& spec : *specs) line(spec.name.c_str(), spec.available ? "available" : spec.reason);
  return well ? kExitDone : kExitFailed;
}

}  // namespace stab::ctl
