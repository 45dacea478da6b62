// The parser would say that a word was not expected; this says which one was meant.
#include "stabctl/command_line/mistakes.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/wording.h"
#include "stabctl/command_line/command_table.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/command_line/hyperfine_options.h"

namespace stab::ctl {
namespace {

// "; did you mean 'report'?", or where else to look.
std::string hint(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string meant = did_you_mean(word, known);
  return "; " + (meant.empty() ? otherwise : meant);
}

// Of the group, or the first words of all commands where it is empty.
std::vector<std::string> commands_in(const std::string& group) {
  std::vector<std::string> names;
  for (const CommandRow& row : command_table()) {
    if (!group.empty() && row.group() == group) names.push_back(row.words);
    if (group.empty()) names.push_back(row.group().empty() ? row.words : row.group());
  }
  return names;
}

std::string unknown_option(const CommandRow& row, const std::vector<std::string>& words, size_t first) {
  std::vector<std::string> known{"--help"};
  for (const Option& option : row.options) known.push_back(option.name);
  for (size_t i = first; i < words.size() && words[i] != "--"; ++i) {
    const auto takes_this = [&](const Option& option) { return option.name == words[i - 1] && !option.is_switch(); };
    if (words[i].size() > 1 && words[i][0] == '-' && std::isdigit(static_cast<unsigned char>(words[i][1])) &&
        std::any_of(row.options.begin(), row.options.end(), takes_this))
      return words[i - 1] + " takes no '" + printable(words[i]) + "'; 'stabctl " + row.words + " --help' says what it takes";
    const std::string name = words[i].substr(0, words[i].find('='));
    if (row.words == "compare" || row.words == "time")
      if (const std::string instead = instead_of_hyperfine(name); !instead.empty())
        return "'stabctl " + row.words + "' has no option '" + printable(name) + "'; " + instead;
    // Of `compare`, which took levels such as -O2 before it took programs.
    if (row.behind && !row.takes_levels && words[i].size() > 1 && words[i][0] == '-' && words[i][1] != '-' && words[i] != "-h")
      return "'stabctl " + row.words + "' has no option '" + printable(words[i]) +
             "'; arguments of the programs come behind --, and recorded levels are compared by 'stabctl verdict'";
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return "'stabctl " + row.words + "' has no option '" + printable(name) + "'" +
           hint(name, known, "'stabctl " + row.words + " --help' lists them");
  }
  return {};
}

// Whether the next word is this option's value, and so no command.
bool takes_next(const std::string& word) {
  for (const CommandRow& row : command_table())
    for (const Option& option : row.options)
      if (option.name == word && !option.is_switch()) return true;
  return false;
}

// Where the command begins in words that begin with an option; their number: nowhere.
size_t first_of_command(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (command_of({words.begin() + static_cast<std::ptrdiff_t>(i), words.end()})) return i;
    if (takes_next(words[i])) ++i;
  }
  return words.size();
}

std::string option_before_command(const std::vector<std::string>& words) {
  const std::set<std::string> own{"-h", "--help", "--version", "--"};
  if (own.contains(words[0])) return {};
  const size_t first = first_of_command(words);
  const std::string said = "options come behind the command";
  if (first == words.size()) return said + "; 'stabctl --help' lists the commands";
  std::vector<std::string> right{words.begin() + static_cast<std::ptrdiff_t>(first), words.end()};
  const size_t length = command_of(right)->group().empty() ? 1 : 2;
  right.insert(right.begin() + static_cast<std::ptrdiff_t>(length), words.begin(),
               words.begin() + static_cast<std::ptrdiff_t>(first));
  std::string line = said + ": stabctl";
  for (const std::string& word : right) line += " " + printable(word);
  return line;
}

}  // namespace

std::string mistake_in(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  if (words[0].starts_with("-")) return option_before_command(words);
  if (const CommandRow* row = command_of(words)) return unknown_option(*row, words, row->group().empty() ? 1 : 2);
  const std::vector<std::string> first = commands_in("");
  if (std::find(first.begin(), first.end(), words[0]) == first.end())
    return "there is no command '" + printable(words[0]) + "'" + hint(words[0], first, "'stabctl --help' lists them");
  // A group: its second word is wrong, or not there.
  if (words.size() < 2 || words[1].starts_with("-")) return {};
  const std::string both = words[0] + " " + words[1];
  return "there is no command '" + printable(both) + "'" +
         hint(both, commands_in(words[0]), "'stabctl " + words[0] + " --help' lists them");
}

}  // namespace stab::ctl
