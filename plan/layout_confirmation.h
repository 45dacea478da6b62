// The plan that measures a map's candidates again, in fresh trials: the plan that named them, with a table behind it that says
// which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "runtime/modes.h"

namespace stab::plan {

// The level of code that a layout script places.
inline constexpr char kDesignedCode[] = "design";

// The library of a function that a map names "libfoo.so.1!inflate"; empty: it is the program's own.
std::string library_of(const std::string& function);

// The lines by which a confirmation's plan says what it confirms.
std::string screen_lines(const ScreenKey& key);
// The text of that plan. `screened`: the experiment that named them.
std::string confirmation_text(const Plan& plan, const ScreenKey& screened, const std::vector<MappedBuild>& measured);
// What trials of this workload and build are told: `script`, theirs by the rest of the plan, the functions that [layout] counts
// and those of `counted`, and, in a confirmation, where the places are forced.
std::string mapping_script(const LayoutMapping& layout, const std::string& workload, int build, abi::CodeMode code,
                           const std::vector<std::string>& counted, std::string script);

}  // namespace stab::plan
