// Reads stab-gate.toml of the working tree and makes the plan of it that compares two revisions.
#include "stabctl/gate_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "plan/limits.h"
#include "plan/parse.h"
#include "stabd/engine/build/expand.h"

namespace stab::ctl {
namespace {

constexpr char kFile[] = "stab-gate.toml";

}  // namespace

Result<plan::Plan> gate_plan_of(const Revisions& revisions, const std::string& given, const GateChanges& changes) {
  const std::string path = given.empty() ? revisions.root + "/" + kFile : given;
  const std::string name = given.empty() ? kFile : given;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    return Error{ErrorCode::kBadInput, "'" + path + "' can't be read; 'stabctl init --gate' writes one to begin with", {}};
  std::string text(plan::kMaxPlanBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  GatePlan gate = gate_plan(text, name, revisions.base, revisions.head, changes);
  if (gate.faults.empty()) {
    const plan::RealFiles files(revisions.root);
    plan::Parsed parsed = plan::parse_plan(gate.text, name, {.max_errors = 20, .files = &files});
    std::fputs(toml::render(parsed.warnings).c_str(), stderr);
    if (parsed.plan) {
      gate.faults = engine::event_faults(*parsed.plan);
      if (gate.faults.empty()) return *std::move(parsed.plan);
    } else {
      gate.faults = std::move(parsed.errors);
    }
  }
  std::string faults = toml::render(gate.faults);
  while (faults.ends_with('\n')) faults.pop_back();
  return bad_input(name + " is not a gate:\n" + faults);
}

}  // namespace stab::ctl
