// Model formulas: "a*b + c", as far as fixed effects of factors go.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/statistics/models/linear_model.h"
#include "base/result.h"

namespace stab::commands {

// Terms in R's order (lower orders first, then as written). `a*b` is a + b + a:b; `+` adds, `:` is the
// interaction alone. Names are those of the factors. Refuses unknown names and syntax errors.
Result<std::vector<statistics::TermMask>> parse_formula(std::string_view formula, const statistics::FactorCodes& factors);

}  // namespace stab::commands
