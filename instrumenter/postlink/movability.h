// Movability: for each function whether it may move, and if not, why.
#pragma once

#include <vector>

#include "instrumenter/postlink/callees.h"
#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/foreign.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/jump_tables.h"
#include "instrumenter/postlink/references.h"

namespace stab::postlink {

// Sets Function::immovable of every function. With `foreign_moves` functions that our pass hasn't compiled move where
// `rules` let them.
void decide_movability(const ElfImage& image, const Callees& callees, const Disassembly& disassembly,
                       const References& references, const std::vector<JumpTable>& tables, const ForeignRules& rules,
                       bool foreign_moves, FunctionTable& functions);

// True when the program goes from one activation to another and back by longjmp alone, as coroutines do that lie below each
// other on one stack.
bool switches_by_jumps(const ElfImage& image, const Callees& callees, const Disassembly& disassembly,
                       const FunctionTable& functions);

// True when an object has an array that may be a stack, and assembly elsewhere in the program switches stacks.
bool switches_to_arrays(const ElfImage& image, const Disassembly& disassembly, const FunctionTable& functions);

// True when suspended stacks may hold return addresses: the program makes or switches contexts.
bool switches_stacks(const ElfImage& image, const Callees& callees, const Disassembly& disassembly,
                     const FunctionTable& functions);

}  // namespace stab::postlink
