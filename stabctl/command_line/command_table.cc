// The rows are in experiment_rows.cc, record_rows.cc, answer_rows.cc and lab_rows.cc, what several of them take in
// shared_options.cc.
#include "stabctl/command_line/command_table.h"

#include "stabctl/command_line/command_rows.h"

namespace stab::ctl {

const std::vector<CommandRow>& command_table() {
  static const std::vector<CommandRow> table = [] {
    std::vector<CommandRow> all;
    for (const auto& part : {rows::experiment_rows(), rows::record_rows(), rows::answer_rows(), rows::lab_rows()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

const std::vector<std::pair<std::string, std::string>>& command_groups() {
  static const std::vector<std::pair<std::string, std::string>> groups{
      {"plan", "look at a plan"}, {"db", "care of a database"}, {"machine", "show and change the machine's settings"},
      {"layout", "look at layouts: of one trial, or which of them matter"}};
  return groups;
}

const CommandRow* command_of(const std::vector<std::string>& words) {
  for (const CommandRow& row : command_table()) {
    if (words.empty()) return nullptr;
    if (row.words == words[0] || (words.size() > 1 && row.words == words[0] + " " + words[1])) return &row;
  }
  return nullptr;
}

}  // namespace stab::ctl
