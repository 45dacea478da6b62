// A trial's environment is what was recorded of the machine last before it was claimed, in the same boot; of a trial that
// another machine ran, what that machine said when it took the slot. Boot and CPU are each trial's own. Trials of before such
// records were kept have nothing else.
#include "stabd/engine/results/load_environments.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "analysis/report/report_data/environment.h"
#include "plan/plan.h"
#include "stabd/engine/results/node_preflight.h"

namespace stab::engine {
namespace {

using Facts = std::map<std::string, std::string>;

using report::kMostEnvironmentFacts, report::kMostEnvironments;

constexpr char kBoot[] = "boot_id", kCpu[] = "trial.cpu", kMachineName[] = "machine.name";

// Rows in the order in which they were recorded, of which the last one holds that is not younger than a trial. A clock may have
// been set back between two of them: a row before one that is as old, or older, never is the last, and is not kept.
class Timeline {
 public:
  struct Step {
    int64_t since_ns;
    size_t row;
  };
  void add(const Step& step) {
    if (!first_) first_ = step.row;
    while (!steps_.empty() && steps_.back().since_ns >= step.since_ns) steps_.pop_back();
    steps_.push_back(step);
  }
  std::optional<size_t> first() const { return first_; }
  std::optional<size_t> at(int64_t time_ns) const {
    const auto younger = std::upper_bound(steps_.begin(), steps_.end(), time_ns,
                                          [](int64_t time, const Step& step) { return time < step.since_ns; });
    return younger == steps_.begin() ? std::nullopt : std::optional(std::prev(younger)->row);
  }

 private:
  std::optional<size_t> first_;
  std::vector<Step> steps_;  // since_ns and row ascend
};

// Where trials ran, and what was said of it.
class Records {
 public:
  static Result<Records> load(store::Store& store, store::Id experiment) {
    Records out;
    STAB_TRY(out.environments_, store.environments(experiment));
    for (size_t row = 0; row < out.environments_.size(); ++row) {
      const auto boot = out.environments_[row].facts.find(kBoot);
      const Timeline::Step step{out.environments_[row].since_ns, row};
      (boot == out.environments_[row].facts.end() ? out.of_any_boot_ : out.of_boot_[boot->second]).add(step);
      out.all_.add(step);
    }
    STAB_TRY(out.slots_, store.slot_epochs(experiment));
    STAB_TRY(const std::vector<store::PartRow> parts, store.parts(experiment));
    std::map<std::pair<int, int64_t>, const Facts*> of_epoch;
    for (const store::SlotEpochRow& row : out.slots_) of_epoch[{row.slot, row.epoch}] = &row.facts;
    for (const store::PartRow& part : parts) {
      const auto row = of_epoch.find({part.slot, part.epoch});
      if (part.fate == store::PartFate::kRecorded && row != of_epoch.end()) out.of_block_[part.block] = row->second;
    }
    return out;
  }

  // Null: nothing was recorded.
  const Facts* of(const store::TrialFacts& trial) const {
    if (const auto elsewhere = of_block_.find(trial.block); elsewhere != of_block_.end()) return elsewhere->second;
    if (trial.boot_id.empty()) return facts_at(all_.at(trial.claimed_at_ns), all_.first());
    static const Timeline kNone;
    const auto known = of_boot_.find(trial.boot_id);
    const Timeline& of_boot = known != of_boot_.end() ? known->second : kNone;
    // Rows that name no boot are of each.
    return facts_at(std::max(of_boot.at(trial.claimed_at_ns), of_any_boot_.at(trial.claimed_at_ns)),
                    first_of(of_boot.first(), of_any_boot_.first()));
  }

 private:
  static std::optional<size_t> first_of(std::optional<size_t> a, std::optional<size_t> b) {
    return a && b ? std::min(a, b) : a ? a : b;
  }
  // A clock that was set back leaves the first record of the boot.
  const Facts* facts_at(std::optional<size_t> last, std::optional<size_t> first) const {
    if (!last) last = first;
    return last ? &environments_[*last].facts : nullptr;
  }

