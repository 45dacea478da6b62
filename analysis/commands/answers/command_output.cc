#include "analysis/commands/answers/command_output.h"

namespace stab::commands {

CommandOutput refused(const Error& error) { return {"", "error: " + error.text() + "\n", 2}; }

}  // namespace stab::commands
