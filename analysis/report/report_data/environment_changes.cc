#include "analysis/report/report_data/environment_changes.h"

#include <algorithm>
#include <map>

namespace stab::report {
namespace {

constexpr size_t kMostChanges = 100, kMostFacts = 3;

// By environment, the words of each fact that differs, as the table shows them.
std::vector<std::vector<std::string>> words_of(const Samples& samples, const EnvironmentTable& table) {
  std::vector<std::vector<std::string>> out(samples.environments.size());
  for (const EnvironmentDifference& difference : table.differences) {
    const auto at = std::find(samples.environment_facts.begin(), samples.environment_facts.end(), difference.fact);
    const auto fact = static_cast<size_t>(at - samples.environment_facts.begin());
    const std::vector<std::string> shown = shown_values(difference);
    for (size_t e = 0; e < out.size(); ++e) {
      const Environment& environment = samples.environments[e];
      const std::string& value = environment.values[fact];
      std::string words = !value.empty() ? value : environment.recorded ? "not told" : "not recorded";
      for (size_t v = 0; v < shown.size(); ++v)
        if (difference.values[v].told && difference.values[v].value == value) words = shown[v];
      out[e].push_back(std::move(words));
    }
  }
  return out;
}

}  // namespace

EnvironmentChanges environment_changes_of(const Samples& samples, const EnvironmentTable& table) {
  EnvironmentChanges out;
  if (table.differences.empty()) return out;
  const std::vector<std::vector<std::string>> words = words_of(samples, table);
  std::vector<const Trial*> trials;
  for (const Trial& trial : samples.trials)
    if (trial.excluded.empty()) trials.push_back(&trial);
  std::stable_sort(trials.begin(), trials.end(), [](const Trial* a, const Trial* b) { return a->order < b->order; });
  std::map<uint32_t, uint32_t> before;  // by machine: the environment of its last trial
  for (const Trial* trial : trials) {
    const auto [last, first] = before.try_emplace(trial->machine, trial->environment);
    if (first || last->second == trial->environment) continue;
    const std::vector<std::string>&was = words[last->second], &is = words[trial->environment];
    last->second = trial->environment;
    EnvironmentChange change{trial->order, trial->block, samples.machines.empty() ? "" : samples.machines[trial->machine], 0, ""};
    for (size_t d = 0; d < table.differences.size(); ++d) {
      if (was[d] == is[d]) continue;
      if (++change.facts > kMostFacts) continue;
      change.text += (change.text.empty() ? "" : "; ") + table.differences[d].fact + ": " + was[d] + " to " + is[d];
    }
    // Excluded trials may have had values that the table does not know.
    if (change.facts == 0) continue;
    if (change.facts > kMostFacts) change.text += "; and " + std::to_string(change.facts - kMostFacts) + " more";
    if (out.changes.size() < kMostChanges) out.changes.push_back(std::move(change));
    else ++out.left_out;
  }
  return out;
}

}  // namespace stab::report
