// A gate's answer for programs that decide: "stab-gate", docs/reference/report-json.md.
#pragma once

#include <string>

#include "analysis/commands/gate/gate_judged.h"

namespace stab::commands {

std::string gate_json(const report::Report& report, const JudgedGate& judged, const GateFacts& facts);

}  // namespace stab::commands