  std::vector<store::EnvironmentRow> environments_;
  std::map<std::string, Timeline> of_boot_;
  Timeline of_any_boot_, all_;
  std::vector<store::SlotEpochRow> slots_;
  std::map<uint32_t, const Facts*> of_block_;
};

// What can differ between two trials.
using Kind = std::tuple<const Facts*, std::string, int>;  // recorded facts, boot, CPU

// A kind, whose facts are those recorded, of which there are as many as machines, with a boot and a CPU of its own.
struct KnownFacts {
  const Facts* recorded = nullptr;
  std::string boot, cpu;  // empty: not known
};

KnownFacts facts_of(const Kind& kind) {
  const auto& [recorded, boot, cpu] = kind;
  return {recorded, boot, cpu >= 0 ? std::to_string(cpu) : ""};
}

bool is_compared(const std::string& fact) {
  return !fact.starts_with(kPreflightFact) && fact != kMachineName;
}

std::set<std::string> names_of(const std::vector<KnownFacts>& kinds) {
  std::set<std::string> names;
  std::set<const Facts*> seen;
  for (const KnownFacts& known : kinds) {
    if (!known.boot.empty()) names.insert(kBoot);
    if (!known.cpu.empty()) names.insert(kCpu);
    if (known.recorded == nullptr || !seen.insert(known.recorded).second) continue;
    for (const auto& [fact, value] : *known.recorded)
      if (is_compared(fact)) names.insert(fact);
  }
  return names;
}

// Of a fact that is compared: its value, empty where the machine did not tell it; nothing where nothing was recorded.
std::optional<std::string_view> value_of(const KnownFacts& known, const std::string& fact) {
  if (fact == kBoot && !known.boot.empty()) return known.boot;
  if (fact == kCpu && !known.cpu.empty()) return known.cpu;
  if (known.recorded == nullptr) return {};
  const auto at = known.recorded->find(fact);
  return at != known.recorded->end() ? std::string_view(at->second) : std::string_view();
}

bool differs(const std::vector<KnownFacts>& kinds, const std::string& fact) {
  std::set<std::string_view> values;
  for (const KnownFacts& known : kinds)
    if (const auto value = value_of(known, fact)) values.insert(*value);
  return values.size() > 1;
}

// Each machine has one value of it.
bool is_of_machines(const std::vector<KnownFacts>& kinds, const std::vector<std::set<uint32_t>>& machines,
                    const std::string& fact) {
  std::map<uint32_t, std::set<std::string_view>> values;
  for (size_t k = 0; k < kinds.size(); ++k)
    for (const uint32_t machine : machines[k])
      if (const auto value = value_of(kinds[k], fact)) values[machine].insert(*value);
  return std::all_of(values.begin(), values.end(), [](const auto& one) { return one.second.size() < 2; });
}

bool has_word_of_its_own(const std::string& fact) {
  const auto is_it = [&](const plan::SameFact& one) { return one.fact == fact; };
  return std::any_of(plan::kSameFacts.begin(), plan::kSameFacts.end(), is_it);
}

}  // namespace

Status load_environments(store::Store& store, store::Id experiment, const std::vector<store::TrialFacts>& facts,
                         report::Samples& samples) {
  STAB_TRY(const Records records, Records::load(store, experiment));
  std::map<Kind, size_t> numbers;
  std::vector<size_t> kind_of;
  std::vector<std::set<uint32_t>> machines;
  for (size_t i = 0; i < facts.size(); ++i) {
    const Kind kind{records.of(facts[i]), facts[i].boot_id, facts[i].cpu};
    const auto [at, fresh] = numbers.try_emplace(kind, numbers.size());
    if (fresh) machines.emplace_back();
    kind_of.push_back(at->second);
    machines[at->second].insert(samples.trials[i].machine);
  }
  std::vector<KnownFacts> kinds(numbers.size());
  for (const auto& [kind, number] : numbers) kinds[number] = facts_of(kind);

  std::set<std::string> names = names_of(kinds);
  if (names.size() > kMostEnvironmentFacts) {
    samples.unavailable.push_back({"of " + std::to_string(names.size()) + " facts of the machine those behind the first " +
                                       std::to_string(kMostEnvironmentFacts) + " by name are not compared",
                                   "Stab never records this many facts; another program has probably written this database"});
    names.erase(std::next(names.begin(), kMostEnvironmentFacts), names.end());
  }
  samples.environment_facts_compared = static_cast<uint32_t>(names.size());
  std::string also;
  for (const std::string& fact : names) {
    if (!differs(kinds, fact)) continue;
    if (samples.machines.size() > 1 && is_of_machines(kinds, machines, fact)) {
      if (report::says_where(fact)) continue;  // as many as there are machines
      if (!has_word_of_its_own(fact)) also += (also.empty() ? "" : ", ") + fact;
    }
    samples.environment_facts.push_back(fact);
  }
  if (!also.empty()) samples.machine_differences.push_back("also different: " + also);
  // Conditions before places.
  std::stable_partition(samples.environment_facts.begin(), samples.environment_facts.end(),
                        [](const std::string& fact) { return !report::says_where(fact); });

  // Kinds that are equal in what differs are one environment.
  std::map<std::pair<bool, std::vector<std::string_view>>, uint32_t> environments;
  std::vector<uint32_t> environment_of;
  for (const KnownFacts& known : kinds) {
    std::vector<std::string_view> values;
    for (const std::string& fact : samples.environment_facts) values.push_back(value_of(known, fact).value_or(""));
    const auto next = static_cast<uint32_t>(environments.size());
    const auto [at, fresh] = environments.try_emplace({known.recorded != nullptr, std::move(values)}, next);
    const auto& [recorded, kept] = at->first;
    if (fresh && next < kMostEnvironments)
      samples.environments.push_back({recorded, std::vector<std::string>(kept.begin(), kept.end())});
    environment_of.push_back(std::min<uint32_t>(at->second, kMostEnvironments));
  }
  if (environments.size() > kMostEnvironments) {
    const std::string more = "one of " + std::to_string(environments.size() - kMostEnvironments) + " more";
    samples.environments.push_back({true, std::vector<std::string>(samples.environment_facts.size(), more)});
  }
  for (size_t i = 0; i < facts.size(); ++i) samples.trials[i].environment = environment_of[kind_of[i]];
  return {};
}

}  // namespace stab::engine
