// What ends a program whose heap is damaged: one line that names the address and what it is, then abort().
#pragma once

namespace stab::heap {

// call: "free", "realloc"; what: "was freed already".
[[noreturn]] void fault(const char* call, const void* address, const char* what);

}  // namespace stab::heap
