#include "stabd/daemon/answers/experiment_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_line.h"
#include "stabd/daemon/answers/machines_answer.h"
#include "stabd/daemon/runs/estimates.h"

namespace stab::daemon {
namespace {

// A JSON string.
std::string quoted_text(const std::string& text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (is_plain) return '"' + text + '"';
  return json_line(nlohmann::json(text));
}

// Members of an object, one after the other.
class Members {
 public:
  void number(std::string_view name, int64_t value) { add(name) += std::to_string(value); }
  void number(std::string_view name, const std::optional<int64_t>& value) {
    if (value) number(name, *value);
  }
  void json(std::string_view name, std::string_view value) { add(name) += value; }
  std::string whole() && { return std::move(text_) + '}'; }

 private:
  std::string& add(std::string_view name) {
    text_ += text_.size() > 1 ? ",\"" : "\"";
    text_ += name;
    return text_ += "\":";
  }
  std::string text_ = "{";
};

int64_t left_of(const store::Progress& progress) { return progress.count(store::TrialState::kPlanned); }

}  // namespace

ToldExperiment told(store::ExperimentSummary row, store::Progress progress, bool running, int64_t machine_ns) {
  ToldExperiment out{std::move(row), std::move(progress), running, machine_ns, {}, {}, {}, {}};
  const int64_t left = left_of(out.progress);
  if (!is_over(out.row.state)) out.left_ns = time_left(machine_ns, out.progress.planned_total - left, left);
  return out;
}

void put_wait(const std::string& waits_for, ToldExperiment& experiment) {
  const store::ExperimentState state = experiment.row.state;
  if (!experiment.running && !is_over(state) && state != store::ExperimentState::kPaused) experiment.waits_for = waits_for;
}

Status put_machines(store::Store& store, engine::DealtBlocks& dealt, const std::map<int, int64_t>& signs, int64_t now_ns,
                    ToldExperiment& experiment) {
  STAB_TRY(std::optional<MachinesAnswer> machines, machines_answer(store, dealt, experiment.row.id, signs, now_ns));
  if (!machines) return {};
  experiment.machines = std::move(machines->slots_json);
  experiment.left_ns = experiment.row.finished_at_ns == 0 ? machines->left_ns : std::nullopt;
  return {};
}

void put_ends(std::vector<ToldExperiment>& all) {
  std::vector<Waiting> waiting;
  std::vector<ToldExperiment*> of;
  for (ToldExperiment& one : all) {
    if (is_over(one.row.state) || one.row.state == store::ExperimentState::kPaused) continue;
    if (!one.machines.empty() && one.running) {  // it keeps nobody waiting
      one.ends_in_ns = one.left_ns;
      continue;
    }
    waiting.push_back({one.row.id, one.row.priority, one.running, one.left_ns});
    of.push_back(&one);
  }
  const auto ends = ends_in(waiting);
  for (size_t i = 0; i < ends.size(); ++i) of[i]->ends_in_ns = ends[i];
}

std::string text_of(const ToldExperiment& experiment) {
  const store::ExperimentSummary& row = experiment.row;
  const store::Progress& progress = experiment.progress;
  std::map<std::string_view, int64_t> counts;
  for (const auto& [state, count] : progress.by_state) counts[store::name(state)] = count;
  Members trials;
  for (const auto& [state, count] : counts) trials.number(state, count);

  Members out;
  out.number("done", progress.planned_total - left_of(progress));
  out.number("ends_in_ns", experiment.ends_in_ns);
  out.json("failure", quoted_text(row.failure));
  if (row.finished_at_ns != 0) out.number("finished_at_ns", row.finished_at_ns);
  out.number("id", row.id);
  out.number("left_ns", experiment.left_ns);
  out.number("machine_ns", experiment.machine_ns);
  if (!experiment.machines.empty()) out.json("machines", experiment.machines);
  out.json("name", quoted_text(row.name));
  out.number("planned", progress.planned_total);
  out.number("priority", row.priority);
  out.json("running", experiment.running ? "true" : "false");
  out.json("state", quoted_text(std::string(store::name(row.state))));
  out.number("submitted_at_ns", row.submitted_at_ns);
  out.json("trials", std::move(trials).whole());
  out.number("uid", row.submitter_uid);
  if (!experiment.waits_for.empty()) out.json("waits_for", quoted_text(experiment.waits_for));
  return std::move(out).whole();
}

}  // namespace stab::daemon
