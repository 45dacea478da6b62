#include "stabd/engine/results/valid_verdicts.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "analysis/report/report.h"
#include "analysis/report/stopping_decision.h"
#include "base/json_line.h"
#include "plan/parse.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::engine {

Result<std::string> valid_verdicts_json(const analysis::Samples& samples) {
  using Json = nlohmann::json;
  if (samples.stopping.rule != analysis::StoppingRule::kSequence || !analysis::may_be_judged(samples)) return std::string();
  STAB_TRY(const analysis::Report report, analysis::analyse(samples));
  Json contrasts = Json::array();
  for (const analysis::Contrast& contrast : report.contrasts) {
    const auto response = std::find_if(report.responses.begin(), report.responses.end(),
                                       [&](const analysis::Response& one) { return one.name == contrast.response; });
    // Programs like these are judged once, at the end: until then they are no business of a look.
    if (!contrast.refused.empty() || contrast.population == analysis::Population::kLikeThese || !response->declared) continue;
    contrasts.push_back({{"response", contrast.response},
                         {"workload", contrast.workload},
                         {"population", analysis::name(contrast.population)},
                         {"factor", contrast.factor},
                         {"level", contrast.level},
                         {"baseline", contrast.baseline},
                         {"unit", response->unit},
                         {"scale", contrast.scale == analysis::Scale::kLog ? "log" : "linear"},
                         {"verdict", analysis::name(contrast.verdict)},
                         {"estimate", contrast.interval.estimate},
                         {"conf_low", contrast.interval.low},
                         {"conf_high", contrast.interval.high},
                         {"p_holm", contrast.p_holm}});
  }
  if (contrasts.empty()) return std::string();
  // Names are the user's, and need not be UTF-8.
  return json_line(Json{{"replicates", analysis::replicates_of(samples)}, {"contrasts", contrasts}});
}

Result<std::string> valid_verdicts(store::Store& store, const store::ExperimentRow& experiment) {
  const plan::Parsed parsed = plan::parse_plan(experiment.plan_text, experiment.plan_path);
  if (!parsed.plan || parsed.plan->stopping.rule != plan::StoppingRule::kSequence) return std::string();
  STAB_TRY(const store::Progress progress, store.progress(experiment.id));
  if (!progress.by_state.contains(store::TrialState::kRecorded)) return std::string();
  STAB_TRY(const analysis::Samples samples, load_samples(store, experiment));
  return valid_verdicts_json(samples);
}

}  // namespace stab::engine
