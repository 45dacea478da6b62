// What a CI service shows of a gate: Markdown for a summary or a comment, and test cases.
#pragma once

#include <string>

#include "analysis/commands/gate/gate_judged.h"

namespace stab::commands {

std::string gate_markdown(const report::Report& report, const JudgedGate& judged, const GateFacts& facts);
std::string gate_junit(const report::Report& report, const JudgedGate& judged, const GateFacts& facts);

// Of a gate that has judged nothing. `line` is what it says; what a build has printed may stand below it.
std::string gate_markdown_of(const std::string& line);

}  // namespace stab::commands
