// A repository's stab-gate.toml becomes a plan of two revisions.
//
// The file is a plan without [experiment], [factors] and [stopping], which the gate writes; [gate] says what goes into them:
//
//   [gate]
//   margin = "2%"                # the regression that matters
//   looks = [10, 20, 40]         # replicates after which it may end; or max = 60: after each block from first = 8 on
//   response = "wall_time"       # what is judged beside benchmarks of the program's own
//   logbook = "gates.logbook"    # A/A controls of many sessions; with stream = { name = "pull-requests" } the gate is one of a
//   stream code = "shuffle"  stack = "on"  heap = "page"  epoch = "auto"  links = 10
//   about = "binaries"           # as they are linked, instead of those keys: of what szc doesn't link
//
//   [[program]]                  # as in any plan; {revision} is what git checks out
//   source = { git = ".", revision = "{revision}" }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/gate/gate_places.h"
#include "plan/toml/diagnostic.h"
#include "store/logbook.h"

namespace stab::ctl {

// Where the gate's error between sessions and its stream are kept (store/logbook.h).
struct GateSessionKeys {
  std::string logbook;  // empty: the user's own
  std::optional<store::StreamName> stream{};
};

struct GatePlan {
  std::string text;      // of a plan; the file's lines keep their numbers
  std::string programs;  // the file's own part of it: all but [gate]
  double margin = 0;
  std::vector<toml::Diagnostic> faults;
  GateSessionKeys sessions;
  std::optional<commands::PlaceRule> place{};  // absent: places are not asked about
  bool may_slice = false;  // the file leaves it open how its trials have the machine, and what of them is judged
  bool moves_code = false;  // in trials that really run
};
// What is asked otherwise than the file says.
struct GateChanges {
  std::optional<double> margin{}, alpha{};  // by a search for a commit
  std::optional<uint32_t> blocks{};         // of its comparison, as the search asks for them (looks_of_comparison)
  bool slice = false;                   // sliced blocks, if the file leaves that open
  bool control = false;                 // both sides are equal: as many blocks as at the last look, and none before it
  bool counts_copies = false;           // instead: each runs once in identical copies, and what costs more there is counted
};
// `base` and `head`: commits, 40 hex digits or 64.
GatePlan gate_plan(const std::string& file, const std::string& path, const std::string& base, const std::string& head,
                   const GateChanges& changes = {});

}  // namespace stab::ctl
