#include "plan/parse_command.h"

#include <algorithm>

#include "base/wording.h"
#include "plan/placeholder.h"
#include "plan/toml/toml_text.h"
#include "plan/toml/units.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

// "-O3 -march=native" is one word of a command. A compiler that gets it says something else than what is wrong.
void warn_of_options_in_a_word(const std::string& factor, const std::vector<Level>& levels, const SourceSpot& spot,
                               toml::Faults& faults) {
  for (const Level& level : levels) {
    const std::string& value = level.value;
    const bool is_list = value.find(kBetweenWords) != std::string::npos;
    if (is_list || !value.starts_with('-') || value.find(" -") == std::string::npos) continue;
    std::string list;
    for (size_t at = value.find_first_not_of(' '); at != std::string::npos;) {
      const size_t end = std::min(value.find(' ', at), value.size());
      list += (list.empty() ? "" : ", ") + toml::toml_text(value.substr(at, end - at));
      at = value.find_first_not_of(' ', end);
    }
    return faults.warning(spot, "a level of '" + factor + "' is one word of the command: " + in_quotes(value),
                          "for several words write value = [" + list + "]");
  }
}

bool is_one_placeholder(const std::string& text) {
  const Result<std::vector<Piece>> pieces = split_placeholders(text);
  return pieces && pieces->size() == 1 && pieces->front().is_placeholder;
}

}  // namespace

bool has_placeholder(const std::string& text) { return text.find('{') != std::string::npos; }

void check_placeholders(const std::string& text, const SourceSpot& spot, ProgramContext& context, bool is_word) {
  const Result<std::vector<Piece>> pieces = split_placeholders(text);
  if (!pieces) {
    context.faults.error(spot, in_quotes(text) + ": " + pieces.error().message);
    return;
  }
  for (const Piece& piece : *pieces) {
    if (!piece.is_placeholder) continue;
    const auto at = [&] { return context.faults.inside(spot, "{" + piece.text + "}"); };
    if (piece.text == "link") {
      context.used.insert(piece.text);
      if (context.plan.link.seeds == 0)
        context.faults.error(at(), "{link} without link seeds", "add link = { seeds = 10 } to [factors]");
      continue;
    }
    const int index = context.plan.factor_index(piece.text);
    if (index < 0) {
      if (context.faults.full()) return context.faults.error(spot, {});
      std::vector<std::string_view> names;
      for (const Factor& factor : context.plan.factors) names.push_back(factor.name);
      const std::string_view near = nearest(piece.text, names);
      context.faults.error(at(), "placeholder {" + piece.text + "} names no factor",
                           near.empty() ? "add it to [factors], or write {{ and }} for braces"
                                        : "did you mean {" + std::string(near) + "}?");
      continue;
    }
    context.used.insert(piece.text);
    const std::vector<Level>& levels = context.plan.factors[static_cast<size_t>(index)].levels;
    const auto several = [](const Level& level) { return level.value.find(kBetweenWords) != std::string::npos; };
    if ((!is_word || pieces->size() > 1) && std::any_of(levels.begin(), levels.end(), several))
      context.faults.error(at(),
                           "levels of '" + piece.text + "' are lists of words, which stand for whole words of a command alone",
                           "write run = [\"{" + piece.text + "}\", ...]");
    if (is_word && pieces->size() == 1) warn_of_options_in_a_word(piece.text, levels, at(), context.faults);
  }
}

const toml::TomlNode* parse_command(toml::Section& section, std::string_view key, bool shell, ProgramContext& context,
                                    Command& out) {
  const toml::TomlNode* node = section.find(key);
  if (!node) return nullptr;
  toml::Faults& faults = context.faults;
  Command command;
  if (node->kind == Kind::kArray) {
    if (!section.arguments(key, command.argv)) return nullptr;
  } else if (node->kind == Kind::kString) {
    if (node->text.find('\0') != std::string::npos) {
      faults.error(node->spot, in_quotes(key) + " contains a zero byte", "remove it");
      return nullptr;
    }
    if (shell) {
      command.argv = {"/bin/sh", "-c", node->text};
    } else {
      std::vector<bool> quoted;
      Result<std::vector<std::string>> words = toml::split_words(node->text, "write shell = true", &quoted);
      if (!words) {
        faults.error(node->spot, in_quotes(key) + ": " + words.error().message);
        return nullptr;
      }
      command.argv = *std::move(words);
      for (size_t i = 0; i < command.argv.size(); ++i)
        if (!quoted[i] && is_one_placeholder(command.argv[i])) command.bare.push_back(i);
    }
  } else {
    toml::wrong_type(faults, key, *node, Kind::kString);
    return nullptr;
  }
  if (command.argv.empty() || command.argv[0].empty()) {
    faults.error(node->spot, in_quotes(key) + " is empty", "remove the key, or write a command");
    return nullptr;
  }
  const bool are_words = node->kind == Kind::kArray || !shell;
  for (const std::string& word : command.argv) check_placeholders(word, node->spot, context, are_words);
  out = std::move(command);
  return node;
}

}  // namespace stab::plan
