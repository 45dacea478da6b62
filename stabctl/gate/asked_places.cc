// Each workload has its share of the time that is left, and what one doesn't take the next ones have.
#include "stabctl/gate/asked_places.h"

#include "base/printable.h"
#include "stabctl/explain/explain_command.h"

namespace stab::ctl {

PlacesByWorkload places_to_ask(const Arguments& arguments, const Revisions& revisions,
                               const std::map<std::string, std::string>& commands) {
  PlacesByWorkload out;
  Arguments asked = arguments;
  asked.words = {revisions.base + ".." + revisions.head};
  asked.json = false;
  for (const auto& [workload, command] : commands) {
    // What --build runs is one workload, which has no name.
    if (asked.build.empty()) asked.workload = workload;
    out.emplace(workload, AskedPlace{command, explained_sides(asked)});
  }
  return out;
}

std::vector<commands::GatePlace> ask_places(engine::Engine& engine, const Arguments& arguments, const Clock& clock,
                                            const PlacesByWorkload& places, std::optional<std::chrono::nanoseconds> end,
                                            engine::StopSignal& stop, ToldNotes& told) {
  std::vector<commands::GatePlace> out;
  size_t left = places.size();
  for (const auto& [workload, asked_place] : places) {
    const Result<ExplainedSides>& sides = asked_place.sides;
    commands::GatePlace& place = out.emplace_back();
    place.workload = workload;
    Arguments asked = arguments;
    asked.json = false;
    asked.workload = workload;
    std::chrono::nanoseconds budget = kUsualExplainTime;
    if (end) budget = (*end - clock.monotonic_raw()) / static_cast<int64_t>(left);
    --left;
    if (budget <= std::chrono::nanoseconds(0)) {
      place.explanation.not_answered = "the budget of " + arguments.at_most + " ended before its place was asked about";
      continue;
    }
    if (!sides) place.explanation.not_answered = printable(sides.error().message);
    // Why there is no answer is in the explanation.
    else if (!explain_sides(engine, asked, clock, stop, *sides, budget, told, place.explanation))
      place.explanation.command = asked_place.command;
  }
  return out;
}

std::string time_of_places(size_t workloads) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(kUsualExplainTime).count();
  std::string time = std::to_string(minutes) + " min";
  if (workloads > 1)
    time += " for each of " + std::to_string(workloads) + " workloads, " +
            std::to_string(minutes * static_cast<int64_t>(workloads)) + " min";
  return time;
}

}  // namespace stab::ctl
