// The plan that measures a map's candidates again, in fresh trials: the plan that named them, with a table behind it that says which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace stab::plan {

// The level of code that a layout script places.
inline constexpr char kDesignedCode[] = "shuffle";

// The text of that plan. `screened`: the number of the experiment that named them.
std::string confirmation_text(const Plan& plan, int64_t screened, const std::vector<MappedBuild>& measured);
// Whether `text` fits `pattern`, in which % stands for any characters, none included.
bool is_like(std::string_view text, std::string_view pattern);

}  // namespace stab::plan
