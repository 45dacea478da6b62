// CallGraph: who calls whom directly, and which functions can thereby reach themselves.
#pragma once

#include <vector>

#include "instrumenter/postlink/callees.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"

namespace stab::postlink {

// One flag a function: it lies on a cycle of direct calls and tail jumps (a call of itself is one). Calls
// through pointers are not seen; the runtime bounds those by the depth of the stack.
std::vector<bool> recursive_functions(const Callees& callees, const Disassembly& disassembly,
                                      const FunctionTable& functions);

}  // namespace stab::postlink
