// Layout scripts of a plan (docs/reference/layout-script.md): what each trial's helper is told of single functions.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"
#include "plan/toml/section.h"
#include "runtime/modes.h"

namespace stab::plan {

// A progress point that is a function, whose calls are counted by the images of its code: "function:NAME".
inline constexpr std::string_view kFunctionPrefix = "function:";
// The function's name; empty: the point is the program's own.
std::string_view counted_function(std::string_view point);

// What a program's trials with this level of code are told: its layout_script, without the lines that the level can't obey, and a
// line for each function whose throughput is a response. Empty: nothing.
std::string script_of_trial(const Plan& plan, const Program& program, abi::CodeMode code);

// Scripts that no program could obey, levels that lack one, functions to be counted in code that stays.
void check_layout_scripts(const Plan& plan, toml::Faults& faults);

}  // namespace stab::plan
