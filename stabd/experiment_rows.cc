#include "stabd/experiment_rows.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "stabd/estimates.h"
#include "stabd/machines_answer.h"

namespace stab::engine {

using Json = nlohmann::json;

Json row_json(const store::ExperimentSummary& row, const store::Progress& progress, bool running, int64_t machine_ns) {
  Json states = Json::object();
  for (const auto& [state, count] : progress.by_state) states[std::string(store::name(state))] = count;
  const int64_t left = progress.count(store::TrialState::kPlanned);
  Json json = {{"id", row.id},
          {"name", row.name},
          {"state", store::name(row.state)},
          {"running", running},
          {"failure", row.failure},
          {"uid", row.submitter_uid},
          {"priority", row.priority},
          {"submitted_at_ns", row.submitted_at_ns},
          {"planned", progress.planned_total},
          {"done", progress.planned_total - left},
          {"trials", states},
          {"machine_ns", machine_ns}};
  if (const auto time = time_left(machine_ns, progress.planned_total - left, left); time && !is_over(row.state))
    json["left_ns"] = *time;
  if (row.finished_at_ns != 0) json["finished_at_ns"] = row.finished_at_ns;
  return json;
}

void put_ends(Json& rows) {
  std::vector<Waiting> waiting;
  std::vector<Json*> of;
  for (Json& row : rows) {
    const auto state = store::experiment_state(row.value("state", ""));
    if (!state || is_over(*state) || *state == store::ExperimentState::kPaused) continue;
    if (row.contains("machines") && row.value("running", false)) {  // it keeps nobody waiting
      if (row.contains("left_ns")) row["ends_in_ns"] = row["left_ns"];
      continue;
    }
    waiting.push_back({row.value("id", store::Id{0}), row.value("priority", 0), row.value("running", false), {}});
    if (row.contains("left_ns")) waiting.back().left_ns = row["left_ns"].get<int64_t>();
    of.push_back(&row);
  }
  const auto ends = ends_in(waiting);
  for (size_t i = 0; i < ends.size(); ++i)
    if (ends[i]) (*of[i])["ends_in_ns"] = *ends[i];
}

Status put_machines(store::Store& store, DealtBlocks& dealt, store::Id experiment, const std::map<int, int64_t>& signs,
                    int64_t now_ns, Json& row) {
  STAB_TRY(const std::optional<MachinesAnswer> machines, machines_answer(store, dealt, experiment, signs, now_ns));
  if (!machines) return {};
  row["machines"] = Json::parse(machines->slots_json);
  row.erase("left_ns");
  if (machines->left_ns && !row.contains("finished_at_ns")) row["left_ns"] = *machines->left_ns;
  return {};
}

}  // namespace stab::engine
