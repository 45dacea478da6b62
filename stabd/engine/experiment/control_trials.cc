#include "stabd/engine/experiment/control_trials.h"

#include <charconv>

#include "analysis/causal_report/causal.h"
#include "analysis/causal_report/null_extension.h"
#include "base/wording.h"
#include "plan/limits.h"
#include "plan/size.h"
#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/experiment/planning.h"
#include "stabd/engine/results/load_causal.h"

namespace stab::engine {
namespace {

// "12 4 words" -> 12 and 4
std::optional<ControlTrials> parsed(std::string_view text) {
  ControlTrials found;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int64_t* const number : {&found.first, &found.blocks}) {
    const auto [behind, error] = std::from_chars(at, end, *number);
    if (error != std::errc() || behind == end || *behind != ' ' || *number < 0) return std::nullopt;
    at = behind + 1;
  }
  return found;
}

}  // namespace

std::optional<ControlTrials> control_trials_of(const std::vector<store::EventRow>& events) {
  for (const store::EventRow& event : events)
    if (event.kind == kCausalControls)
      if (const auto found = parsed(event.text)) return found;
  return std::nullopt;
}

Result<ControlTrials> add_control_trials(LiveExperiment& experiment) {
  store::Store& store = experiment.store();
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment.id()));
  STAB_TRY(std::vector<causal_report::CausalData> profiles, load_causal(store, row));
  const plan::Plan& plan = experiment.plan();
  // A whole run is one window: there more replicates are what more null windows are.
  const bool whole = plan.causal->experiments == plan::Causal::Experiments::kTrials;
  const auto most = whole ? uint64_t{0} : static_cast<uint64_t>(plan.experiment.replicates);
  causal_report::NullExtension all;
  {
    const GateOpen open(experiment.gate());
    for (causal_report::CausalData& data : profiles) {
      if (data.points.empty()) continue;
      data.incomplete = false;
      const Result<causal_report::CausalReport> report = causal_report::analyse_causal(data, 0);
      if (!report) continue;  // whoever reports says why
      const causal_report::NullExtension one = causal_report::null_extension(*report, most);
      if (one.trials > all.trials || all.why.empty()) all = one;
    }
  }
  const uint64_t block = plan::block_trials(plan, experiment.expanded().design);
  if (plan::times(block, static_cast<uint64_t>(row.replicates) + all.trials) > plan::kMaxTrials) {
    all.trials = 0;
    all.why += "; an experiment has no place for more trials";
  }
  const ControlTrials added{row.replicates, static_cast<int64_t>(all.trials)};
  const std::string more = plural(all.trials, "trial") + " of null and baseline windows more";
  const std::string words = all.why.empty()    ? "every null control is settled"
                            : all.trials == 0 ? all.why
                                              : all.why + ": " + more;
  STAB_TRY(store::Transaction together, store.begin());
  STAB_CHECK_OK(experiment.log(kCausalControls, std::to_string(added.first) + " " + std::to_string(added.blocks) + " " + words));
  if (added.blocks > 0)
    STAB_CHECK_OK(store.extend(experiment.id(), {}, row.replicates + added.blocks,
                               static_cast<int64_t>(block) * added.blocks));
  STAB_CHECK_OK(together.commit());
  if (!all.why.empty()) experiment.note(words);
  if (added.blocks > 0)
    STAB_CHECK_OK(plan_ahead(experiment.engine(), experiment.id(), experiment.expanded(), experiment.stop()));
  return added;
}

}  // namespace stab::engine
