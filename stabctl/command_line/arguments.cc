// The command line's grammar and its help, made of the rows of the table. Every option has its line in docs/man/stabctl.1.
#include "stabctl/command_line/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>

#include "base/number_text.h"
#include "base/shell_word.h"
#include "stabctl/command_line/command_sections.h"
#include "stabctl/command_line/command_table.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/command_line/exit_statuses.h"
#include "stabctl/command_line/mistakes.h"

#include "base/version.h"
#include "plan/toml/units.h"

namespace stab::ctl {
namespace {

constexpr int kUsage = 2;

// Levels such as -O2 look like options: `verdict opt -O2 -O3 --json` becomes `verdict --json -- opt -O2 -O3`.
std::vector<std::string> levels_behind_options(std::vector<std::string> words) {
  const CommandRow* const row = command_of(words);
  if (!row || !row->takes_levels || std::find(words.begin(), words.end(), "--") != words.end()) return words;
  std::vector<std::string> options{words[0]}, levels{"--"};
  for (size_t i = 1; i < words.size(); ++i) {
    const auto is_this = [&](const Option& option) { return option.name == words[i] && !option.is_switch(); };
    const bool takes_word = std::any_of(row->options.begin(), row->options.end(), is_this);
    const bool option = words[i].starts_with("--") || words[i] == "-h";
    (option ? options : levels).push_back(words[i]);
    if (takes_word && i + 1 < words.size()) options.push_back(words[++i]);
  }
  if (levels.size() > 1) options.insert(options.end(), levels.begin(), levels.end());
  return options;
}

// `time ./prog -x` becomes `time -- ./prog -x`: from the first word on that is no option of ours, all are the command's.
std::vector<std::string> command_behind_dashes(std::vector<std::string> words) {
  const CommandRow* row = command_of(words);
  if (!row || !row->takes_command) return words;
  for (size_t i = row->group().empty() ? 1 : 2; i < words.size(); ++i) {
    if (words[i] == "--") return words;
    if (!words[i].starts_with("-") || words[i] == "-") {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "--");
      return words;
    }
    const auto is_this = [&](const Option& option) { return option.name == words[i] && !option.is_switch(); };
    if (std::any_of(row->options.begin(), row->options.end(), is_this)) ++i;
  }
  return words;
}

// "2 to 100" and not CLI11's "INT in [2 - 100]".
std::string words_of(const std::pair<int, int>& range) {
  if (range.second == std::numeric_limits<int>::max()) return "N, " + std::to_string(range.first) + " or more";
  return "N, " + std::to_string(range.first) + " to " + std::to_string(range.second);
}

std::string value_name(const Option& row) {
  if (!row.takes.empty()) return row.takes;
  if (!row.words.empty()) {
    std::string all;
    for (const std::string& word : row.words) all += (all.empty() ? "" : "|") + word;
    return all;
  }
  if (row.range && !std::holds_alternative<double Arguments::*>(row.target)) return words_of(*row.range);
  if (!std::holds_alternative<std::string Arguments::*>(row.target) &&
      !std::holds_alternative<std::vector<std::string> Arguments::*>(row.target))
    return "N";
  return row.offers == Offers::kExperiments ? "EXPERIMENT" : row.offers == Offers::kNothing ? "NAME" : "FILE";
}

// What may be given several times has dots behind it, as in other tools' usage.
class Formatter : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string usage = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
    return option->get_required() ? usage : "[" + usage + "]";
  }
};

bool is_whole(const Target& target) {
  return std::holds_alternative<int Arguments::*>(target) || std::holds_alternative<int64_t Arguments::*>(target);
}

