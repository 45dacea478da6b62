// The command line's grammar and its help, made of the rows of the table. Every option has its line in docs/man/stabctl.1.
#include "stabctl/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

#include "stabctl/command_table.h"
#include "stabctl/commands.h"
#include "stabctl/mistakes.h"

#include "base/version.h"

namespace stab::ctl {
namespace {

constexpr int kUsage = 2;

// Levels such as -O2 look like options: `compare opt -O2 -O3 --json` becomes `compare --json -- opt -O2 -O3`.
std::vector<std::string> levels_behind_options(std::vector<std::string> words) {
  if (words.empty() || words[0] != "compare" || std::find(words.begin(), words.end(), "--") != words.end()) return words;
  std::vector<std::string> options{"compare"}, levels{"--"};
  for (size_t i = 1; i < words.size(); ++i) {
    const bool takes_word = words[i] == "--db" || words[i] == "--experiment";
    const bool option = words[i].starts_with("--") || words[i] == "-h";
    (option ? options : levels).push_back(words[i]);
    if (takes_word && i + 1 < words.size()) options.push_back(words[++i]);
  }
  if (levels.size() > 1) options.insert(options.end(), levels.begin(), levels.end());
  return options;
}

CLI::Option* add_positional(CLI::App& app, const Operand& operand, Arguments& out) {
  CLI::Option* option = std::visit(
      [&](auto member) -> CLI::Option* {
        using Member = std::remove_reference_t<decltype(out.*member)>;
        if constexpr (std::is_same_v<Member, bool>) return nullptr;  // no operand is a switch
        else return app.add_option(operand.name, out.*member, operand.help);
      },
      operand.target);
  constexpr int kFewWords = 100;  // more than these are as many as one likes
  option->type_name("");
  if (operand.required) option->required();
  if (operand.count.second > 1 && operand.count.second < kFewWords) option->expected(operand.count.first, operand.count.second);
  if (operand.range) option->check(CLI::Range(operand.range->first, operand.range->second));
  return option;
}

void add_option(CLI::App& app, const Option& row, Arguments& out) {
  if (!row.sets.empty()) {
    app.add_flag_callback(row.name, [&row, &out] { out.*std::get<std::string Arguments::*>(row.target) = row.sets; }, row.help);
    return;
  }
  CLI::Option* option = std::visit(
      [&](auto member) -> CLI::Option* {
        using Member = std::remove_reference_t<decltype(out.*member)>;
        if constexpr (std::is_same_v<Member, bool>) return app.add_flag(row.name, out.*member, row.help);
        else return app.add_option(row.name, out.*member, row.help);
      },
      row.target);
  if (!row.words.empty()) option->check(CLI::IsMember(row.words));
  else if (std::holds_alternative<std::string Arguments::*>(row.target))
    option->type_name(row.offers == Offers::kExperiments ? "EXPERIMENT" : "FILE");
  if (row.required) option->required();
  if (!row.range) return;
  if (std::holds_alternative<double Arguments::*>(row.target)) option->check(CLI::PositiveNumber);
  else option->check(CLI::Range(row.range->first, row.range->second));
}

std::string examples_of(const CommandRow& row) {
  if (row.examples.empty()) return {};
  size_t widest = 0;
  for (const Example& example : row.examples) widest = std::max(widest, example.command.size());
  std::string text = "Examples:";
  for (const Example& example : row.examples)
    text += "\n    " + example.command + std::string(widest - example.command.size(), ' ') + "  # " + example.meaning;
  return text;
}

class Grammar {
 public:
  Grammar() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "stabctl " + std::string(version()));
    app_.footer("'stabctl COMMAND --help' has options and examples of each.");
    std::map<std::string, CLI::App*> groups;
    for (const auto& [name, help] : command_groups()) groups[name] = nullptr;
    for (const CommandRow& row : command_table()) {
      CLI::App* parent = &app_;
      if (const std::string group = row.group(); !group.empty()) {
        CLI::App*& made = groups[group];
        if (!made) {
          made = app_.add_subcommand(group, group_help(group));
          made->require_subcommand(1);
        }
        parent = made;
      }
      CLI::App* command = parent->add_subcommand(row.name(), row.help);
      command->footer(examples_of(row));
      command->final_callback([this, &row] { chosen_ = &row; });
      for (const Operand& operand : row.operands) add_positional(*command, operand, out_);
      for (const Option& option : row.options) add_option(*command, option, out_);
    }
  }

  ParsedArguments parse(std::vector<std::string> words) {
    if (const CommandRow* row = command_of(words)) words_of_command_ = row->words;
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::Success& success) {
      return {out_, nullptr, app_.exit(success)};  // --help, --version
    } catch (const CLI::ParseError& error) {
      const std::string of = words_of_command_.empty() ? "" : " " + words_of_command_;
      std::fprintf(stderr, "stabctl: %s; see 'stabctl%s --help'\n", printable(error.what()).c_str(), of.c_str());
      return {out_, nullptr, kUsage};
    }
    return {out_, chosen_, {}};
  }

 private:
  static std::string group_help(const std::string& name) {
    for (const auto& [group, help] : command_groups())
      if (group == name) return help;
    return {};
  }

  CLI::App app_{"stabctl: run experiments that randomize program layout, and say what they show", "stabctl"};
  Arguments out_;
  const CommandRow* chosen_ = nullptr;
  std::string words_of_command_;
};

}  // namespace

ParsedArguments parse_arguments(const std::vector<std::string>& words) {
  if (const std::string mistake = mistake_in(words); !mistake.empty()) {
    std::fprintf(stderr, "stabctl: %s\n", mistake.c_str());
    return {{}, nullptr, kUsage};
  }
  return Grammar().parse(levels_behind_options(words));
}

}  // namespace stab::ctl
