// The parts parse_plan is made of, one a TOML table, in the order they must run: programs know the factors,
// responses know the counters.
#pragma once

#include <set>
#include <string>

#include "plan/parse.h"
#include "plan/plan.h"
#include "plan/toml/section.h"
#include "plan/toml/toml_reader.h"

namespace stab::plan {

void parse_factors(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
void parse_counters(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
// The keys simulate, cache and cost of [counters].
void parse_simulation(toml::Section& counters, Plan& plan);
// What a simulated experiment can't have, of the whole plan.
void check_simulation(toml::Faults& faults, const Plan& plan);
// What a program with preload_heap can't have, of the whole plan.
void check_preloaded(toml::Faults& faults, const Plan& plan);
void parse_stopping(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
// After counters and stopping. `tree` is the whole plan.
void parse_experiment(const toml::TomlNode& table, const toml::TomlNode& tree, toml::Faults& faults, Plan& plan);
void parse_analysis(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
void parse_exclusions(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
void parse_machine(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
// After experiment and stopping.
void parse_machines(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
void parse_causal(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
bool parse_load_level(const toml::TomlNode& node, toml::Faults& faults, Level& level);
// What a plan with the factor load needs and can't have, of the whole plan; `causal_spot` is that of [causal].
void check_load(toml::Faults& faults, const Plan& plan, const SourceSpot& causal_spot);
// What a causal experiment can't have, of the whole plan; `spot` is its table's.
void check_causal(toml::Faults& faults, const Plan& plan, const SourceSpot& spot);
void parse_limits(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
// After factors, experiment and machines.
void parse_layout(const toml::TomlNode& table, toml::Faults& faults, Plan& plan);
// After factors. `used` collects the factors that placeholders name.
void parse_programs(const toml::TomlNode& array, const FileLookup* files, toml::Faults& faults, Plan& plan,
                    std::set<std::string>& used);

// The tables expect and metrics of a program or a workload.
void parse_expect(const toml::TomlNode& table, toml::Faults& faults, Expect& expect);
void parse_metrics(const toml::TomlNode& table, toml::Faults& faults, std::optional<Metrics>& out);

// Notes a fault where `count` entries are more than a plan may have.
bool too_many(toml::Faults& faults, const SourceSpot& spot, std::string_view what, size_t count, size_t most);

// Whether names, as below, may have it.
bool fits_a_name(char c);

// Names of experiments, programs, workloads and families become parts of paths and words of commands: letters, digits and . _ + -
// only, not starting with a dot or a hyphen, at most 100. Notes a fault otherwise; what was accepted once may have the hyphen.
bool check_name(toml::Faults& faults, const SourceSpot& spot, std::string_view what, const std::string& name);

}  // namespace stab::plan
