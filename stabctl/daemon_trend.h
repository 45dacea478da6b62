// The trend of a series as a daemon makes it.
#pragma once

#include "stabctl/arguments.h"

namespace stab::ctl {

int daemon_trend(const Arguments& arguments);

}  // namespace stab::ctl
