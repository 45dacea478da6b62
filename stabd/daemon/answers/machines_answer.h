// What status and watch answer of the machines that an experiment runs on (docs/reference/protocol.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/engine/results/slot_status.h"
#include "store/store.h"

namespace stab::daemon {

struct MachinesAnswer {
  std::string slots_json;  // "machines" of a row: an array with an object for each slot
  std::optional<int64_t> left_ns;
};

// None: it doesn't run on machines. `signs`: when something was last heard of a slot, as its controller knows.
Result<std::optional<MachinesAnswer>> machines_answer(store::Store& store, engine::DealtBlocks& dealt, store::Id experiment,
                                                      const std::map<int, int64_t>& signs, int64_t now_ns);

}  // namespace stab::daemon
