// Frame descriptions as the linker listed them, for programs without a shared libgcc.
#pragma once

#include "runtime/code/unwind.h"

namespace stab::code {

// As libgcc's _Unwind_Find_FDE, but for frames that were registered by hand. nullptr: no loaded file lists one for
// `pc`, or its table is of a kind that linkers don't write.
const void* find_fde_in_tables(void* pc, EhBases* bases);

// The same in this executable alone, which is all there is of a static program.
const void* find_own_fde(void* pc, EhBases* bases);

}  // namespace stab::code
