// What a plan leaves out that only says how: its name, how often, and what everything on is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "plan/toml/section.h"
#include "plan/toml/toml_reader.h"

namespace stab::plan {

// Replicates at which a plan that doesn't say how many may end: those of a gate.
inline constexpr int kUsualLooks[] = {10, 20, 40};

// The level of `epoch` whose length follows from the preflight: some 40 layouts in a run of the shortest trial (epoch_of_run()).
inline constexpr char kEpochByPreflight[] = "auto";
// Until then, and where there is no preflight.
inline constexpr uint64_t kEpochOfPreflightNs = 20'000'000;
// The same as a level, of several machines: each would choose another one.
inline constexpr char kEpochOfMachines[] = "20ms";

// Whether the plan's epochs follow from its preflight.
bool has_epoch_by_preflight(const Plan& plan);
// What can't have them, of the whole plan.
void check_epoch_by_preflight(const toml::TomlNode& tree, const Plan& plan, toml::Faults& faults);
// So long that a run of that length has 40 layouts, of which a late helper leaves the 30 that a verdict wants; from 1 to 500 ms.
std::chrono::nanoseconds epoch_of_run(std::chrono::nanoseconds run);

// The last part of a path as a name that check_name() takes, "lua" of "plans/lua.toml"; empty: it has no such part.
std::string name_of_file(std::string_view path);
// A program's, by its table: of the file that it runs, else of its source, else "program".
std::string name_of_program(const toml::TomlNode& program);

// Of a plan with `randomize = true`: adds code, stack, heap and epoch as factors of one level each. After parse_factors() and
// parse_counters().
void randomize(const toml::TomlNode& tree, toml::Faults& faults, Plan& plan);

// Whether a plan that names neither replicates nor a rule may end at kUsualLooks.
bool takes_usual_looks(const toml::TomlNode& tree, const Plan& plan);

}  // namespace stab::plan
