// Reads stab-gate.toml of the working tree, or writes what would stand in it, and makes the plan of it that compares two
// revisions.
#include "stabctl/revisions/gate_file.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "base/line_ends.h"
#include "base/named_input.h"
#include "base/number_text.h"
#include "base/wording.h"
#include "plan/limits.h"
#include "plan/parse.h"
#include "stabctl/command_line/exit_statuses.h"
#include "stabctl/revisions/built_revisions.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabctl/sides/measured_runs.h"
#include "stabd/engine/build/expand.h"

namespace stab::ctl {
namespace {

constexpr char kFile[] = "stab-gate.toml";

// What its faults are said of.
std::string name_of(const Arguments& arguments) {
  return !arguments.build.empty() ? "--build" : arguments.plan.empty() ? kFile : arguments.plan;
}

Result<std::string> text_of_build(const Revisions& revisions, const Arguments& arguments) {
  AdHocPlan plan;
  STAB_TRY(plan.exit, exit_statuses(arguments.exit));
  STAB_TRY(plan.input, input_of(arguments));
  plan.prepare = arguments.prepare;
  STAB_CHECK_OK(build_revisions({revisions}, arguments.build, arguments.behind, plan));
  plan.side_factor = "revision";
  return "[gate]\n" + (arguments.margin ? "margin = " + number_text(*arguments.margin) + "\n" : std::string()) +
         program_text_of(plan);
}

// A plan, or the text's faults. `warnings`: of a plan.
struct ReadGate {
  GatePlan gate;
  std::optional<plan::Plan> plan;
  std::vector<toml::Diagnostic> warnings;
};

ReadGate read_gate(const std::string& text, const std::string& name, const Revisions& revisions, const GateChanges& changes) {
  ReadGate out{gate_plan(text, name, revisions.base, revisions.head, changes), {}, {}};
  if (!out.gate.faults.empty()) return out;
  const plan::RealFiles files(revisions.root);
  plan::Parsed parsed = plan::parse_plan(out.gate.text, name, {.max_errors = 20, .files = &files});
  out.warnings = std::move(parsed.warnings);
  out.gate.faults = parsed.plan ? engine::event_faults(*parsed.plan) : std::move(parsed.errors);
  if (out.gate.faults.empty()) out.plan = std::move(parsed.plan);
  return out;
}

// The file's, whole. kBadInput names its faults; its warnings go to stderr.
Result<ReadGate> good_gate(const Revisions& revisions, const Arguments& arguments, const GateChanges& changes) {
  const std::string name = name_of(arguments);
  STAB_TRY(const std::string text, gate_text_of(revisions, arguments));
  ReadGate read = read_gate(text, name, revisions, changes);
  std::fputs(toml::render(read.warnings).c_str(), stderr);
  if (read.plan) return read;
  return bad_input(name + " is not a gate:\n" + without_line_ends(toml::render(read.gate.faults)));
}

}  // namespace

Error words_without_build(const std::string& instead) {
  return bad_input("what revisions run is said by the gate's file, and no words behind --; without such a file: " + instead);
}

Status must_have_gate(const Revisions& revisions, const Arguments& arguments, const std::string& instead) {
  std::error_code unknown;
  if (!arguments.build.empty() || !arguments.plan.empty() || std::filesystem::exists(revisions.root + "/" + kFile, unknown))
    return {};
  return bad_input(std::string("what revisions run is said by ") + kFile + ", and " + in_quotes(revisions.root) +
                   " has none; 'stabctl init --gate' writes one; or say it here: " + instead);
}

Result<std::string> gate_text_of(const Revisions& revisions, const Arguments& arguments) {
  if (!arguments.build.empty()) return text_of_build(revisions, arguments);
  static std::map<std::string, std::string> texts;
  const std::string path = arguments.plan.empty() ? revisions.root + "/" + kFile : arguments.plan;
  if (const auto known = texts.find(path); known != texts.end()) return known->second;
  const Result<std::string> text = read_named_input(path, plan::kMaxPlanBytes);
  if (!text && text.error().code == ErrorCode::kDenied) return bad_input(text.error().message);
  if (!text)
    return bad_input((text.error().code == ErrorCode::kBadInput ? text.error().message : "'" + path + "' can't be read") +
                     "; 'stabctl init --gate' writes one to begin with");
  return texts[path] = *text;
}

Result<plan::Plan> gate_plan_of(const Revisions& revisions, const Arguments& arguments, const GateChanges& changes) {
  STAB_TRY(ReadGate read, good_gate(revisions, arguments, changes));
  return *std::move(read.plan);
}

Result<GatePrograms> gate_programs_of(const Revisions& revisions, const Arguments& arguments) {
  STAB_TRY(ReadGate read, good_gate(revisions, arguments, {}));
  return GatePrograms{*std::move(read.plan), std::move(read.gate.programs), read.gate.margin};
}

Result<GateFile> sliced_gate_plan_of(const Revisions& revisions, const Arguments& arguments, GateChanges changes) {
  STAB_TRY(const std::string text, gate_text_of(revisions, arguments));
  changes.slice = true;
  ReadGate read = read_gate(text, name_of(arguments), revisions, changes);
  if (read.plan && read.gate.may_slice) {
    std::fputs(toml::render(read.warnings).c_str(), stderr);
    return GateFile{*std::move(read.plan), true, std::move(read.gate.sessions), read.gate.place, read.gate.moves_code};
  }
  changes.slice = false;
  STAB_TRY(ReadGate in_turn, good_gate(revisions, arguments, changes));
  return GateFile{*std::move(in_turn.plan), false, std::move(in_turn.gate.sessions), in_turn.gate.place, in_turn.gate.moves_code};
}

}  // namespace stab::ctl