// CLI11's own names the largest number there is, and what is larger "could not" be converted. An empty word is empty_word()'s.
CLI::Validator whole_number(const Target& target, const std::optional<std::pair<int, int>>& range) {
  const bool is_long = std::holds_alternative<int64_t Arguments::*>(target);
  const int64_t least = range ? range->first : is_long ? INT64_MIN : INT_MIN;
  const int64_t most = range ? range->second : is_long ? INT64_MAX : INT_MAX;
  const std::string takes = "takes " + (range ? words_of(*range) : std::string("a whole number"));
  return CLI::Validator(
      [=](const std::string& word) {
        const std::string_view digits = std::string_view(word).substr(word.starts_with('+') ? 1 : 0);
        int64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool is_number = error == std::errc() && end == digits.data() + digits.size();
        return word.empty() || (is_number && value >= least && value <= most) ? std::string() : takes;
      },
      "");
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
  if (is_whole(operand.target)) option->check(whole_number(operand.target, operand.range));
  return option;
}

// CLI11's own names the smallest number there is, in all its digits.
std::string above_zero(const std::string& word, int most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool number = error == std::errc() && end == word.data() + word.size() && !std::isnan(value);
  if (!number || value <= 0) return "takes a number above 0";
  return value <= most ? "" : "takes at most " + std::to_string(most);
}

// "5%" becomes 0.05, as which CLI11 can read it.
std::string as_a_share(std::string& word) {
  double number = 0;
  const auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (fault == std::errc() && stop == word.data() + word.size()) {
    const bool is_whole = word.find_first_not_of("0123456789") == std::string::npos;
    if (is_whole && number == 1) return "takes a share, and 1 may be 1% or 100%: write 1%, or 1.0 for 100%";
    if (is_whole && number > 1) return "takes a share: write " + word + "%";
    return {};
  }
  const Result<double> share = toml::parse_fraction(word);
  if (!share) return "takes a share, such as 1% or 0.01";
  word = number_text(*share);
  return {};
}

std::string as_statuses(std::string& word) {
  const auto statuses = word.empty() ? bad_input("takes exit statuses, such as 1 or 0,1") : exit_statuses(word);
  return statuses ? std::string() : statuses.error().message;
}

CLI::Option* add_option(CLI::App& app, const Option& row, Arguments& out) {
  if (!row.sets.empty())
    return app.add_flag_callback(
        row.name, [&row, &out] { out.*std::get<std::string Arguments::*>(row.target) = row.sets; }, row.help);
  CLI::Option* option = std::visit(
      [&](auto member) -> CLI::Option* {
        using Member = std::remove_reference_t<decltype(out.*member)>;
        if constexpr (std::is_same_v<Member, bool>) return app.add_flag(row.name, out.*member, row.help);
        else return app.add_option(row.name, out.*member, row.help);
      },
      row.target);
  if (row.is_switch()) return option;
  option->type_name(value_name(row));
  if (row.share) option->transform(CLI::Validator(as_a_share, "").description(""));
  if (row.statuses) option->transform(CLI::Validator(as_statuses, "").description(""));
  if (!row.words.empty()) option->check(CLI::IsMember(row.words).description(""));
  if (row.required) option->required();
  if (is_whole(row.target)) {
    option->check(whole_number(row.target, row.range));
    return option;
  }
  if (!row.range) return option;
  if (std::holds_alternative<double Arguments::*>(row.target) ||
      std::holds_alternative<std::optional<double> Arguments::*>(row.target))
    option->check([most = row.range->second](const std::string& word) { return above_zero(word, most); }, "");
  return option;
}

