// An experiment and its confirmation are two rows of the store, tied by the name and the time of submission that the
// confirmation's plan holds. What was named by the screen is in that plan, so that a confirmation says the same whatever becomes
// of the first one.
#include "stabd/engine/results/map_of.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_line.h"
#include "plan/layout_confirmation.h"
#include "plan/parse.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/build/gate_open.h"

namespace stab::engine {

layout_report::MapSettings settings_of(const plan::Plan& plan) { return {plan.experiment.alpha, plan.experiment.margin}; }

plan::ScreenKey key_of(const store::ExperimentRow& row) { return {row.name, row.submitted_at_ns, 0}; }

int number_in(const ExpandedPlan& confirmation, const ExpandedPlan& screen, int build) {
  const std::vector<plan::Build>& all = screen.builds.all();
  if (build < 0 || static_cast<size_t>(build) >= all.size()) return build;  // a bundle's, which anybody may have made
  const int same = confirmation.builds.same_as(all[static_cast<size_t>(build)]);
  return same < 0 ? build : same;
}

namespace {

layout_report::Candidate candidate_of(const plan::MappedPlace& place, layout_report::PlaceKind kind) {
  layout_report::Candidate out;
  out.place = {kind, place.function, place.other, place.linked, place.other_linked, plan::library_of(place.function),
               plan::library_of(place.other)};
  out.slowest = place.slowest;
  out.fastest = place.fastest;
  return out;
}

Result<std::vector<layout_report::Candidate>> candidates_of(const plan::MappedBuild& build) {
  std::vector<layout_report::Candidate> out;
  for (const plan::MappedPlace& place : build.places) {
    const std::optional<layout_report::PlaceKind> kind = layout_report::place_kind(place.place);
    if (!kind)
      return Error{ErrorCode::kCorrupt, "the confirmation measures '" + place.place + "', which this version does not know", {}};
    out.push_back(candidate_of(place, *kind));
  }
  return out;
}

// What fresh trials say of one map. Where they can't say it, that is a caveat.
Status confirm(store::Store& store, const store::ExperimentRow& row, const ExpandedPlan& expanded, const plan::MappedBuild& build,
               const LayoutTool& tool, const Archive& archive, layout_report::LayoutMap& map) {
  STAB_TRY(const std::vector<layout_report::Candidate> candidates, candidates_of(build));
  if (candidates.empty()) return {};
  std::set<FunctionKey> functions;
  for (const layout_report::Candidate& candidate : candidates) {
    functions.insert({candidate.place.library, candidate.place.linked});
    if (!candidate.place.other.empty()) functions.insert({candidate.place.other_library, candidate.place.other_linked});
  }
  const auto refuse = [&](const std::string& why) {
    map.caveats.push_back({"not-confirmed", "the fresh trials of '" + row.name + "' say nothing: " + why, "run the plan again"});
    return Status();
  };
  const Result<LoadedPlacements> fresh = load_placements(store, row, expanded.plan, expanded.subjects, functions, tool, archive);
  if (!fresh) return refuse(fresh.error().message);
  for (const Placements& placements : fresh->of) {
    if (placements.data.workload != build.workload || placements.build != build.build) continue;
    if (placements.text_hash != build.text_hash) return refuse("they ran another binary than the one that was mapped");
    Result<layout_report::Confirmation> said =
        layout_report::confirm_places(placements.data, candidates, settings_of(expanded.plan));
    if (!said) return refuse(said.error().message);
    add_confirmation(map, *std::move(said));
    return {};
  }
  for (const RefusedMap& one : fresh->refused)
    if (one.workload == build.workload) return refuse(one.why);
  return refuse("none of them was recorded");
}

// A confirmation is a plan, which anybody can write by hand; it speaks of its own user's experiments only.
Result<store::Id> screen_of(store::Store& store, const plan::ScreenKey& key, int64_t uid) {
  STAB_TRY(const std::vector<store::ExperimentSummary> all, store.summaries(uid));
  for (const store::ExperimentSummary& one : all)
    if (key.number > 0 ? one.id == key.number : one.name == key.name && one.submitted_at_ns == key.submitted_ns) return one.id;
  const std::string named = key.number > 0 ? "experiment " + std::to_string(key.number) : "'" + key.name + "'";
  return Error{ErrorCode::kNotFound,
               "this confirms the map of " + named + ", and no such experiment of user " + std::to_string(uid) +
                   " is in this database; import it, too",
               {}};
}

}  // namespace

Result<std::optional<store::Id>> confirmation_of(store::Store& store, store::Id screened) {
  STAB_TRY(const store::ExperimentRow screen, store.experiment(screened));
  STAB_TRY(std::vector<store::ExperimentRow> rows,
           store.experiments_whose_plan_has(plan::screen_lines(key_of(screen)), screen.submitter_uid));
  if (rows.empty()) {  // planned when plans had the screen's number
    STAB_TRY(rows, store.experiments_whose_plan_has("[layout.confirmation]\nof = " + std::to_string(screened) + "\n",
                                                    screen.submitter_uid));
  }
  std::optional<store::Id> newest;
  for (const store::ExperimentRow& row : rows) newest = row.id;
  return newest;
}

Result<MappedExperiment> map_of(store::Store& store, store::Id experiment, const LayoutTool& tool, const Archive& archive) {
  MappedExperiment out;
  out.screened = experiment;
  STAB_TRY(store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(ExpandedPlan expanded, expand_stored(row));
  if (expanded.plan.layout.confirms) {
    STAB_TRY(out.screened, screen_of(store, *expanded.plan.layout.confirms, row.submitter_uid));
    STAB_TRY(row, store.experiment(out.screened));
    STAB_TRY(expanded, expand_stored(row));
  }
  STAB_TRY(out.confirmed, confirmation_of(store, out.screened));
  STAB_TRY(LoadedPlacements all, load_placements(store, row, expanded.plan, expanded.subjects, {}, tool, archive));
  out.refused = std::move(all.refused);
  for (const Placements& placements : all.of) {
    Result<layout_report::LayoutMap> map = layout_report::screen_layouts(placements.data, settings_of(expanded.plan));
    if (!map) {
      out.refused.push_back({placements.data.workload, map.error().message});
      continue;
    }
    if (out.confirmed) {
      STAB_TRY(const store::ExperimentRow fresh, store.experiment(*out.confirmed));
      STAB_TRY(const ExpandedPlan plan, expand_stored(fresh));
      const int number = number_in(plan, expanded, placements.build);
      for (const plan::MappedBuild& build : plan.plan.layout.measured)
        if (build.workload == placements.data.workload && build.build == number)
          STAB_CHECK_OK(confirm(store, fresh, plan, build, tool, archive, *map));
    }
    out.maps.push_back(*std::move(map));
    out.builds.push_back({placements.subject, placements.build, placements.text_hash});
  }
  if (out.maps.empty()) return bad_input(reasons_of(out.refused));
  return out;
}

std::string text_of(const MappedExperiment& mapped, int width) {
  std::string out;
  for (const layout_report::LayoutMap& map : mapped.maps)
    out += (out.empty() ? "" : "\n") + layout_report::render_map_text(map, width);
  for (const RefusedMap& one : mapped.refused) out += "\n" + layout_report::render_no_map_text(one.workload, one.why, width);
  return out;
}

std::vector<std::string> json_of_each(const MappedExperiment& mapped) {
  std::vector<std::string> out;
  for (const layout_report::LayoutMap& map : mapped.maps) out.push_back(layout_report::render_map_json(map));
  return out;
}

std::string json_of(const MappedExperiment& mapped) {
  std::string out =
      "{\"format\": \"stab-layout-maps\", \"version\": 1, \"experiment\": " + std::to_string(mapped.screened) + ", \"maps\": [\n";
  const char* between = "";
  for (const std::string& map : json_of_each(mapped)) {
    out += between + map;
    between = ",";
  }
  using Json = nlohmann::ordered_json;
  Json refused = Json::array();
  for (const RefusedMap& one : mapped.refused) refused.push_back({{"workload", one.workload}, {"why", one.why}});
  return out + "],\n\"refused\": " + json_line(refused) + "}\n";
}

}  // namespace stab::engine
