// What the command runs is there only when it is built, so nothing of it is checked here.
#include "stabctl/revisions/built_revisions.h"

#include <filesystem>

#include "base/shell_word.h"

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

void build_revisions(const Revisions& revisions, const std::string& build, const std::vector<std::string>& run, AdHocPlan& plan) {
  MeasuredCommand command;
  command.words = run;
  for (const std::string& word : run) command.shown += (command.shown.empty() ? "" : " ") + shell_word(word);
  plan.commands = {command};
  const std::string& base = revisions.base_name;
  const std::string& head = revisions.head_name;
  plan.built = {revisions.root, build, {{base, revisions.base}, {head == base ? head + " (2)" : head, revisions.head}}, {}};
  find_inputs(revisions.root, plan);
  plan.name = experiment_name_of(run[0]);
}

}  // namespace stab::ctl
