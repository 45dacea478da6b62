#include "stabd/daemon/answers/host_answer.h"

#include <nlohmann/json.hpp>

#include "base/json_line.h"
#include "stabd/engine/machine/ledger.h"
#include "stabd/engine/machine/topology.h"
#include "stabd/host/knobs.h"

namespace stab::daemon {

Result<std::string> host_answer() {
  using Json = nlohmann::json;
  const host::Roots roots;
  STAB_TRY(const engine::Topology topology, engine::Topology::discover());
  STAB_TRY(const host::Placement placement, engine::place(topology, "auto", "auto"));
  Json knobs = Json::array(), weather = Json::object();
  for (const host::KnobInfo& info : host::knob_infos()) {
    const std::string name(info.name);
    knobs.push_back({{"knob", name},
                     {"value", host::present_value(name, roots, placement)},
                     {"recommended", info.recommended},
                     {"why", info.why}});
  }
  const engine::HostMoment now = engine::Ledger(roots, placement.trial_cpu).look();
  if (now.load_1min) weather["load_1min"] = *now.load_1min;
  if (now.frequency_khz) weather["frequency_khz"] = *now.frequency_khz;
  if (now.throttle_count) weather["throttle_count"] = *now.throttle_count;
  if (now.steal_ns) weather["steal_ns"] = *now.steal_ns;
  const Json json = {{"knobs", knobs}, {"weather", weather}, {"cpus", placement.why}};
  return json_line(json);
}

}  // namespace stab::daemon
