// How a text is written in TOML, for plans that the engine writes behind those of users.
#pragma once

#include <string>
#include <string_view>

namespace stab::toml {

// As a basic string, quotes included: what toml_reader.h reads is `text` again. pre: `text` is UTF-8
std::string toml_text(std::string_view text);

}  // namespace stab::toml
