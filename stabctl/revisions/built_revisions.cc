// What the command runs is there only when it is built, so nothing of it is checked here.
#include "stabctl/revisions/built_revisions.h"

#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "base/printable.h"
#include "base/shell_word.h"
#include "base/wording.h"
#include "plan/input_names.h"
#include "stabctl/plan/measured_command.h"
#include "stabctl/revisions/git.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

// Arguments that are files of the repository lie beside each trial by their last name.
Status find_inputs(const std::string& root, AdHocPlan& plan) {
  std::vector<std::string>& words = plan.commands[0].words;
  std::set<std::string> known;
  plan::InputNames names;
  for (size_t i = 1; i < words.size(); ++i) {
    std::error_code error;
    if (words[i].empty() || words[i][0] == '/' || words[i][0] == '-' || !fs::is_regular_file(root + "/" + words[i], error))
      continue;
    if (known.insert(words[i]).second) plan.built.inputs.push_back(words[i]);
    if (const std::string why = names.why_not_beside(words[i]); !why.empty())
      return bad_input(why + ", which holds what the command names; rename one");
    words[i] = fs::path(words[i]).filename().string();
  }
  return {};
}

// Both sides get what lies in the working tree, which is fair; but who thinks of a revision's own files must know.
void note_other_inputs(const std::vector<Revisions>& changes, const std::vector<std::string>& inputs) {
  std::vector<std::pair<std::string, std::string>> revisions{{changes[0].base_name, changes[0].base}};
  for (const Revisions& change : changes) revisions.emplace_back(change.head_name, change.head);
  for (const std::string& input : inputs) {
    const auto here = git({"-C", changes[0].root, "hash-object", "--", input});
    std::string others;
    for (const auto& [name, commit] : revisions) {
      const auto there =
          git({"-C", changes[0].root, "rev-parse", "--verify", "--quiet", "--end-of-options", commit + ":" + input});
      if (here && (!there || *there != *here)) others += (others.empty() ? "" : ", ") + shown_revision(name, commit);
    }
    if (!others.empty())
      std::fprintf(stderr, "note: all sides read the working tree's %s, which is not that of %s\n",
                   in_quotes(printable(input)).c_str(), printable(others).c_str());
  }
}

}  // namespace

Status build_revisions(const std::vector<Revisions>& changes, const std::string& build, const std::vector<std::string>& run,
                       AdHocPlan& plan) {
  STAB_CHECK_OK(check_plan_word(build));
  for (const std::string& word : run) STAB_CHECK_OK(check_plan_word(word));
  MeasuredCommand command;
  command.words = run;
  for (const std::string& word : run) command.shown += (command.shown.empty() ? "" : " ") + shell_word(word);
  plan.commands = {command};
  const Revisions& first = changes.front();
  std::vector<std::string> called{first.base_name};
  for (const Revisions& change : changes) called.push_back(change.head_name);
  const std::vector<std::string> names = names_of_levels(called);
  plan.built = {first.root, build, {{names[0], first.base}}, {}};
  for (size_t i = 0; i < changes.size(); ++i) plan.built.revisions.emplace_back(names[i + 1], changes[i].head);
  STAB_CHECK_OK(find_inputs(first.root, plan));
  note_other_inputs(changes, plan.built.inputs);
  plan.name = experiment_name_of(run[0]);
  return {};
}

}  // namespace stab::ctl
