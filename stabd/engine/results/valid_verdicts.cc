#include "stabd/engine/results/valid_verdicts.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/report.h"
#include "base/json_line.h"
#include "plan/parse.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::engine {

Result<std::string> valid_verdicts_json(const report::Samples& samples) {
  using Json = nlohmann::json;
  if (samples.stopping.rule != report::StoppingRule::kSequence || !report::may_be_judged(samples)) return std::string();
  STAB_TRY(const report::Report report, report::analyse(samples));
  Json contrasts = Json::array();
  for (const report::Contrast& contrast : report.contrasts) {
    const auto response = std::find_if(report.responses.begin(), report.responses.end(),
                                       [&](const report::Response& one) { return one.name == contrast.response; });
    // Programs like these are judged once, at the end: until then they are no business of a look.
    if (!contrast.refused.empty() || contrast.population == report::Population::kLikeThese || !response->declared) continue;
    contrasts.push_back({{"response", contrast.response},
                         {"workload", contrast.workload},
                         {"population", report::name(contrast.population)},
                         {"factor", contrast.factor},
                         {"level", contrast.level},
                         {"baseline", contrast.baseline},
                         {"unit", response->unit},
                         {"scale", contrast.scale == report::Scale::kLog ? "log" : "linear"},
                         {"verdict", report::name(contrast.verdict)},
                         {"estimate", contrast.interval.estimate},
                         {"conf_low", contrast.interval.low},
                         {"conf_high", contrast.interval.high},
                         {"p_holm", contrast.p_holm}});
  }
  if (contrasts.empty()) return std::string();
  // Names are the user's, and need not be UTF-8.
  return json_line(Json{{"replicates", report::replicates_of(samples)}, {"contrasts", contrasts}});
}

Result<std::string> valid_verdicts(store::Store& store, const store::ExperimentRow& experiment) {
  const plan::Parsed parsed = plan::parse_plan(experiment.plan_text, experiment.plan_path);
  if (!parsed.plan || parsed.plan->stopping.rule != plan::StoppingRule::kSequence) return std::string();
  STAB_TRY(const store::Progress progress, store.progress(experiment.id));
  if (!progress.by_state.contains(store::TrialState::kRecorded)) return std::string();
  STAB_TRY(const report::Samples samples, load_samples(store, experiment));
  return valid_verdicts_json(samples);
}

}  // namespace stab::engine
