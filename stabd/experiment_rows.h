// An experiment as `status` and `watch` tell of it (docs/protocol.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

#include "store/store.h"

namespace stab::engine {

nlohmann::json row_json(const store::ExperimentSummary& row, const store::Progress& progress, bool running, int64_t machine_ns);
// Adds when each of them that waits or runs will be over, were there nobody else's between. rows: an array of row_json()'s
void put_ends(nlohmann::json& rows);

}  // namespace stab::engine
