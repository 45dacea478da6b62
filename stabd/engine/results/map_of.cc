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
#include "stabd/engine/experiment/expand.h"
#include "stabd/engine/experiment/gate_open.h"

namespace stab::engine {
namespace {

analysis::MapSettings settings_of(const plan::Plan& plan) { return {plan.experiment.alpha, plan.experiment.margin}; }

analysis::Candidate candidate_of(const plan::MappedPlace& place, analysis::PlaceKind kind) {
  analysis::Candidate out;
  out.place = {kind, place.function, place.other, place.linked, place.other_linked};
  out.slowest = place.slowest;
  out.fastest = place.fastest;
  return out;
}

plan::MappedPlace place_of(const analysis::Candidate& candidate) {
  return {std::string(analysis::name(candidate.place.kind)),
          candidate.place.function,
          candidate.place.other,
          candidate.place.linked,
          candidate.place.other_linked,
          candidate.slowest,
          candidate.fastest};
}

Result<std::vector<analysis::Candidate>> candidates_of(const plan::MappedBuild& build) {
  std::vector<analysis::Candidate> out;
  for (const plan::MappedPlace& place : build.places) {
    const std::optional<analysis::PlaceKind> kind = analysis::place_kind(place.place);
    if (!kind)
      return Error{ErrorCode::kCorrupt, "the confirmation measures '" + place.place + "', which this version does not know", {}};
    out.push_back(candidate_of(place, *kind));
  }
  return out;
}

// The number that a build of the screen has in its confirmation, whose cells are fewer. Where a command names the level of code
// it is none of them: then the hash of its code tells.
int number_in(const ExpandedPlan& confirmation, const ExpandedPlan& screen, int build) {
  const int same = confirmation.builds.same_as(screen.builds.all()[static_cast<size_t>(build)]);
  return same < 0 ? build : same;
}

// What fresh trials say of one map. Where they can't say it, that is a caveat.
Status confirm(store::Store& store, const store::ExperimentRow& row, const ExpandedPlan& expanded, const plan::MappedBuild& build,
               const LayoutTool& tool, const Archive& archive, analysis::LayoutMap& map) {
  STAB_TRY(const std::vector<analysis::Candidate> candidates, candidates_of(build));
  if (candidates.empty()) return {};
  std::set<uint64_t> functions;
  for (const analysis::Candidate& candidate : candidates) {
    functions.insert(candidate.place.linked);
    if (!candidate.place.other.empty()) functions.insert(candidate.place.other_linked);
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
    Result<analysis::Confirmation> said = analysis::confirm_places(placements.data, candidates, settings_of(expanded.plan));
    if (!said) return refuse(said.error().message);
    add_confirmation(map, *std::move(said));
    return {};
  }
  for (const RefusedMap& one : fresh->refused)
    if (one.workload == build.workload) return refuse(one.why);
  return refuse("none of them was recorded");
}

plan::ScreenKey key_of(const store::ExperimentRow& row) { return {row.name, row.submitted_at_ns, 0}; }

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
    Result<analysis::LayoutMap> map = analysis::screen_layouts(placements.data, settings_of(expanded.plan));
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
  for (const analysis::LayoutMap& map : mapped.maps) out += (out.empty() ? "" : "\n") + analysis::render_map_text(map, width);
  for (const RefusedMap& one : mapped.refused) out += "\n" + analysis::render_no_map_text(one.workload, one.why, width);
  return out;
}

std::vector<std::string> json_of_each(const MappedExperiment& mapped) {
  std::vector<std::string> out;
  for (const analysis::LayoutMap& map : mapped.maps) out.push_back(analysis::render_map_json(map));
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

Result<std::optional<store::Id>> confirm_map(Engine& engine, store::Id screened, Observer& observer, int cancel_fd) {
  store::Store& store = engine.store();
  STAB_TRY(const store::ExperimentRow row, store.experiment(screened));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  if (!expanded.plan.layout.map || expanded.plan.layout.confirm == 0) return std::optional<store::Id>();
  STAB_TRY(const std::optional<store::Id> made, confirmation_of(store, screened));
  if (made) return made;
  observer.phase("mapping layouts");
  const LayoutTool tool = layout_tool(engine.options(), row, engine.gate(), cancel_fd);
  STAB_TRY(LoadedPlacements all, load_placements(store, row, expanded.plan, expanded.subjects, {}, tool,
                                                 Archive(archive_beside(engine.options().database))));
  std::vector<plan::MappedBuild> measured;
  size_t candidates = 0;
  for (const Placements& placements : all.of) {
    const Result<analysis::LayoutMap> map = [&] {
      const GateOpen open(engine.gate());
      return analysis::screen_layouts(placements.data, settings_of(expanded.plan));
    }();
    if (!map) {
      all.refused.push_back({placements.data.workload, map.error().message});
      continue;
    }
    plan::MappedBuild build{placements.data.workload, placements.build, placements.text_hash, {}};
    for (const analysis::Candidate& candidate : map->screen.candidates)
      if (build.places.size() < static_cast<size_t>(expanded.plan.layout.confirm)) build.places.push_back(place_of(candidate));
    candidates += build.places.size();
    measured.push_back(std::move(build));
  }
  if (measured.empty()) return bad_input(reasons_of(all.refused));
  for (const RefusedMap& one : all.refused) {
    observer.note("no layout map of " + one.workload + ": " + one.why);
    STAB_CHECK_OK(
        store.log({engine.options().clock->realtime().count(), screened, "no-layout-map", one.workload + ": " + one.why}));
  }
  if (candidates == 0) {
    observer.note("the layout map names no function whose place matters");
    return std::optional<store::Id>();
  }
  const auto parse = [&]() -> Result<plan::Plan> {
    plan::Parsed parsed = plan::parse_plan(plan::confirmation_text(expanded.plan, key_of(row), measured), row.plan_path);
    if (!parsed.plan) return bad_input("the plan can't be continued by a confirmation: " + plan::render(parsed.errors));
    return *std::move(parsed.plan);
  };
  // Cells of code that stays are gone there, and with them their builds.
  STAB_TRY(plan::Plan draft, parse());
  STAB_TRY(const ExpandedPlan fresh, expand(std::move(draft)));
  for (plan::MappedBuild& build : measured) build.build = number_in(fresh, expanded, build.build);
  STAB_TRY(const plan::Plan plan, parse());
  const GateOpen open(engine.gate());
  STAB_TRY(const store::Id id, engine.submit(plan, row.plan_directory, static_cast<uid_t>(row.submitter_uid),
                                             static_cast<gid_t>(row.submitter_gid), row.priority));
  observer.note("the layout map names " + std::to_string(candidates) + (candidates == 1 ? " place" : " places") +
                " to measure again: experiment " + std::to_string(id) + ", '" + plan.experiment.name + "'");
  return std::optional(id);
}

}  // namespace stab::engine
