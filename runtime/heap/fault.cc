// A double free or a pointer that isn't ours can't be survived: going on would hand one slot to two owners.
// The line is written with one raw write(2), because stdio may want to allocate.
#include "runtime/heap/fault.h"

#include <stdint.h>
#include <stdlib.h>

#include "runtime/sys.h"

namespace stab::heap {
namespace {

char* put(char* at, const char* text) {
  while (*text != 0) *at++ = *text++;
  return at;
}

char* put_address(char* at, uintptr_t address) {
  at = put(at, "0x");
  int shift = 60;
  while (shift > 0 && (address >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[(address >> shift) & 15];
  return at;
}

}  // namespace

void fault(const char* call, const void* address, const char* what) {
  char line[160];
  char* at = put(line, "stab: ");
  at = put(at, call);
  at = put(at, "(");
  at = put_address(at, reinterpret_cast<uintptr_t>(address));
  at = put(at, "): this address ");
  at = put(at, what);
  *at++ = '\n';
  sys::write_full(2, line, static_cast<size_t>(at - line));
  abort();
}

}  // namespace stab::heap
