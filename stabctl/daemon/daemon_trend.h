// The trend of a series as a daemon makes it.
#pragma once

#include "analysis/commands/answers/command_output.h"
#include "base/result.h"
#include "stabctl/command_line/arguments.h"

namespace stab::ctl {

Result<commands::CommandOutput> daemon_trend(const Arguments& arguments);

}  // namespace stab::ctl