// The form of the output that this option asks for; empty: none. A form given twice is one.
std::string form_of(const Option& row, const CLI::Option& given) {
  if (given.count() == 0) return {};
  if (const auto* on = std::get_if<bool Arguments::*>(&row.target)) return *on == &Arguments::json ? "json" : "";
  const auto* word = std::get_if<std::string Arguments::*>(&row.target);
  if (!word || *word != &Arguments::format) return {};
  return row.sets.empty() ? given.as<std::string>() : row.sets;
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
    app_.formatter(std::make_shared<Formatter>());  // its commands take it over
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "stabctl " + std::string(version()));
    app_.footer("'stabctl help COMMAND' has options and examples of each.");
    std::map<std::string, CLI::App*> groups;
    for (const auto& [name, help] : command_groups()) groups[name] = nullptr;
    for (const CommandRow& row : command_table()) {
      CLI::App* parent = &app_;
      if (const std::string group = row.group(); !group.empty()) {
        CLI::App*& made = groups[group];
        if (!made) {
          made = app_.add_subcommand(group, group_help(group));
          made->require_subcommand(1);
          made->group(std::string(section_of(group)));
        }
        parent = made;
      }
      CLI::App* command = parent->add_subcommand(row.name(), row.help);
      if (parent == &app_) command->group(std::string(section_of(row.words)));
      command->footer(examples_of(row));
      command->final_callback([this, &row] { chosen_ = &row; });
      for (const Operand& operand : row.operands) {
        const CLI::Option* option = add_positional(*command, operand, out_);
        operands_.push_back({&row, &operand, option});
      }
      for (const Option& option : row.options) options_.push_back({&row, &option, add_option(*command, option, out_)});
    }
  }

  ParsedArguments parse(std::vector<std::string> words) {
    if (const CommandRow* row = command_of(words)) {
      words_of_command_ = row->words;
      const auto dashes = std::find(words.begin(), words.end(), "--");
      if (row->behind && dashes != words.end()) {
        (out_.*row->behind).assign(dashes + 1, words.end());
        words.erase(dashes, words.end());
      }
    }
    const std::vector<std::string> typed = words;
    words = levels_behind_options(std::move(words));
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::Success& success) {
      return {out_, nullptr, app_.exit(success)};  // --help, --version
    } catch (const CLI::ParseError& error) {
      const std::string of = words_of_command_.empty() ? "" : " " + words_of_command_;
      const std::string group = words_of_command_.empty() && !typed.empty() ? " " + typed[0] : "";
      std::fprintf(stderr, "stabctl: %s; see 'stabctl%s%s --help'\n", said_of(error, typed).c_str(), of.c_str(), group.c_str());
      return {out_, nullptr, kUsage};
    }
    for (const std::string& mistake : {empty_word(), exclusive_forms()}) {
      if (mistake.empty()) continue;
      std::fprintf(stderr, "stabctl: %s\n", mistake.c_str());
      return {out_, nullptr, kUsage};
    }
    return {out_, chosen_, {}};
  }

 private:
  struct Word {
    const CommandRow* row;
    const Operand* operand;
    const CLI::Option* given;
  };

  struct Given {
    const CommandRow* row;
    const Option* option;
    const CLI::Option* given;
  };

  static bool has_empty(const CLI::Option& given) {
    const std::vector<std::string>& words = given.results();
    return given.count() > 0 && std::find(words.begin(), words.end(), "") != words.end();
  }

  // A word that is given and empty, as "$NAME" where that variable isn't set: no default stands in for it, such as the newest
  // experiment or one's own database. Empty: there is none. Commands say themselves what other texts of theirs can't be empty.
  std::string empty_word() const {
    for (const Given& one : options_)
      if (one.row == chosen_ && !one.option->is_switch() && has_empty(*one.given))
        return one.option->name + " is empty; write its " + value_name(*one.option) + ", or leave it out";
    for (const Word& one : operands_) {
      const auto* text = std::get_if<std::string Arguments::*>(&one.operand->target);
      const bool has_default = text ? *text == &Arguments::experiment
                                    : !std::holds_alternative<std::vector<std::string> Arguments::*>(one.operand->target);
      if (one.row == chosen_ && has_default && has_empty(*one.given))
        return upper(one.operand->name) + " is empty; see 'stabctl " + chosen_->words + " --help'";
    }
    return {};
  }

  // "--json and --csv exclude each other", where output is asked for in two forms; empty: it isn't.
  std::string exclusive_forms() const {
    std::string form, name;
    for (const Given& one : options_) {
      if (one.row != chosen_) continue;
      const std::string own = form_of(*one.option, *one.given);
      const std::string called = one.option->name + (one.option->is_switch() ? "" : " " + own);
      if (!own.empty() && !form.empty() && own != form) return name + " and " + called + " exclude each other";
      if (!own.empty()) form = own, name = called;
    }
    return {};
  }

  // The parser's words are about arguments and subcommands; these name what is missing, or what is too much.
  std::string said_of(const CLI::ParseError& error, const std::vector<std::string>& typed) const {
    if (const std::string takes = too_short(); !takes.empty()) return takes;
    const CommandRow* row = command_of(typed);
    if (!row) return typed.empty() ? "a command is missing" : "'stabctl " + printable(typed[0]) + "' needs one of its commands";
    if (dynamic_cast<const CLI::RequiredError*>(&error))
      for (const Operand& operand : row->operands)
        if (operand.required && app_of(*row)->get_option(operand.name)->count() == 0)
          return "'stabctl " + row->words + "' needs " + upper(operand.name) +
                 (row->examples.empty() ? "" : ": " + row->examples[0].command);
    if (dynamic_cast<const CLI::ExtrasError*>(&error))
      if (const std::vector<std::string> rest = app_.remaining(true); !rest.empty())
        return "'stabctl " + row->words + "' can't use the word '" + printable(rest[0]) + "'" + range_of(*row, rest[0]);
    if (dynamic_cast<const CLI::ConversionError*>(&error))
      for (const Option& option : row->options)
        for (const std::string& word : typed)
          if (option.is_switch() && word.starts_with(option.name + "=")) return option.name + " takes no value";
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
      for (const Given& one : options_)
        if (one.row == row && one.given->get_expected_max() == 1 && one.given->results().size() > 1)
          return one.option->name + " is there twice";
    return printable(error.what());
  }

  // Two revisions with a blank between them, as git diff takes them; empty: the command takes no range, or has one already.
  std::string range_of(const CommandRow& row, const std::string& newer) const {
    if (row.operands.empty() || row.operands[0].name != "range" || newer.starts_with('-')) return {};
    const std::vector<std::string> older = app_of(row)->get_option("range")->results();
    if (older.size() != 1 || older[0].find("..") != std::string::npos) return {};
    return "; of two revisions write: stabctl " + row.words + " " + shell_word(printable(older[0] + ".." + newer));
  }

  const CLI::App* app_of(const CommandRow& row) const {
    const CLI::App* parent = row.group().empty() ? &app_ : app_.get_subcommand(row.group());
    return parent->get_subcommand(row.name());
  }

  static std::string upper(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name;
  }

  // What the command takes, where its list of operands has too few words; empty: it hasn't, or its name says enough.
  std::string too_short() const {
    for (const Word& list : operands_)
      if (!list.operand->takes.empty() && list.row->words == words_of_command_ &&
          list.given->count() < static_cast<size_t>(list.operand->count.first))
        return "'stabctl " + list.row->words + "' takes " + list.operand->takes;
    return {};
  }

  static std::string group_help(const std::string& name) {
    for (const auto& [group, help] : command_groups())
      if (group == name) return help;
    return {};
  }

  CLI::App app_{"stabctl: run experiments that randomize program layout, and say what they show", "stabctl"};
  Arguments out_;
  std::vector<Word> operands_;
  std::vector<Given> options_;
  const CommandRow* chosen_ = nullptr;
  std::string words_of_command_;
};

}  // namespace

ParsedArguments parse_arguments(const std::vector<std::string>& typed) {
  const std::vector<std::string> words = command_behind_dashes(typed);
  if (const std::string mistake = mistake_in(words); !mistake.empty()) {
    std::fprintf(stderr, "stabctl: %s\n", mistake.c_str());
    return {{}, nullptr, kUsage};
  }
  ParsedArguments parsed = Grammar().parse(words);
  parsed.arguments.are_dashes_typed = words == typed;
  return parsed;
}

}  // namespace stab::ctl
