// stab-gate.toml, as it lies at a repository's root. Instead of it, --build says what builds a revision, and the words behind --
// what is run: the same text, made of them. Arguments of these functions: --plan, the file, by default the one at the root; or
// --build, --margin and `behind`.
#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/revisions/gate_plan.h"
#include "stabctl/revisions/revisions.h"

namespace stab::ctl {

// Of a question about revisions, by a gate's file or by --build. `instead`: the question by --build, as it is typed.
Error words_without_build(const std::string& instead);
Status must_have_gate(const Revisions& revisions, const Arguments& arguments, const std::string& instead);

// The file's text, as this command has read it first: whoever edits the file meanwhile changes nothing of what is asked, and a
// pipe can be read only once. kBadInput: it can't be read.
Result<std::string> gate_text_of(const Revisions& revisions, const Arguments& arguments);

// The plan that compares both revisions. Paths in the file are relative to the root, wherever it lies. kBadInput names the file's
// faults and their places; its warnings go to stderr.
Result<plan::Plan> gate_plan_of(const Revisions& revisions, const Arguments& arguments, const GateChanges& changes = {});

// What the file says of its programs, for another question than the gate's.
struct GatePrograms {
  plan::Plan plan;   // the gate's
  std::string text;  // the file without [gate]; lines keep their numbers
  double margin = 0;
};
Result<GatePrograms> gate_programs_of(const Revisions& revisions, const Arguments& arguments);

struct GateFile {
  plan::Plan plan;
  bool is_sliced_by_us = false;  // it left that open
  GateSessionKeys sessions{};
  std::optional<commands::PlaceRule> place{};
  bool moves_code = false;  // as GatePlan has it
};
// The same with sliced blocks, if the file leaves that open and its plan can have them: benchmarks of a program's own, for
// one, are times by its own clock.
Result<GateFile> sliced_gate_plan_of(const Revisions& revisions, const Arguments& arguments, GateChanges changes = {});

}  // namespace stab::ctl
