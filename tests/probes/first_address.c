// Prints one return address.
#include <stdint.h>
#include <stdio.h>

__attribute__((noinline)) uintptr_t return_address(void) { return (uintptr_t)__builtin_return_address(0); }

int main(void) {
  printf("%lx\n", (unsigned long)return_address());
  return 0;
}
