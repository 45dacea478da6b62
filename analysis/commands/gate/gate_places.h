// What a gate says of places: of where the linker put the functions of the two revisions, which its random layouts average away.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/explain/explain.h"
#include "analysis/report/report_data/worse.h"

namespace stab::commands {

// What a place that makes a workload slower does to a gate whose code is not worse.
enum class PlaceRule { kPass, kUnsure, kFail };
// In the order of PlaceRule, as stab-gate.toml has them.
inline constexpr const char* kPlaceRules[] = {"pass", "unsure", "fail"};

struct GatePlace {
  std::string workload;
  Explanation explanation;
};

struct GatePlaces {
  PlaceRule rule = PlaceRule::kPass;
  std::vector<GatePlace> workloads;  // each that explain takes
};

// Yes: its place is shown to make the head slower, by an effect that may reach the margin. No: shown not to. Else unsure.
report::Worse worse_by_place(const Explanation& explanation);

// The workload that the place makes slowest, of those that are worse by it. Null: of none.
const GatePlace* worst_place(const GatePlaces& places);

// A gate's answer of code together with its places. pre: a code that is worse stays so
report::Worse with_places(report::Worse code, const GatePlaces& places);

// "place of parser: place: ...", on one line and safe for a terminal: names of functions are the program's.
std::string place_text(const GatePlace& place);

}  // namespace stab::commands
