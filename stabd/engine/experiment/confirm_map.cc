// Screens the experiment's layouts, writes the plan of what they name and submits it in the name of the same user.
#include "stabd/engine/experiment/confirm_map.h"

#include "base/wording.h"
#include "plan/layout_confirmation.h"
#include "plan/parse.h"
#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/results/map_of.h"

namespace stab::engine {
namespace {

plan::MappedPlace place_of(const layout_report::Candidate& candidate) {
  return {std::string(layout_report::name(candidate.place.kind)),
          candidate.place.function,
          candidate.place.other,
          candidate.place.linked,
          candidate.place.other_linked,
          candidate.slowest,
          candidate.fastest};
}

// Events of an experiment, in its log.
constexpr char kMap[] = "layout-map", kBegun[] = "begun", kOver[] = "over";
// A map that needs more memory than there is has the kernel end whoever computes it, each time.
constexpr uint64_t kMostCutOff = 2;

// How often the map was begun since it was last over: each time its process was ended.
Result<uint64_t> times_cut_off(store::Store& store, store::Id experiment) {
  STAB_TRY(const std::vector<store::EventRow> events, store.events(experiment));
  uint64_t cut_off = 0;
  for (const store::EventRow& event : events)
    if (event.kind == kMap) cut_off = event.text == kBegun ? cut_off + 1 : 0;
  return cut_off;
}

Result<std::optional<store::Id>> screen_and_submit(Engine& engine, const store::ExperimentRow& row, const ExpandedPlan& expanded,
                                                   Observer& observer, int cancel_fd) {
  store::Store& store = engine.store();
  const LayoutTool tool = layout_tool(engine.options(), row, engine.gate(), cancel_fd);
  STAB_TRY(LoadedPlacements all, load_placements(store, row, expanded.plan, expanded.subjects, {}, tool,
                                                 Archive(archive_beside(engine.options().database))));
  std::vector<plan::MappedBuild> measured;
  size_t candidates = 0;
  for (const Placements& placements : all.of) {
    const Result<layout_report::LayoutMap> map = [&] {
      const GateOpen open(engine.gate());
      return layout_report::screen_layouts(placements.data, settings_of(expanded.plan));
    }();
    if (!map) {
      all.refused.push_back({placements.data.workload, map.error().message});
      continue;
    }
    plan::MappedBuild build{placements.data.workload, placements.build, placements.text_hash, {}};
    for (const layout_report::Candidate& candidate : map->screen.candidates)
      if (build.places.size() < static_cast<size_t>(expanded.plan.layout.confirm)) build.places.push_back(place_of(candidate));
    candidates += build.places.size();
    measured.push_back(std::move(build));
  }
  if (measured.empty()) return bad_input(reasons_of(all.refused));
  for (const RefusedMap& one : all.refused) {
    observer.note("no layout map of " + one.workload + ": " + one.why);
    STAB_CHECK_OK(
        store.log({engine.options().clock->realtime().count(), row.id, "no-layout-map", one.workload + ": " + one.why}));
  }
  if (candidates == 0) {
    observer.note("the layout map names no function whose place matters");
    return std::optional<store::Id>();
  }
  const auto parse = [&]() -> Result<plan::Plan> {
    plan::Parsed parsed = plan::parse_plan(plan::confirmation_text(expanded.plan, key_of(row), measured), row.plan_path);
    if (!parsed.plan) return bad_input("the plan can't be continued by a confirmation: " + toml::render(parsed.errors));
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
  observer.note("the layout map names " + plural(candidates, "place") +
                " to measure again: experiment " + std::to_string(id) + ", '" + plan.experiment.name + "'");
  return std::optional(id);
}

}  // namespace

Result<std::optional<store::Id>> confirm_map(Engine& engine, const store::ExperimentRow& row, const ExpandedPlan& expanded,
                                             Observer& observer, int cancel_fd) {
  store::Store& store = engine.store();
  if (!expanded.plan.layout.map || expanded.plan.layout.confirm == 0) return std::optional<store::Id>();
  STAB_TRY(const std::optional<store::Id> made, confirmation_of(store, row.id));
  if (made) return made;
  const auto log = [&](const char* text) {
    return store.log({engine.options().clock->realtime().count(), row.id, kMap, text});
  };
  STAB_TRY(const uint64_t cut_off, times_cut_off(store, row.id));
  if (cut_off >= kMostCutOff) {
    STAB_CHECK_OK(log(kOver));  // an extension's is another one
    return bad_input(std::to_string(cut_off) + " processes were ended while computing it, perhaps for want of memory; " +
                     "'stabctl layout map " + row.name + "' computes it by itself");
  }
  observer.phase("mapping layouts");
  STAB_CHECK_OK(log(kBegun));
  auto submitted = screen_and_submit(engine, row, expanded, observer, cancel_fd);
  STAB_CHECK_OK(log(kOver));
  return submitted;
}

}  // namespace stab::engine
