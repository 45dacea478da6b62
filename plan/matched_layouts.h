// Matched layouts: whether the cells of a block draw one layout, as far as their programs have the same functions
// (runtime/code/match_table.h), and what their helpers are told then.
#pragma once

#include <string>

#include "plan/design.h"
#include "plan/plan.h"
#include "plan/toml/section.h"

namespace stab::plan {

// Where a plan doesn't say, layouts are matched where builds or arguments are compared and something is randomized.
// pre: factors and experiment are parsed, [layout] isn't: a replay's plan is settled by the factors of the trial's. `version`:
// of the schedule (kScheduleVersion, or the stored one's)
void settle_layouts(Plan& plan, int version);
// Plans whose layouts can't be matched; what they don't say is taken back. pre: everything is parsed
void check_layouts(Plan& plan, toml::Faults& faults);

// Whether this level of code is placed by a match table: its functions lie in an order that is drawn.
bool is_placed_by_table(abi::CodeMode code);

// What trials of this cell are told: `script`, theirs by the rest of the plan, and the line that matches them. `table`: the
// line that names their program's match table; empty: there is none. pre: the plan's layouts are matched
std::string matched_script(const Layout& layout, const std::string& table, std::string script);

}  // namespace stab::plan
