// UBSan's stack traces name functions by the file that an address lies in, and images are in none. The driver links with --wrap
// of the function of its runtime's that looks a name up, a member of a C++ class: this one hands on the original's address.
#include <stdint.h>

#include "runtime/code/moved_library.h"

extern "C" {

// Null: the program has no such runtime.
void* __real__ZN11__sanitizer10Symbolizer11SymbolizePCEm(void* symbolizer, uint64_t address) __attribute__((weak));

void* __wrap__ZN11__sanitizer10Symbolizer11SymbolizePCEm(void* symbolizer, uint64_t address) {
  return __real__ZN11__sanitizer10Symbolizer11SymbolizePCEm(symbolizer, stab::code::original_of(address));
}

}  // extern "C"
