// Verbs for tests of plans: a small plan from its tables, and the parse that must succeed.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "plan/parse.h"

namespace stab::plan {

// [experiment] and one program, with `tables` between them.
inline std::string small_plan(const std::string& tables, int replicates = 3) {
  return "[experiment]\nname = \"t\"\nseed = 7\nreplicates = " + std::to_string(replicates) + "\n" + tables +
         "\n[[program]]\nname = \"p\"\nrun = [\"p\"]\n";
}

inline Plan parsed(const std::string& text) {
  Parsed result = parse_plan(text, "t.toml");
  EXPECT_TRUE(result.plan.has_value()) << render(result.errors);
  return result.plan ? *std::move(result.plan) : Plan{};
}

inline const Factor& factor(const Plan& plan, const char* name) {
  return plan.factors[static_cast<size_t>(plan.factor_index(name))];
}

inline std::string errors_of(const std::string& text) { return render(parse_plan(text, "t.toml").errors); }
inline std::string warnings_of(const std::string& text) { return render(parse_plan(text, "t.toml").warnings); }

}  // namespace stab::plan
