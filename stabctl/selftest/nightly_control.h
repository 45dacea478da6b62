// selftest --nightly: one A/A control, kept in a logbook, and what all controls there say.
#pragma once

#include <string>

#include "stabctl/command_line/arguments.h"

namespace stab::ctl {

// In a repository with a gate's file, or with --plan: the gate of HEAD against itself, with as many blocks as at its last look.
// Elsewhere `source`, the selftest's own program, in the layouts that a gate draws.
int nightly_control(const Arguments& arguments, const std::string& source);

}  // namespace stab::ctl
