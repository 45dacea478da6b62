// Diagnostic: one fault in a plan, shown as compilers do: where, what, the line, a caret, a hint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace stab::toml {

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string message;    // lower case, no full stop, quotes what the user wrote
  SourceSpot spot;        // file:line:column, all from 1
  std::string line_text;  // the whole source line, without its end
  std::string hint;       // the cure, may be empty
};

// "p.toml:3:7: error: unknown key 'seeed'\n  3 | seeed = 42\n    | ^\n  hint: did you mean 'seed'?\n"
// Control characters of the source are shown as '?', so that a plan can't write to a terminal.
std::string render(const Diagnostic& diagnostic);
std::string render(const std::vector<Diagnostic>& diagnostics);

// A diagnostic with the line of `text` that the spot names.
Diagnostic diagnostic_at(std::string_view text, SourceSpot spot, std::string message, std::string hint = {});

}  // namespace stab::toml
