// The shells' scripts only hand words over; what fits is decided here, by the table that parses them, too.
#include "stabctl/completion.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>

#include "base/shell_word.h"
#include "stabctl/command_line/command_sections.h"
#include "stabctl/command_line/command_table.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"

namespace stab::ctl {
namespace {

constexpr char kBash[] = R"(_stabctl() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done \
    < <(stabctl __complete --typed "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  ((${#COMPREPLY[@]})) || compopt -o default
}
complete -F _stabctl stabctl
)";
constexpr char kZsh[] = R"(#compdef stabctl
_stabctl() {
  local -a found
  found=("${(@f)$(stabctl __complete --typed "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ -n $found[1] ]]; then compadd -a found; else compset -P '--*='; _files; fi
}
# As a file of fpath this is the function's own text at its first call; sourced, it is to be made known.
if [[ $funcstack[1] == _stabctl ]]; then _stabctl; else compdef _stabctl stabctl; fi
)";
constexpr char kFish[] = R"(complete -c stabctl -a '(stabctl __complete (commandline -opc)[2..-1] (commandline -ct) 2> /dev/null)'
)";

const Option* option_named(const CommandRow& row, const std::string& name) {
  const auto found =
      std::find_if(row.options.begin(), row.options.end(), [&](const Option& option) { return option.name == name; });
  return found == row.options.end() ? nullptr : &*found;
}

// First words, or the second ones of a group.
std::vector<std::string> command_words(const std::string& group) {
  std::vector<std::string> out;
  for (const CommandRow& row : command_table()) {
    if (section_of(row.group().empty() ? row.words : row.group()).empty()) continue;  // internal
    std::string word = !group.empty() ? (row.group() == group ? row.name() : "") : row.group().empty() ? row.words : row.group();
    if (!word.empty() && std::find(out.begin(), out.end(), word) == out.end()) out.push_back(std::move(word));
  }
  return out;
}

// The words as if each option stood apart from its value.
struct Apart {
  std::vector<std::string> words;
  std::string before;  // what the last word had before its value: "--format="
};

// `--format=json` is one word for zsh and fish; bash makes three of it, and two where nothing follows yet.
Apart apart(const std::vector<std::string>& typed) {
  Apart out;
  for (const std::string& word : typed) {
    const bool is_last = &word == &typed.back();
    const size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    if (equals != word.npos) {
      out.words.push_back(word.substr(0, equals));
      out.words.push_back(word.substr(equals + 1));
      if (is_last) out.before = word.substr(0, equals + 1);
    } else if (word != "=" || out.words.empty() || !out.words.back().starts_with("--")) {
      out.words.push_back(word);
    } else if (is_last) {
      out.words.emplace_back();
    }
  }
  return out;
}

// pre: the command's words are complete
std::vector<std::string> of_command(const CommandRow& row, const std::vector<std::string>& words,
                                    const std::function<std::vector<std::string>()>& experiments) {
  size_t operand = 0;
  const Option* waits = nullptr;  // for its value
  for (size_t i = row.group().empty() ? 1 : 2; i + 1 < words.size(); ++i) {
    if (waits) waits = nullptr;
    else if (words[i].starts_with("--")) waits = option_named(row, words[i]);
    else ++operand;
    if (waits && waits->is_switch()) waits = nullptr;
  }
  if (waits)
    return !waits->words.empty()                   ? waits->words
           : waits->offers == Offers::kExperiments ? experiments()
                                                   : std::vector<std::string>{};
  if (words.back().starts_with("-")) {
    std::vector<std::string> names{"--help"};
    for (const Option& option : row.options) names.push_back(option.name);
    return names;
  }
  if (row.run == completion_command) return {"bash", "zsh", "fish"};
  if (row.operands.empty()) return {};
  const Operand& here = row.operands[std::min(operand, row.operands.size() - 1)];
  const auto most = row.operands.size() - 1 + static_cast<size_t>(row.operands.back().count.second);
  return operand < most && here.offers == Offers::kExperiments ? experiments() : std::vector<std::string>{};
}

// The newest first. No plan can give a name that a shell would read something in, but somebody else's database may hold one, and
// what is offered ends on a command line as it is: such experiments are called by their numbers.
std::vector<std::string> names_in(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return {};
  const auto all = store->summaries();
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  if (all)
    for (auto row = all->rbegin(); row != all->rend(); ++row)
      if (shell_word(row->name) == row->name && seen.insert(row->name).second) names.push_back(row->name);
  return names;
}

// Shells hand a word over before they put the home into it.
std::string with_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return home && path.starts_with("~/") ? home + path.substr(1) : path;
}

}  // namespace

std::vector<std::string> candidates(const std::vector<std::string>& words,
                                    const std::function<std::vector<std::string>()>& experiments) {
  std::vector<std::string> all;
  const auto [current, option] = apart(words.empty() ? std::vector<std::string>{""} : words);
  const std::vector<std::string> before(current.begin(), current.end() - 1);
  const CommandRow* row = command_of(before);
  if (row) all = of_command(*row, current, experiments);
  else if (before.empty()) all = command_words("");
  else if (before.size() == 1) all = command_words(before[0]);
  std::erase_if(all, [&](const std::string& word) { return !word.starts_with(current.back()); });
  for (std::string& word : all) word.insert(0, option);
  return all;
}

int complete_command(std::vector<std::string> words) {
  if (!words.empty() && words[0] == "--typed") {
    words.erase(words.begin());
    for (std::string& word : words) word = text_of_shell_word(word);
  }
  Arguments arguments;
  const std::vector<std::string> each = apart(words).words;
  for (size_t i = 0; i + 1 < each.size(); ++i)
    if (each[i] == "--db") arguments.database = with_home(each[i + 1]);
  for (const std::string& word : candidates(words, [&] { return names_in(arguments); }))
    std::printf("%s\n", printable(word).c_str());
  return kExitDone;
}

int completion_command(const Arguments& arguments) {
  const std::string& shell = arguments.words[0];
  const char* script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : nullptr;
  if (!script) return complain(bad_input("no completions for '" + printable(shell) + "'; there are some for bash, zsh and fish"));
  std::fputs(script, stdout);
  return kExitDone;
}

}  // namespace stab::ctl
