#include "analysis/report/report_data/environment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "analysis/report/report_data/report_pen.h"
#include "base/wording.h"

namespace stab::report {
namespace {

// From this total variation distance of shares on a factor is said to differ together with a fact: what the fact does to times
// gets into the factor's difference by that share. A change of the machine that costs 5 % moves it by 0.5 %, half of the usual
// margin.
constexpr double kUneven = 0.1;
// Values that are longer are shown by what sets them apart; of what remains so many columns at most.
constexpr size_t kLong = 40, kMostShown = 160;

// Facts that say where a trial ran, not under which conditions. What they bring with them (another kernel, another cache) has
// facts of its own.
constexpr std::string_view kWhere[] = {"boot_id", "host.name", "trial.cpu", "placement"};

constexpr std::string_view kAlong[] = {"machines", "blocks", "trials"};

// Values of one fact, numbered in the order in which the run met them.
class Values {
 public:
  Values(const Samples& samples, size_t fact) : samples_(samples), fact_(fact), of_(samples.environments.size(), kNotMet) {}

  size_t of(const Trial& trial) {
    size_t& known = of_[trial.environment];
    if (known != kNotMet) return known;
    const Environment& environment = samples_.environments[trial.environment];
    const bool told = fact_ < environment.values.size() && !environment.values[fact_].empty();
    // "Not told" and "not recorded" are different things: only the first one says that machines differ.
    const std::pair<int, std::string> key{told ? 2 : environment.recorded ? 1 : 0, told ? environment.values[fact_] : ""};
    known = numbers_.try_emplace(key, numbers_.size()).first->second;
    return known;
  }
  // How many there are that say something.
  size_t known() const {
    const auto says = [](const auto& one) { return one.first.first > 0; };
    return static_cast<size_t>(std::count_if(numbers_.begin(), numbers_.end(), says));
  }
  std::vector<EnvironmentValue> empty_rows() const {
    std::vector<EnvironmentValue> rows(numbers_.size());
    for (const auto& [key, number] : numbers_) {
      rows[number].told = key.first == 2;
      rows[number].value = key.first == 2 ? key.second : key.first == 1 ? "not told" : "not recorded";
    }
    return rows;
  }

