// Code in files that szc may not have linked, and what it does that matters to images.
#pragma once

#include <stdint.h>

#include "runtime/helper/mappings.h"
#include "runtime/helper/watched_process.h"

namespace stab::helper {

// Whether a file's code that a process has mapped holds a switch to another stack (arch::holds_stack_switch). What can't be read
// holds none. `buffer`: of kLookBufferBytes.
bool code_switches_stacks(const Process& process, const MappingOfKind& mapping, uint8_t* buffer);

}  // namespace stab::helper
