// Samples of the preflight say which functions are hot. One run beside the schedule counts up to eight of them; its epochs say by
// which CPU time varies least. A choice is kept in the experiment's log, so that a run that goes on counts the same function.
#include "stabd/engine/experiment/counted_entries.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stabd/engine/results/load_placements.h"
#include "stabd/engine/trial/epoch_series.h"

namespace stab::engine {
namespace {

constexpr char kCounted[] = "counted-entries";  // kind of the log's line: "SUBJECT BUILD FUNCTION"
constexpr size_t kMostCounted = 8;              // functions that a layout script counts

using Key = std::pair<int, int>;  // subject, build

std::string key_text(const Key& key) { return std::to_string(key.first) + " " + std::to_string(key.second) + " "; }

// Chosen by a run before this one.
Result<std::map<Key, std::string>> chosen_before(LiveExperiment& experiment, const std::vector<store::TrialRow>& trials) {
  std::map<Key, std::string> out;
  STAB_TRY(const std::vector<store::EventRow> events, experiment.store().events(experiment.id()));
  for (const store::EventRow& event : events) {
    if (event.kind != kCounted) continue;
    for (const store::TrialRow& trial : trials) {
      const std::string key = key_text({trial.subject, trial.build});
      if (event.text.starts_with(key)) out[{trial.subject, trial.build}] = event.text.substr(key.size());
    }
  }
  return out;
}

Status choose(LiveExperiment& experiment, TrialRunner& runner, const store::TrialRow& trial, const EpochSeries& preflight) {
  const std::string whose = experiment.expanded().subjects[static_cast<size_t>(trial.subject)].name;
  const auto say = [&](const std::string& text) {
    return experiment.note_and_log("no-counted-entries", whose + " visits no progress point, and " + text);
  };
  if (!preflight.profile || preflight.profile->totals.period_ns == 0)
    return say(
        "it could not be sampled (kernel.perf_event_paranoid above 2?), so no function's calls can measure its work");
  if (preflight.profile->functions.empty())
    return say("none of its samples lie in functions of its own that move; put STAB_PROGRESS(\"NAME\") of stab/progress.h where "
               "a piece of the work is done, in a library, too");
  STAB_TRY(const store::Outcome outcome, experiment.store().outcome(trial.id));
  const LayoutTool tool = layout_tool(experiment.options(), experiment.row(), experiment.gate(), experiment.stop().now_fd());
  const Archive archive(archive_beside(experiment.options().database));
  const Result<std::vector<std::string>> found =
      hot_functions(experiment.store(), trial, outcome, preflight, kMostCounted, tool, archive);
  // What is wrong with a binary, or takes too long, is its experiment's matter; a stop, or what the store says, is not.
  if (!found && (found.error().code == ErrorCode::kCorrupt || found.error().code == ErrorCode::kUnavailable))
    return say(found.error().message);
  STAB_TRY(const std::vector<std::string> hot, found);
  if (hot.empty()) return say("none of its functions that move was seen in a sample");
  runner.count_entries(trial.subject, trial.build, hot);
  STAB_TRY(const std::optional<store::Outcome> pilot, runner.run_beside(trial, TrialRunner::Beside::kRepeated));
  runner.count_entries(trial.subject, trial.build, {});
  if (!pilot || pilot->epochs.empty()) return say("a pilot that counts calls of its functions failed");
  STAB_TRY(const EpochSeries counted, decode_epochs(pilot->epochs));
  const Steadiest steadiest = steadiest_point(counted);
  constexpr std::string_view kPrefix = "function:";
  if (steadiest.point.empty() || !steadiest.point.starts_with(kPrefix))
    return say("no function's calls stand for its work: " + steadiest.figures);
  const std::string function = steadiest.point.substr(kPrefix.size());
  runner.count_entries(trial.subject, trial.build, {function});
  STAB_CHECK_OK(experiment.log(kCounted, key_text({trial.subject, trial.build}) + function));
  experiment.note(whose + " visits no progress point: calls of '" + function + "' count its work (" + steadiest.figures + ")");
  return {};
}

}  // namespace

Status choose_counted_entries(LiveExperiment& experiment, TrialRunner& runner) {
  const plan::LayoutMapping& layout = experiment.plan().layout;
  if ((!layout.map && !layout.confirms) || !layout.progress.empty()) return {};
  STAB_TRY(const std::vector<store::TrialRow> trials,
           experiment.store().trials(experiment.id(),
                                     {.kind = store::TrialKind::kPreflight, .state = store::TrialState::kRecorded, .block = {}}));
  using Chosen = std::map<Key, std::string>;
  STAB_TRY(Chosen chosen, chosen_before(experiment, trials));
  for (const auto& [key, function] : chosen) runner.count_entries(key.first, key.second, {function});
  for (const store::TrialRow& trial : trials) {
    const plan::Layout& of = experiment.cell_of(trial).layout;
    if (chosen.count({trial.subject, trial.build}) > 0 || !abi::has_layouts(of.code) || experiment.stop().asked()) continue;
    STAB_TRY(const std::string stored, experiment.store().epochs(trial.id));
    if (stored.empty()) continue;
    STAB_TRY(const EpochSeries series, decode_epochs(stored));
    if (!series.points.empty()) continue;
    chosen[{trial.subject, trial.build}];
    STAB_CHECK_OK(choose(experiment, runner, trial, series));
  }
  return {};
}

}  // namespace stab::engine
