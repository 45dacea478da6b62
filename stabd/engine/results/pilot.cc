// A pilot speaks for a plan where it ran the plan's cells: spread is a matter of program, treatment and layout factor,
// so whatever doesn't match is refused with what to run, not guessed.
#include "stabd/engine/results/pilot.h"

#include <algorithm>
#include <map>
#include <set>

#include "plan/design.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::engine {
namespace {

template <typename Items, typename Name>
std::string list(const Items& items, const Name& name) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ", ") + name(item);
  return out;
}

Status take_response(const plan::Plan& plan, report::Samples& samples) {
  const std::string wanted = plan.experiment.responses.empty() ? "wall_time" : plan.experiment.responses[0].name;
  const auto found = std::find_if(samples.responses.begin(), samples.responses.end(),
                                  [&](const report::Response& response) { return response.name == wanted; });
  if (found == samples.responses.end())
    return bad_input("the pilot '" + samples.experiment + "' didn't measure " + wanted + ", the plan's response; it has " +
                     list(samples.responses, [](const auto& response) { return response.name; }));
  const auto index = found - samples.responses.begin();
  report::Response response = *found;
  response.margin = plan.experiment.margin;
  response.declared = true;
  samples.responses = {std::move(response)};
  for (report::Trial& trial : samples.trials) trial.values = {trial.values[static_cast<size_t>(index)]};
  samples.alpha = plan.experiment.alpha;
  return {};
}

// The pilot's levels in the plan's order; trials of others are left out.
Status take_levels(const plan::Factor& wanted, size_t index, report::Samples& samples) {
  report::Factor& factor = samples.factors[index];
  std::vector<int> becomes(factor.levels.size(), -1);
  std::vector<std::string> names;
  for (const plan::Level& level : wanted.levels) {
    const auto at = std::find(factor.levels.begin(), factor.levels.end(), level.name);
    if (at == factor.levels.end())
      return bad_input("the pilot '" + samples.experiment + "' has no " + factor.name + "=" + level.name + "; it has " +
                       list(factor.levels, [](const std::string& name) { return name; }) +
                       ": run the plan with a few replicates, and take that as the pilot");
    becomes[static_cast<size_t>(at - factor.levels.begin())] = static_cast<int>(names.size());
    names.push_back(level.name);
  }
  std::erase_if(samples.trials, [&](const report::Trial& trial) { return becomes[trial.levels[index]] < 0; });
  for (report::Trial& trial : samples.trials)
    trial.levels[index] = static_cast<uint16_t>(becomes[trial.levels[index]]);
  factor.levels = std::move(names);
  factor.baseline = 0;
  return {};
}

Status take_factors(const plan::Plan& plan, report::Samples& samples) {
  for (const plan::Factor& wanted : plan.factors) {
    const auto found = std::find_if(samples.factors.begin(), samples.factors.end(),
                                    [&](const report::Factor& factor) { return factor.name == wanted.name; });
    if (found == samples.factors.end())
      return bad_input(
          "the pilot '" + samples.experiment + "' has no factor '" + wanted.name + "'; it has " +
          (samples.factors.empty() ? "none" : list(samples.factors, [](const auto& factor) { return factor.name; })) +
          ": run the plan with a few replicates, and take that as the pilot");
    STAB_CHECK_OK(take_levels(wanted, static_cast<size_t>(found - samples.factors.begin()), samples));
  }
  for (const report::Factor& factor : samples.factors) {
    if (factor.levels.size() < 2 || plan.factor_index(factor.name) >= 0) continue;
    return bad_input("the pilot '" + samples.experiment + "' varies '" + factor.name +
                     "', which the plan doesn't name: its spread is that of other cells");
  }
  return {};
}

// The pilot's trials of the cells that the plan runs: a fraction's contrasts are taken from fewer of them.
Status take_cells(const plan::Plan& plan, report::Samples& samples) {
  STAB_TRY(const plan::Design design, plan::make_design(plan));
  std::map<std::vector<uint16_t>, std::string> wanted;  // names of cells by their levels in the pilot's order of factors
  for (const plan::Cell& cell : design.cells) {
    std::vector<uint16_t> levels;
    for (const report::Factor& factor : samples.factors) {
      const int index = plan.factor_index(factor.name);
      levels.push_back(index < 0 ? 0 : static_cast<uint16_t>(cell.levels[static_cast<size_t>(index)]));
    }
    wanted.emplace(std::move(levels), cell.name);
  }
  std::erase_if(samples.trials, [&](const report::Trial& trial) { return !wanted.contains(trial.levels); });
  std::set<std::vector<uint16_t>> ran;
  for (const report::Trial& trial : samples.trials) ran.insert(trial.levels);
  for (const auto& [levels, name] : wanted)
    if (!ran.contains(levels))
      return bad_input("the pilot '" + samples.experiment + "' didn't run the plan's cell " + name +
                       ": run the plan with a few replicates, and take that as the pilot");
  return {};
}

Status take_programs(const plan::Plan& plan, report::Samples& samples, std::vector<std::string>& unknown) {
  std::vector<int> becomes(samples.workloads.size(), -1);
  std::vector<std::string> names, programs;
  for (const plan::Subject& subject : plan::subjects(plan)) {
    const auto at = std::find(samples.workloads.begin(), samples.workloads.end(), subject.name);
    if (at == samples.workloads.end()) {
      unknown.push_back(subject.name);
      continue;
    }
    becomes[static_cast<size_t>(at - samples.workloads.begin())] = static_cast<int>(names.size());
    names.push_back(subject.name);
    if (!samples.programs.empty()) programs.push_back(samples.programs[static_cast<size_t>(at - samples.workloads.begin())]);
  }
  if (names.empty())
    return bad_input("the pilot '" + samples.experiment + "' ran none of the plan's programs; it ran " +
                     list(samples.workloads, [](const std::string& name) { return name; }));
  std::erase_if(samples.trials, [&](const report::Trial& trial) { return becomes[trial.workload] < 0; });
  for (report::Trial& trial : samples.trials) trial.workload = static_cast<uint32_t>(becomes[trial.workload]);
  samples.workloads = std::move(names);
  samples.programs = std::move(programs);
  return {};
}

}  // namespace

Result<Pilot> pilot_for(store::Store& store, const store::ExperimentRow& experiment, const plan::Plan& plan) {
  Pilot pilot;
  STAB_TRY(pilot.samples, load_samples(store, experiment));
  STAB_CHECK_OK(take_response(plan, pilot.samples));
  pilot.responses = std::max<size_t>(1, plan.experiment.responses.size());
  STAB_CHECK_OK(take_factors(plan, pilot.samples));
  STAB_CHECK_OK(take_cells(plan, pilot.samples));
  STAB_CHECK_OK(take_programs(plan, pilot.samples, pilot.unknown));
  return pilot;
}

}  // namespace stab::engine