 private:
  static constexpr size_t kNotMet = SIZE_MAX;
  const Samples& samples_;
  size_t fact_;
  std::vector<size_t> of_;  // by environment
  std::map<std::pair<int, std::string>, size_t> numbers_;
};

using Counts = std::vector<uint64_t>;  // trials by value
using Shares = std::vector<double>;    // the same as shares of 1

// The level whose trials have the values in other shares than the baseline's, by how much, and at which value. Within a workload,
// as contrasts are.
struct Uneven {
  double distance = 0;
  uint32_t level = 0;
  size_t value = 0;
  double share = 0, baseline_share = 0;
};

using Pair = std::tuple<uint32_t, std::string, std::string>;  // workload, factor, level: against the factor's baseline

// The comparisons that are taken within blocks, in each declared response.
std::set<Pair> blocked_pairs(const Samples& samples, const std::vector<Contrast>& contrasts) {
  std::set<Pair> blocked, others;
  for (uint32_t w = 0; w < samples.workloads.size(); ++w)
    for (const Contrast& contrast : contrasts) {
      if (contrast.population != Population::kOneWorkload || contrast.workload != samples.workloads[w]) continue;
      (contrast.blocked ? blocked : others).insert({w, contrast.factor, contrast.level});
    }
  for (const Pair& other : others) blocked.erase(other);
  return blocked;
}

using ByBlock = std::map<uint32_t, Counts>;

void add_shares(const Counts& counts, Shares& shares) {
  double all = 0;
  for (const uint64_t n : counts) all += static_cast<double>(n);
  for (size_t v = 0; v < counts.size(); ++v) shares[v] += static_cast<double>(counts[v]) / all;
}

// What a value does to times gets into a difference that is taken within blocks by the mean difference of its shares in blocks
// that have both levels: others take no part. Elsewhere all trials of a level are one.
std::pair<Shares, Shares> shares_of(const ByBlock& level, const ByBlock& baseline, size_t values, bool blocked) {
  Shares of_level(values), of_baseline(values);
  double blocks = 0;
  for (const auto& [block, counts] : level) {
    const auto base = baseline.find(block);
    if (!blocked || base == baseline.end()) continue;
    add_shares(counts, of_level);
    add_shares(base->second, of_baseline);
    blocks += 1;
  }
  if (blocks > 0) {
    for (Shares* shares : {&of_level, &of_baseline})
      for (double& share : *shares) share /= blocks;
    return {of_level, of_baseline};
  }
  const auto add_all = [values](const ByBlock& of, Shares& shares) {
    Counts all(values);
    for (const auto& [block, counts] : of)
      for (size_t v = 0; v < values; ++v) all[v] += counts[v];
    add_shares(all, shares);
  };
  add_all(level, of_level);
  add_all(baseline, of_baseline);
  return {of_level, of_baseline};
}

Uneven worst_level(const Samples& samples, const std::vector<const Trial*>& trials, const std::vector<size_t>& value_of,
                   size_t values, size_t factor, const std::set<Pair>& blocked) {
  std::map<std::pair<uint32_t, uint32_t>, ByBlock> counts;  // by workload and level
  for (size_t i = 0; i < trials.size(); ++i) {
    ByBlock& blocks = counts[{trials[i]->workload, trials[i]->levels[factor]}];
    ++blocks.try_emplace(trials[i]->block, values).first->second[value_of[i]];
  }
  const Factor& facts = samples.factors[factor];
  Uneven worst;
  for (const auto& [key, of_level] : counts) {
    const auto base = counts.find({key.first, facts.baseline});
    if (base == counts.end() || base->first == key) continue;
    const bool within_blocks = blocked.contains({key.first, facts.name, facts.levels[key.second]});
    const auto [shares, baseline_shares] = shares_of(of_level, base->second, values, within_blocks);
    double distance = 0, largest = 0;
    Uneven here;
    for (size_t v = 0; v < values; ++v) {
      const double share = shares[v], baseline_share = baseline_shares[v];
      distance += std::fabs(share - baseline_share) / 2;
      // Of two that differ as much, the one that came later: that is what changed.
      if (std::fabs(share - baseline_share) < largest - 1e-9) continue;
      largest = std::fabs(share - baseline_share);
      here = {0, key.second, v, share, baseline_share};
    }
    here.distance = distance;
    if (here.distance > worst.distance) worst = here;
  }
  return worst;
}

EnvironmentAlong along_of(const std::vector<const Trial*>& trials, const std::vector<size_t>& value_of, bool several_machines) {
  std::map<uint32_t, size_t> of_block, of_machine;
  bool blocks = true, machines = several_machines;
  for (size_t i = 0; i < trials.size(); ++i) {
    blocks &= of_block.try_emplace(trials[i]->block, value_of[i]).first->second == value_of[i];
    machines &= of_machine.try_emplace(trials[i]->machine, value_of[i]).first->second == value_of[i];
  }
  return machines ? EnvironmentAlong::kMachines : blocks ? EnvironmentAlong::kBlocks : EnvironmentAlong::kTrials;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string blocks_words(const EnvironmentValue& value) {
  if (value.blocks == 1) return "block " + std::to_string(value.first_block);
  const bool whole = value.blocks == uint64_t{value.last_block} - value.first_block + 1;
  return (whole ? "blocks " : std::to_string(value.blocks) + " blocks of ") + std::to_string(value.first_block) + " to " +
         std::to_string(value.last_block);
}

std::string quoted_if_told(const EnvironmentValue& value, const std::string& shown) {
  return value.told ? in_quotes(shown) : shown;
}

std::string share_text(double share) { return plain(100 * share) + " %"; }

}  // namespace

bool says_where(std::string_view fact) { return std::find(std::begin(kWhere), std::end(kWhere), fact) != std::end(kWhere); }

std::string_view name(EnvironmentAlong along) { return kAlong[static_cast<size_t>(along)]; }

EnvironmentTable environment_table_of(const Samples& samples, const std::vector<Contrast>& contrasts) {
  EnvironmentTable out;
  out.compared = samples.environment_facts_compared;
  std::vector<const Trial*> trials;
  for (const Trial& trial : samples.trials)
    if (trial.excluded.empty()) trials.push_back(&trial);
  std::stable_sort(trials.begin(), trials.end(), [](const Trial* a, const Trial* b) { return a->order < b->order; });
  out.trials = trials.size();
  if (samples.environments.empty()) return out;
  const std::set<Pair> blocked = blocked_pairs(samples, contrasts);
  for (const Trial* trial : trials) out.unrecorded_trials += !samples.environments[trial->environment].recorded;
  for (size_t fact = 0; fact < samples.environment_facts.size(); ++fact) {
    Values values(samples, fact);
    std::vector<size_t> value_of;
    for (const Trial* trial : trials) value_of.push_back(values.of(*trial));
    if (values.known() < 2) continue;  // excluded trials were all that differed
    EnvironmentDifference difference;
    difference.fact = samples.environment_facts[fact];
    difference.says_where = says_where(difference.fact);
    difference.values = values.empty_rows();
    std::vector<std::set<uint32_t>> blocks(difference.values.size()), machines(difference.values.size());
    for (size_t i = 0; i < trials.size(); ++i) {
      ++difference.values[value_of[i]].trials;
      blocks[value_of[i]].insert(trials[i]->block);
      if (!samples.machines.empty()) machines[value_of[i]].insert(trials[i]->machine);
    }
    for (size_t v = 0; v < difference.values.size(); ++v) {
      EnvironmentValue& value = difference.values[v];
      value.blocks = blocks[v].size();
      value.first_block = *blocks[v].begin();
      value.last_block = *blocks[v].rbegin();
      for (const uint32_t machine : machines[v]) value.machines.push_back(samples.machines[machine]);
    }
    difference.along = along_of(trials, value_of, samples.machines.size() > 1);
    std::vector<std::pair<double, EnvironmentSplit>> splits;
    for (size_t f = 0; f < samples.factors.size(); ++f) {
      const Factor& factor = samples.factors[f];
      const Uneven worst = worst_level(samples, trials, value_of, difference.values.size(), f, blocked);
      if (worst.distance <= kUneven) continue;
      splits.push_back({worst.distance,
                        {factor.name, factor.levels[worst.level], factor.levels[factor.baseline],
                         difference.values[worst.value].value, worst.share, worst.baseline_share}});
    }
    std::stable_sort(splits.begin(), splits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [distance, split] : splits) difference.splits.push_back(std::move(split));
    out.differences.push_back(std::move(difference));
  }
  return out;
}

namespace {

std::vector<std::string> without_shared_words(const EnvironmentDifference& difference) {
  std::vector<std::string> out;
  bool is_long = false;
  std::set<std::string> everywhere;
  bool first = true;
  for (const EnvironmentValue& value : difference.values) {
    out.push_back(value.value);
    if (!value.told) continue;
    is_long |= value.value.size() > kLong;
    const std::vector<std::string> words = words_of(value.value);
    const std::set<std::string> here(words.begin(), words.end());
    if (first) everywhere = here;
    else std::erase_if(everywhere, [&](const std::string& word) { return !here.contains(word); });
    first = false;
  }
  if (!is_long || everywhere.empty()) return out;
  for (size_t v = 0; v < out.size(); ++v) {
    if (!difference.values[v].told) continue;
    std::string shown;
    bool left_out = false;
    for (const std::string& word : words_of(out[v])) {
      if (everywhere.contains(word)) {
        left_out = true;
        continue;
      }
      shown += (left_out ? (shown.empty() ? "... " : " ... ") : shown.empty() ? "" : " ") + word;
      left_out = false;
    }
    out[v] = shown.empty() ? "..." : shown + (left_out ? " ..." : "");
  }
  return out;
}

}  // namespace

std::vector<std::string> shown_values(const EnvironmentDifference& difference) {
  std::vector<std::string> out = without_shared_words(difference);
  for (std::string& value : out)
    if (const std::string_view start = text::cut(value, kMostShown); start.size() < value.size())
      value = std::string(start) + "…";
  return out;
}

std::string environment_words(const EnvironmentDifference& difference) {
  constexpr size_t kMost = 3;
  const std::vector<std::string> shown = shown_values(difference);
  std::string out = difference.fact + " was ";
  for (size_t v = 0; v < std::min(difference.values.size(), kMost); ++v) {
    const EnvironmentValue& value = difference.values[v];
    const char* join = v == 0 ? "" : v + 1 == difference.values.size() ? " and " : ", ";
    out += join + quoted_if_told(value, shown[v]) + " in " + blocks_words(value);
  }
  if (difference.values.size() > kMost) out += ", and " + plural(difference.values.size() - kMost, "more value");
  return out;
}

std::string split_words(const EnvironmentDifference& difference, const std::vector<std::string>& shown,
                        const EnvironmentSplit& split) {
  std::string value = split.value;
  for (size_t v = 0; v < shown.size(); ++v)
    if (difference.values[v].value == split.value) value = quoted_if_told(difference.values[v], shown[v]);
  return difference.fact + " was " + value + " in " + share_text(split.share) + " of the trials with " + split.factor + "=" +
         split.level + " and in " + share_text(split.baseline_share) + " of those with " + split.baseline;
}

}  // namespace stab::report
