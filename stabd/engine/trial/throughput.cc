// A point that was not visited is no throughput of 0: it is misspelt, or its program is none of ours, and the first trial of
// the preflight says so.
#include "stabd/engine/trial/throughput.h"

#include <algorithm>

#include "plan/plan.h"

namespace stab::engine {
namespace {

const Dose::Point* find(const Dose& dose, std::string_view name) {
  const auto at = std::find_if(dose.points.begin(), dose.points.end(),
                               [&](const Dose::Point& point) { return point.kind == "progress" && point.name == name; });
  return at == dose.points.end() || at->visits == 0 ? nullptr : &*at;
}

std::string visited_instead(const Dose& dose) {
  if (dose.points_dropped > 0 && dose.points.size() >= 62) return "; it has more points than the 62 that are counted by name";
  if (dose.points.empty()) return "; it visited no point at all: include stab/progress.h and call STAB_PROGRESS(\"NAME\")";
  constexpr size_t kMostShown = 8;
  std::string out = "; it visited ";
  for (size_t i = 0; i < dose.points.size() && i < kMostShown; ++i) {
    const Dose::Point& point = dose.points[i];
    out += (i > 0 ? ", '" : "'") + point.name + "'" + (point.kind == "progress" ? "" : " (" + point.kind + ")");
  }
  return out + (dose.points.size() > kMostShown ? " and others" : "");
}

// The time by which the visits are divided; 0: it isn't known.
int64_t spent_ns(const std::string& throughput, const store::Outcome& outcome) {
  if (!throughput.starts_with(plan::kProgressCpuPrefix)) return outcome.wall_ns.value_or(0);
  return outcome.user_ns && outcome.system_ns ? *outcome.user_ns + *outcome.system_ns : 0;
}

}  // namespace

std::string points_missing(const std::vector<std::string>& throughputs, const std::optional<Dose>& dose) {
  for (const std::string& name : throughputs) {
    if (dose && find(*dose, plan::progress_point(name)) != nullptr) continue;
    return "the response is " + name + ", but the program " +
           (dose ? "never visited that point" + visited_instead(*dose)
                 : "never asked for a helper; is it built with this version of szc?");
  }
  return {};
}

void add_throughputs(const std::vector<std::string>& throughputs, const Dose& dose, store::Outcome& outcome) {
  for (const std::string& name : throughputs) {
    const Dose::Point* const point = find(dose, plan::progress_point(name));
    const int64_t spent = spent_ns(name, outcome);
    if (point == nullptr || spent <= 0) continue;
    store::ResponseRow row;
    row.name = name;
    row.value = static_cast<double>(point->visits) * 1e9 / static_cast<double>(spent);
    row.raw = point->visits;
    outcome.responses.push_back(std::move(row));
  }
}

}  // namespace stab::engine
