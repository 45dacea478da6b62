// The commands of stabctl: one row each, with its words, what it takes, its help, examples and the function that runs it. The
// grammar and --help (arguments.cc), suggestions for what is mistyped (mistakes.cc) and completions (completion.cc) are made of
// these rows; tests/e2e/docs_test holds the man page against them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stabctl/command_line/arguments.h"

namespace stab::ctl {

// Where a word goes.
using Target = std::variant<bool Arguments::*, int Arguments::*, int64_t Arguments::*, double Arguments::*,
                            std::optional<double> Arguments::*, std::string Arguments::*, std::optional<std::string> Arguments::*,
                            std::vector<std::string> Arguments::*>;

// What a shell offers in its place.
enum class Offers { kFiles, kExperiments, kNothing };

struct Operand {
  std::string name;  // "plan"
  Target target;
  std::string help;
  bool required = true;
  Offers offers = Offers::kNothing;
  std::pair<int, int> count = {1, 1};            // for a list: so many words
  std::optional<std::pair<int, int>> range = {};  // for a number
  std::string takes = {};  // what a list stands for, said where it is too short; empty: its name says it
};

struct Option {
  std::string name;  // "--json"
  Target target;     // bool: a switch
  std::string help;
  std::vector<std::string> words = {};            // what it takes, where that is a closed list
  std::optional<std::pair<int, int>> range = {};  // for a number
  std::string sets = {};                          // a switch that sets a string to this word
  bool required = false;
  Offers offers = Offers::kFiles;
  std::string takes = {};  // what --help calls its value; empty: by its kind, such as FILE or N
  bool share = false;      // a number that may be written as a percentage: 1% or 0.01
  bool statuses = false;   // exit statuses (exit_statuses.h)

  bool is_switch() const { return std::holds_alternative<bool Arguments::*>(target) || !sets.empty(); }
};

struct Example {
  std::string command, meaning;
};

struct CommandRow {
  std::string words;  // "plan check"; of two words the first names a group
  std::string help;   // one line
  std::vector<Operand> operands = {};
  std::vector<Option> options = {};
  std::vector<Example> examples = {};
  int (*run)(const Arguments&) = nullptr;
  // Instead of `run`: it reads its words itself, because what it takes depends on them.
  int (*run_words)(const std::vector<std::string>&) = nullptr;
  // Where the words behind -- go, which are no operands of its own; null: they are operands.
  std::vector<std::string> Arguments::*behind = nullptr;
  bool takes_command = false;  // its operands are a command: from the first one on no word is an option of ours
  bool takes_levels = false;   // its operands may be levels such as -O2, which are no options
  bool answers_with_1 = false;  // its exit status 1 says "worse": what keeps it from an answer is 2

  std::string group() const { return words.find(' ') == std::string::npos ? "" : words.substr(0, words.find(' ')); }
  std::string name() const { return words.substr(words.find(' ') + 1); }
};

const std::vector<CommandRow>& command_table();
// {"plan", "look at a plan"}: what the first word of two stands for.
const std::vector<std::pair<std::string, std::string>>& command_groups();

// The row that these words begin with; null: none.
const CommandRow* command_of(const std::vector<std::string>& words);

}  // namespace stab::ctl
