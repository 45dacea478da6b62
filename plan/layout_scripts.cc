// The text of a script is looked at by the parser that the helper has: what a plan check lets pass fails at most on the binary.
#include "plan/layout_scripts.h"

#include <algorithm>
#include <memory>
#include <set>

#include "plan/design.h"
#include "runtime/code/layout_script.h"

namespace stab::plan {
namespace {

constexpr std::string_view kAnyBinary = "stab-script 1 any\n";

std::string_view first_word(std::string_view line) {
  const size_t from = line.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return line.substr(from, line.find_first_of(" \t\r", from) - from);
}

bool is_for_design(std::string_view line) {
  const std::string_view word = first_word(line);
  return word == "place" || word == "rest";
}

// The lines that a level other than design obeys.
std::string without_places(std::string_view script) {
  std::string out;
  while (!script.empty()) {
    const size_t end = std::min(script.find('\n'), script.size() - 1) + 1;
    if (!is_for_design(script.substr(0, end))) out += script.substr(0, end);
    script.remove_prefix(end);
  }
  return out;
}

std::unique_ptr<code::LayoutScript> parse(std::string_view text, code::ScriptVerdict& verdict) {
  auto script = std::make_unique<code::LayoutScript>();
  verdict = code::parse_script(text.data(), text.size(), *script);
  return script;
}

std::set<std::string, std::less<>> counted_in(std::string_view text) {
  code::ScriptVerdict verdict;
  const auto script = parse(text, verdict);
  std::set<std::string, std::less<>> names;
  for (uint32_t i = 0; verdict.fault == code::ScriptFault::kNone && i < script->counted_count; ++i)
    names.emplace(script->counted[i].name.text, script->counted[i].name.bytes);
  return names;
}

std::string words_of(const code::ScriptVerdict& verdict) {
  return (verdict.line > 0 ? "line " + std::to_string(verdict.line) + ": " : "") +
         code::kScriptFaultWords[static_cast<size_t>(verdict.fault)];
}

}  // namespace

std::string_view counted_function(std::string_view point) {
  return point.starts_with(kFunctionPrefix) ? point.substr(kFunctionPrefix.size()) : std::string_view();
}

std::string script_of_trial(const Plan& plan, const Program& program, abi::CodeMode code) {
  if (code == abi::CodeMode::kOff) return {};
  std::string script = program.layout_script.empty() ? std::string(kAnyBinary)
                       : code == abi::CodeMode::kDesign ? program.layout_script
                                                        : without_places(program.layout_script);
  if (script.back() != '\n') script += '\n';
  std::set<std::string, std::less<>> counted = counted_in(script);
  const bool is_design = code == abi::CodeMode::kDesign && !program.layout_script.empty();
  for (const std::string& response : plan.throughputs())
    if (const std::string_view name = counted_function(progress_point(response)); !name.empty() && counted.emplace(name).second)
      script += "count " + std::string(name) + "\n";
  return is_design || !counted.empty() ? script : std::string();
}

void check_layout_scripts(const Plan& plan, toml::Faults& faults) {
  const Factor* const code = code_factor(plan);
  const bool has_off = code == nullptr || has_level(code, abi::CodeMode::kOff);
  for (const Response& response : plan.experiment.responses) {
    const std::string_view point = progress_point(response.name);
    if (!point.starts_with(kFunctionPrefix)) continue;
    if (has_off)
      faults.error(code != nullptr ? code->spot : SourceSpot{},
                   "response '" + response.name +
                       "' counts the calls of a function, which only code that moves can do, and code is off" +
                       (code == nullptr ? "" : " in some cells"),
                   "write code = [\"copy\", ...] under [factors], without \"off\"");
  }
  for (const Program& program : plan.programs) {
    if (program.layout_script.empty()) {
      if (has_level(code, abi::CodeMode::kDesign) && !plan.layout.confirms)
        faults.error(program.spot, "code has the level 'design', and program '" + program.name + "' has no layout script",
                     "write layout_script = '''stab-script 1 any ...''' below [[program]]");
      continue;
    }
    code::ScriptVerdict verdict;
    const auto script = parse(program.layout_script, verdict);
    if (verdict.fault != code::ScriptFault::kNone) {
      faults.error(program.script_spot, "layout_script, " + words_of(verdict), "docs/reference/layout-script.md has the format");
      continue;
    }
    if ((script->placed_count > 0 || script->rest_still) && !has_level(code, abi::CodeMode::kDesign))
      faults.error(program.script_spot, "layout_script places functions, and code has no level that obeys it",
                   "write code = [\"design\"] under [factors]");
    // With what the responses add, too.
    const std::string whole = script_of_trial(plan, program, abi::CodeMode::kDesign);
    parse(whole, verdict);
    if (verdict.fault != code::ScriptFault::kNone)
      faults.error(program.script_spot, "layout_script with the functions of the responses: " + words_of(verdict));
  }
  if (faults.error_count() > 0) return;
  for (const Program& program : plan.programs) {
    if (!program.layout_script.empty()) continue;
    const std::string counts = script_of_trial(plan, program, abi::CodeMode::kShuffle);
    code::ScriptVerdict verdict;
    if (!counts.empty()) parse(counts, verdict);
    if (verdict.fault == code::ScriptFault::kNone) continue;
    return faults.error(program.spot, "the functions that the responses count: " + words_of({verdict.fault, 0}));
  }
}

}  // namespace stab::plan
