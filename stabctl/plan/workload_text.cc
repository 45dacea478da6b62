// A plan's text is what the store keeps, so another plan of the same program is another text: lines are taken out of it
// (plan_lines.h), and never written anew.
#include "stabctl/plan/workload_text.h"

#include <algorithm>
#include <array>
#include <variant>

#include "base/wording.h"
#include "plan/toml/toml_text.h"
#include "stabctl/plan/plan_lines.h"

namespace stab::ctl {
namespace {

// What of a plan is about programs and the machine, whatever is asked.
constexpr std::array<std::string_view, 4> kKept = {"program", "machine", "limits", "exclusions"};
constexpr char kName[] = "the plan";

using Kind = toml::TomlNode::Kind;

Result<toml::TomlNode> tree_of(const std::string& text) {
  auto read = toml::read_toml(text, kName);
  if (auto* tree = std::get_if<toml::TomlNode>(&read)) return std::move(*tree);
  return bad_input(toml::render({std::get<toml::Diagnostic>(read)}));
}

// All items of an array but one.
void add_others(const toml::TomlNode* array, int kept, std::set<const toml::TomlNode*>& without) {
  if (array == nullptr) return;
  for (size_t i = 0; i < array->items.size(); ++i)
    if (static_cast<int>(i) != kept) without.insert(&array->items[i]);
}

std::string all_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "there are: " : ", ") + name;
  return out;
}

// Where a spot is in the text; columns are characters, of up to four bytes.
size_t offset_of(const std::string& text, const SourceSpot& spot) {
  size_t at = 0;
  for (int line = 1; line < spot.line && at < text.size(); ++line) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  for (int column = 1; column < spot.column && at < text.size(); ++column) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  }
  return at;
}

// With one more line, or field, of the one program.
Result<std::string> with_entry(const std::string& text, const toml::TomlNode& tree, const std::string& entry) {
  const toml::TomlNode* const programs = value_of(tree, "program");
  if (programs == nullptr || programs->items.size() != 1)
    return Error{ErrorCode::kInternal, "'" + entry + "' is for one program", {}};
  const size_t at = offset_of(text, programs->items[0].spot);
  std::string out = text;
  if (text.compare(at, 1, "{") == 0) return out.insert(at + 1, " " + entry + ",");
  const size_t end = text.find('\n', at);
  if (text.compare(at, 1, "[") != 0 || end == std::string::npos)
    return Error{ErrorCode::kInternal, "no [[program]] begins on line " + std::to_string(programs->items[0].spot.line), {}};
  return out.insert(end + 1, entry + "\n");
}

}  // namespace

Result<plan::Subject> chosen_workload(const plan::Plan& plan, const std::string& name, const std::string& where) {
  const std::vector<plan::Subject> all = plan::subjects(plan);
  if (name.empty() && all.size() == 1) return all[0];
  std::vector<std::string> known;
  for (const plan::Subject& one : all) {
    if (!name.empty() && one.name == name) return one;
    known.push_back(one.name);
  }
  if (name.empty())
    return bad_input(where + " has " + std::to_string(all.size()) +
                     " workloads, and one is explained at a time; add --workload " + all[0].name + "; " + all_of(known));
  return bad_input(where + " has no workload " + in_quotes(name) + "; " + what_there_is(name, known));
}

std::string what_there_is(const std::string& word, const std::vector<std::string>& known) {
  const std::string meant = did_you_mean(word, known);
  return (meant.empty() ? "" : meant + " ") + all_of(known);
}

Result<std::string> text_of_workload(const std::string& text, const plan::Plan& plan, const plan::Subject& workload) {
  STAB_TRY(const toml::TomlNode tree, tree_of(text));
  std::set<const toml::TomlNode*> without;
  for (const toml::TomlEntry& entry : tree.entries)
    if (std::find(kKept.begin(), kKept.end(), entry.key) == kKept.end()) without.insert(&entry.value);
  const toml::TomlNode* const programs = value_of(tree, "program");
  const auto program = static_cast<size_t>(workload.program);
  if (programs == nullptr || programs->items.size() != plan.programs.size() || program >= programs->items.size())
    return Error{ErrorCode::kInternal, "the plan's text has other programs than the plan", {}};
  add_others(programs, workload.program, without);
  add_others(value_of(programs->items[program], "workload"), workload.workload, without);
  std::string out = without_lines_of(without, text, kName, tree);
  if (!out.empty()) return out;
  return bad_input(
      "the program stands on one line with other parts of the plan, so it can't be taken alone; write it as [[program]], "
      "with its keys on lines below");
}

Result<std::string> with_layout_script(const std::string& text, const std::string& script) {
  STAB_TRY(const toml::TomlNode tree, tree_of(text));
  return with_entry(text, tree, "layout_script = " + toml::toml_text(script));
}

Result<std::string> with_timeout(const std::string& text, const std::string& timeout) {
  static constexpr char kKey[] = "timeout";
  STAB_TRY(const toml::TomlNode tree, tree_of(text));
  std::set<const toml::TomlNode*> without;
  const auto leave_out = [&without](const toml::TomlNode& table) {
    if (const toml::TomlNode* const found = value_of(table, kKey)) without.insert(found);
  };
  if (const toml::TomlNode* const programs = value_of(tree, "program")) {
    for (const toml::TomlNode& program : programs->items) {
      leave_out(program);
      if (const toml::TomlNode* const workloads = value_of(program, "workload"))
        for (const toml::TomlNode& workload : workloads->items) leave_out(workload);
    }
  }
  const std::string left = without.empty() ? text : without_lines_of(without, text, kName, tree);
  if (left.empty())
    return bad_input("'timeout' stands on one line with other keys of the program; write it on a line of its own");
  STAB_TRY(const toml::TomlNode rest, tree_of(left));
  return with_entry(left, rest, std::string(kKey) + " = " + toml::toml_text(timeout));
}

}  // namespace stab::ctl
