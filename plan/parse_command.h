// Commands of a plan and the placeholders in them, for those who read [[program]]: "./prog {size}" is words, of which one names a
// factor.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "plan/parse.h"
#include "plan/plan.h"
#include "plan/toml/section.h"
#include "plan/toml/toml_reader.h"

namespace stab::plan {

// What reading a program needs to know and to note.
struct ProgramContext {
  toml::Faults& faults;
  const Plan& plan;
  const FileLookup* files;
  std::set<std::string>& used;
};

bool has_placeholder(const std::string& text);

// Notes faults of the placeholders in a text, and which factors they name. `is_word`: the text is a word of a command, and may
// stand for several as a whole.
void check_placeholders(const std::string& text, const SourceSpot& spot, ProgramContext& context, bool is_word = false);

// A string is split into words, or goes to /bin/sh where the plan says shell = true; an array is words. Null: there is no such
// key, or no command in it, which is noted as a fault.
const toml::TomlNode* parse_command(toml::Section& section, std::string_view key, bool shell, ProgramContext& context,
                                    Command& out);

}  // namespace stab::plan
