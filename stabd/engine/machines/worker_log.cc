#include "stabd/engine/machines/worker_log.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/printable.h"
#include "stabd/engine/experiment/match_builds.h"
#include "stabd/engine/machines/worker_files.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::engine {
namespace {

constexpr size_t kMostEventBytes = 1000;

// A trial has another number in the controller's store than in the worker's.
std::string without_trial_number(std::string text) {
  constexpr std::string_view kTrial = " (trial ";
  const size_t at = text.rfind(kTrial);
  if (at == std::string::npos || text.back() != ')') return text;
  const auto first = text.begin() + static_cast<ptrdiff_t>(at + kTrial.size());
  if (std::all_of(first, text.end() - 1, [](unsigned char c) { return std::isdigit(c) != 0; })) text.resize(at);
  return text;
}

}  // namespace

bool is_of_a_machine(std::string_view kind) {
  static constexpr std::array<std::string_view, 13> kKinds = {
      kIdleRule, kMatchedLayouts, "engine", "gate", "ipc",  "layout-output", "leftovers", "limits", "quarantined", "shared-cpu",
      "slices",  "tmp",           "worker"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

std::string log_note(const std::vector<store::EventRow>& events) {
  std::string note;
  size_t lines = 0;
  for (const store::EventRow& event : events) {
    if (!is_of_a_machine(event.kind) || lines++ >= kMostWorkerEvents) continue;
    note += event.kind + '\t' + at_most(one_line(without_trial_number(event.text)), kMostEventBytes) + '\n';
  }
  return note;
}

std::vector<WorkerEvent> parse_log_note(std::string_view text) {
  std::vector<WorkerEvent> events;
  while (!text.empty() && events.size() < kMostWorkerEvents) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos || !is_of_a_machine(line.substr(0, tab))) continue;
    events.push_back({std::string(line.substr(0, tab)), at_most(one_line(line.substr(tab + 1)), kMostEventBytes)});
  }
  return events;
}

}  // namespace stab::engine
