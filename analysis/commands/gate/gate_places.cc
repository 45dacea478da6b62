#include "analysis/commands/gate/gate_places.h"

#include <algorithm>

#include "analysis/commands/explain/explain_cure.h"
#include "base/printable.h"

namespace stab::commands {

report::Worse worse_by_place(const Explanation& explanation) {
  if (explanation.is_one_build) return report::Worse::kNo;
  if (!explanation.answer) return report::Worse::kUnsure;
  if (explanation.answer->verdict == statistics::CauseVerdict::kNothing) return report::Worse::kNo;
  const statistics::CauseEffect& place = explanation.answer->place;
  switch (place.state) {
    case statistics::EffectState::kThere: return place.low > 0 ? report::Worse::kYes : report::Worse::kNo;
    case statistics::EffectState::kSmall:
    case statistics::EffectState::kAbsent: return report::Worse::kNo;
    case statistics::EffectState::kOpen: break;
  }
  return report::Worse::kUnsure;
}

const GatePlace* worst_place(const GatePlaces& places) {
  const GatePlace* worst = nullptr;
  for (const GatePlace& one : places.workloads)
    if (worse_by_place(one.explanation) == report::Worse::kYes &&
        (worst == nullptr || one.explanation.answer->place.estimate > worst->explanation.answer->place.estimate))
      worst = &one;
  return worst;
}

report::Worse with_places(report::Worse code, const GatePlaces& places) {
  if (places.rule == PlaceRule::kPass || code == report::Worse::kYes) return code;
  if (worst_place(places) != nullptr) return places.rule == PlaceRule::kFail ? report::Worse::kYes : report::Worse::kUnsure;
  const bool is_open = std::any_of(places.workloads.begin(), places.workloads.end(), [](const GatePlace& one) {
    return worse_by_place(one.explanation) == report::Worse::kUnsure;
  });
  return is_open ? report::Worse::kUnsure : code;
}

std::string place_text(const GatePlace& place) {
  const std::string of = "place of " + place.workload + ": ";
  const std::string cure = cure_line(place.explanation);
  return one_line(of + (place.explanation.answer         ? explain_sentence(place.explanation) + (cure.empty() ? "" : "; " + cure)
                        : place.explanation.is_one_build ? "nothing: " + place.explanation.not_answered
                                                         : "no answer, " + place.explanation.not_answered));
}

}  // namespace stab::commands
