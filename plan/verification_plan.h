// The plan that measures what layout files do: the plan of a map, with a table behind it that has the files. Its programs are
// built plainly and with each of them, as they are linked and in random links, and run with code that stays and with code that
// moves.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/toml/section.h"

namespace stab::plan {

// The treatment that the plan gets, and its first level.
inline constexpr char kArmFactor[] = "layout-file", kPlainArm[] = "plain";
inline constexpr int kMostVerifiedLinks = 100, kMostVerifiedRuns = 1000, kMostDraws = 1000;
inline constexpr size_t kMostArms = 8;

// The text of that plan. `screened`: its name.
std::string verification_text(const Plan& plan, std::string_view screened, const LayoutVerification& verification);

// [layout.verification]; what it makes of factors, links and responses. pre: factors, experiment and counters are parsed
void parse_verification(toml::Section& layout, Plan& plan);
// What plans that the engine writes behind others have in common: all cells in each of so many blocks, and nothing else that the
// plan does.
void compare_in_blocks(Plan& plan, int replicates);
// Leaves the workload that is verified, or of which a trial is replayed. pre: programs are parsed
void keep_one_workload(Plan& plan, toml::Faults& faults);

}  // namespace stab::plan
