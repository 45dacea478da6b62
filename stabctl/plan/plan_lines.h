// Lines of a plan's text, by the tables that they belong to.
#pragma once

#include <set>
#include <string>

#include "plan/toml/toml_reader.h"

namespace stab::ctl {

// `text` with empty lines in place of the tables and items `without`, so that the other lines keep their numbers. `tree`: what
// the text is read as; `without`: nodes of it. Each line belongs to what begins last on or before it, however that is written:
// [gate], ["gate"], gate = { ... }, gate.margin = ... Empty: one line has parts of both kinds.
std::string without_lines_of(const std::set<const toml::TomlNode*>& without, const std::string& text, const std::string& path,
                             const toml::TomlNode& tree);

}  // namespace stab::ctl
