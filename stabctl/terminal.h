// The terminal that a command prints on.
#pragma once

#include "analysis/commands.h"

namespace stab::ctl {

// Of standard output, between 60 and 140; 100 where it is no terminal.
int terminal_width();
bool terminal_has_colour();

// Texts to their streams; returns the exit code.
int print(const analysis::CommandOutput& output);

}  // namespace stab::ctl
