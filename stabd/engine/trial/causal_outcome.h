// What a causal trial's area says, as the store keeps it.
#pragma once

#include <string>

#include "stabd/engine/trial/area_file.h"
#include "store/causal_records.h"

namespace stab::engine {

// Why a causal trial can't count; empty: it can.
std::string why_not_causal(const CausalRecord& record, bool is_load = false);

// pre: why_not_causal() is empty
store::CausalRun run_of(const CausalRecord& record, const CausalScript& script);

}  // namespace stab::engine
