// stabctl: parse, run one command, exit. Which commands there are is in command_table.cc; what one does is in the file of its
// name.
#include <signal.h>

#include <string>
#include <vector>

#include "base/standard_output.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/command_line/command_table.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/completion.h"
#include "stabctl/records/database.h"
#include "stabctl/terminal/shell_limits.h"

namespace {

// "help report" is "report --help".
std::vector<std::string> without_help(std::vector<std::string> words) {
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.push_back("--help");
  return words;
}

int complain_as(const stab::ctl::CommandRow* row, const stab::Error& error) {
  return row && row->answers_with_1 ? stab::ctl::complain_of_no_answer(error) : stab::ctl::complain(error);
}

int answer(const std::vector<std::string>& words) {
  const std::vector<std::string> rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (!words.empty() && words[0] == "__complete") return stab::ctl::complete_command(rest);
  const stab::ctl::CommandRow* row = stab::ctl::command_of(words);
  if (const stab::Status enough = stab::ctl::check_stack_limit(); !enough) return complain_as(row, enough.error());
  // stats and analyze read their own words.
  if (row && row->run_words) return row->run_words(rest);

  const stab::ctl::ParsedArguments parsed = stab::ctl::parse_arguments(words);
  if (parsed.exit_code) return *parsed.exit_code;
  if (const stab::Status there = stab::ctl::check_database_folder(parsed.arguments); !there)
    return complain_as(parsed.command, there.error());
  return parsed.command->run(parsed.arguments);
}

}  // namespace

int main(int argc, char** argv) {
  stab::hold_standard_descriptors();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error that is told, as a full disk is
  const std::vector<std::string> words = without_help({argv + (argc > 0 ? 1 : 0), argv + argc});
  const int code = answer(words);
  const stab::Status printed = stab::finish_standard_output();
  if (printed) return code;
  const int failed = complain_as(stab::ctl::command_of(words), printed.error());
  return code == stab::ctl::kExitDone ? failed : code;
}
