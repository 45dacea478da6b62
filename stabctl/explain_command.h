// The command that asks whether a difference is code or place.
#pragma once

#include "stabctl/arguments.h"

namespace stab::ctl {

int explain_command(const Arguments& arguments);

}  // namespace stab::ctl
