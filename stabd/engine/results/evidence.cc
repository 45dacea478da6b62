#include "stabd/engine/results/evidence.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "analysis/commands/selftest/selftest.h"
#include "plan/layout_replay.h"
#include "plan/plan.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/load_samples.h"
#include "stabd/engine/results/local_time.h"

namespace stab::engine {
namespace {

std::string hexadecimal(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

// As a page shows when something happened; empty: it didn't.
std::string day_and_time(int64_t at_ns) { return at_ns > 0 ? local_time(at_ns, "%Y-%m-%d %H:%M") : std::string(); }

Status add_trials(store::Store& store, const store::ExperimentRow& experiment, const report::Samples& samples,
                  report::Evidence& out) {
  STAB_TRY(const std::vector<store::TrialFacts> facts,
           store.trial_facts(experiment.id, plan::kLedgerKeys, [](const std::string&) {}));
  std::unordered_map<uint32_t, const store::TrialFacts*> by_order;
  int64_t first = 0;
  for (const store::TrialFacts& fact : facts) {
    by_order[fact.order] = &fact;
    if (fact.started_at_ns > 0 && (first == 0 || fact.started_at_ns < first)) first = fact.started_at_ns;
  }
  for (const std::string_view key : plan::kLedgerKeys) out.weather.push_back({std::string(key), {}});
  for (const report::Trial& trial : samples.trials) {
    const auto at = by_order.find(trial.order);
    if (at == by_order.end())
      return Error{ErrorCode::kInternal, "trial " + std::to_string(trial.order) + " is no longer in the database", {}};
    const store::TrialFacts& fact = *at->second;
    out.trial_numbers.push_back(static_cast<uint64_t>(fact.trial));
    out.started_s.push_back(fact.started_at_ns > 0 ? static_cast<double>(fact.started_at_ns - first) * 1e-9 : 0);
    out.builds_of_trials.push_back(fact.build);
    for (report::WeatherTrack& track : out.weather) {
      const auto entry = fact.ledger.find(track.name);
      track.values.push_back(entry == fact.ledger.end() ? 0 : entry->second);
    }
  }
  std::erase_if(out.weather, [&](const report::WeatherTrack& track) {
    const bool calm = std::all_of(track.values.begin(), track.values.end(), [](double value) { return value <= 0; });
    if (calm) out.calm.push_back(track.name);
    return calm;
  });
  return {};
}

// The newest self-test of this database that is over and could be judged.
std::optional<report::SelftestEvidence> last_selftest(store::Store& store) {
  const auto all = store.experiments();
  if (!all) return {};
  std::vector<store::ExperimentRow> rows(*all);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id > b.id; });
  for (const store::ExperimentRow& row : rows) {
    if (row.name != "selftest" || row.state != store::ExperimentState::kDone) continue;
    const auto samples = load_samples(store, row);
    if (!samples) continue;
    const commands::CommandOutput judged = commands::run_selftest(*samples, {.json = true});
    const auto json = nlohmann::json::parse(judged.out, nullptr, false);
    if (judged.exit_code == 2 || !json.is_object()) continue;
    return report::SelftestEvidence{row.name + " (" + std::to_string(row.id) + ")", day_and_time(row.finished_at_ns),
                                      json.at("comparisons"), json.at("false_alarms"), json.at("links_a_side"), json.at("alpha"),
                                      json.at("rate"), json.at("conf_low"), json.at("conf_high"), json.at("too_many")};
  }
  return {};
}

// What 'stabctl replay --times' refuses of this plan, so that a page offers it nowhere in vain.
std::vector<report::NoReplay> no_replays_of(const ExpandedPlan& expanded) {
  const plan::LayoutMapping& layout = expanded.plan.layout;
  if (layout.replay || layout.confirms || layout.verification)
    return {{"No layout of this experiment can be compared with fresh ones, because Stab wrote its plan; replay a trial of the "
             "plan that it came from.", {}}};
  const auto words = [](const plan::NoReplay& no) {
    return "Its layout can't be compared with fresh ones: " + no.why + "; " + no.hint + ".";
  };
  if (const auto no = plan::no_replay_of(expanded.plan)) return {{words(*no), {}}};
  std::vector<report::NoReplay> out;
  for (const plan::Cell& cell : expanded.design.cells) {
    const auto no = plan::no_replay_of(expanded.plan, cell.levels);
    if (!no) continue;
    if (out.empty()) out.push_back({words(*no), {}});
    out[0].cells.emplace_back(cell.levels.begin(), cell.levels.end());
  }
  return out;
}

}  // namespace

Result<report::Evidence> load_evidence(store::Store& store, const store::ExperimentRow& experiment,
                                         const ExpandedPlan& expanded, const report::Samples& samples) {
  report::Evidence out;
  out.experiment = experiment.id;
  out.name = experiment.name;
  out.state = store::name(experiment.state);
  out.submitted = day_and_time(experiment.submitted_at_ns);
  out.finished = day_and_time(experiment.finished_at_ns);
  out.plan = experiment.plan_text;
  out.plan_path = experiment.plan_path;
  out.schedule = hexadecimal(experiment.schedule_fingerprint);
  out.seed = experiment.seed;
  for (const plan::ExclusionRule& rule : expanded.plan.exclusions) out.exclusion_rules.push_back(rule.text);
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment.id));
  for (const store::BuildRow& build : builds)
    out.builds.push_back(
        {build.name, std::string(store::name(build.state)), build.command, build.input_hash, build.binary_sha256});
  STAB_TRY(const auto facts, store.host_facts(experiment.id));
  out.host.assign(facts.begin(), facts.end());
  STAB_TRY(const std::vector<store::EventRow> events, store.events(experiment.id));
  for (const store::EventRow& event : events)
    out.events.push_back({local_time(event.at_ns), event.kind, event.text});
  out.no_replays = no_replays_of(expanded);
  STAB_CHECK_OK(add_trials(store, experiment, samples, out));
  out.selftest = last_selftest(store);
  return out;
}

}  // namespace stab::engine
