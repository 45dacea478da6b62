// The plan that runs the layout of one recorded trial again and again, beside as many trials in fresh layouts of the same cell:
// the plan that the trial is of, with a table behind it that says which layout.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/toml/section.h"

namespace stab::plan {

// The treatment that the plan gets, and the level that is compared with; the other one is replayed_level().
inline constexpr char kReplayFactor[] = "layout", kFreshLevel[] = "fresh";
inline constexpr int kMostReplays = 1000;

std::string replayed_level(const LayoutReplay& replay);  // "trial-91"

// Why the layout of a trial can't be run beside fresh ones, and what that means for whoever wanted it.
struct NoReplay {
  std::string why, hint;
};
std::optional<NoReplay> no_replay_of(const Plan& plan);  // of no trial of the plan
// Why no trial of a cell with these levels can be replayed; one index for each factor of the plan.
std::optional<NoReplay> no_replay_of(const Plan& plan, const std::vector<int>& levels);

// What plans of all replays of this trial have in them, and no others.
std::string replay_lines(const ScreenKey& of, int64_t trial);
// The draw that a text from replay_text has behind these lines, without reading the plan around it; 0 where it has no such lines.
int draw_in(std::string_view plan_text, std::string_view lines);
// The text of that plan. `plan`: the one that the trial is of.
std::string replay_text(const Plan& plan, const LayoutReplay& replay);

// [layout.replay]; what it makes of the plan. pre: factors, experiment, machines and counters are parsed
void parse_replay(toml::Section& layout, Plan& plan);

}  // namespace stab::plan
