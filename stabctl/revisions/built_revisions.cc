// What the command runs is there only when it is built, so nothing of it is checked here.
#include "stabctl/revisions/built_revisions.h"

#include <filesystem>

#include "base/shell_word.h"
#include "stabctl/plan/measured_command.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

// Arguments that are files of the repository lie beside each trial by their last name.
void find_inputs(const std::string& root, AdHocPlan& plan) {
  std::vector<std::string>& words = plan.commands[0].words;
  for (size_t i = 1; i < words.size(); ++i) {
    std::error_code error;
    if (words[i].empty() || words[i][0] == '/' || words[i][0] == '-' || !fs::is_regular_file(root + "/" + words[i], error))
      continue;
    plan.built.inputs.push_back(words[i]);
    words[i] = fs::path(words[i]).filename().string();
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
  find_inputs(first.root, plan);
  plan.name = experiment_name_of(run[0]);
  return {};
}

}  // namespace stab::ctl
