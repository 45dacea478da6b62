// In place of the runtime's code that watches what loads bring, for programs that have its heap alone.
#include "runtime/code/library_unwinders.h"
#include "runtime/mapping.h"

bool stab::has_library_memory() { return false; }

namespace stab::code {

void before_load(Load*, int) {}
void after_load(int) {}
void after_load_apart(void*) {}

}  // namespace stab::code
