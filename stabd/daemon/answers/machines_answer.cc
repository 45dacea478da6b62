#include "stabd/daemon/answers/machines_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_line.h"
#include "base/printable.h"

namespace stab::daemon {

Result<std::optional<MachinesAnswer>> machines_answer(store::Store& store, engine::DealtBlocks& dealt, store::Id experiment,
                                                      const std::map<int, int64_t>& signs, int64_t now_ns) {
  using Json = nlohmann::json;
  STAB_TRY(const std::optional<engine::MachinesStatus> status, engine::machines_status(store, dealt, experiment, signs, now_ns));
  if (!status) return std::optional<MachinesAnswer>();
  Json slots = Json::array();
  for (const engine::SlotStatus& slot : status->slots) {
    Json one = {
        {"slot", slot.slot}, {"epoch", slot.epoch}, {"blocks", slot.blocks}, {"done", slot.done}, {"losses", slot.losses}};
    one["state"] = slot.epoch == 0 ? "waits" : store::name(slot.state);
    // A worker says what its machine is called, and an engine why it failed.
    if (!slot.host.empty()) one["host"] = printable(slot.host);
    if (!slot.machine.empty()) one["machine"] = printable(slot.machine);
    if (!slot.why.empty()) one["why"] = printable(slot.why);
    if (slot.preflight_passed + slot.preflight_failed > 0)
      one["preflight"] = {{"passed", slot.preflight_passed}, {"failed", slot.preflight_failed}};
    if (slot.sign_at_ns) one["heard_ns"] = std::max<int64_t>(now_ns - *slot.sign_at_ns, 0);
    slots.push_back(std::move(one));
  }
  return std::optional(MachinesAnswer{json_line(slots), status->left_ns});
}

}  // namespace stab::daemon
