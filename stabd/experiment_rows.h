// An experiment as `status` and `watch` tell of it (docs/protocol.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>

#include "base/result.h"
#include "engine/machines/slot_status.h"
#include "store/store.h"

namespace stab::engine {

nlohmann::json row_json(const store::ExperimentSummary& row, const store::Progress& progress, bool running, int64_t machine_ns);
// Adds when each of them that waits or runs will be over, were there nobody else's between. rows: an array of row_json()'s
void put_ends(nlohmann::json& rows);
// Of an experiment on machines: its slots. Its blocks come in parallel, so the time that is left is that of its machines.
// signs: when each slot was last heard, by the controller itself
Status put_machines(store::Store& store, DealtBlocks& dealt, store::Id experiment, const std::map<int, int64_t>& signs,
                    int64_t now_ns, nlohmann::json& row);

}  // namespace stab::engine
