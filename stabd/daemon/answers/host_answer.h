// What the daemon answers about its machine (docs/reference/protocol.md, "machine"): its knobs as plans name them, and its
// weather as the ledger of a trial has it.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::daemon {

// JSON, as it stands now.
Result<std::string> host_answer();

}  // namespace stab::daemon
