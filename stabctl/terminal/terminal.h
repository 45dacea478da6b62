// The terminal that a command prints on.
#pragma once

#include <optional>
#include <string>

#include "analysis/commands/answers/command_output.h"

namespace stab::ctl {

// Of the terminal that a descriptor writes to; nothing where it is none, or doesn't know.
std::optional<int> columns_of(int stream);
// Of standard output, between 40 and 200; 100 where it is no terminal.
int terminal_width();
// Whether a line on standard error can be rewritten in place: a terminal, and not one that says (TERM=dumb) that it can't.
bool rewrites_lines();
// How long a line on standard error may be that is rewritten in place: a longer one would go on in the next, and stay there.
int progress_width();
// Whether to colour what is printed on standard output: `color` is always, never, or auto: on a terminal that can, unless
// NO_COLOR is set (no-color.org).
bool terminal_has_colour(const std::string& color = "auto");

// Texts to their streams; returns the exit code.
int print(const commands::CommandOutput& output);

}  // namespace stab::ctl
