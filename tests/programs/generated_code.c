/* Code the program makes itself, called from moved functions and calling back into them. */
#include <string.h>
#include <sys/mman.h>
#include "repeat.h"
static long callback(long x) { return x + 1; }
int main(void) {
  /* sub $8, %rsp; mov $callback, %rax; call *%rax; add $8, %rsp; ret */
  unsigned char code[] = {0x48, 0x83, 0xec, 8, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3};
  long (*target)(long) = callback;
  memcpy(code + 6, &target, 8);
  unsigned char* made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(made, code, sizeof code);
  CHECK(mprotect(made, 4096, PROT_READ | PROT_EXEC) == 0);
  long (*call)(long);
  memcpy(&call, &made, sizeof call);
  REPEAT CHECK(call(41) == 42);
  puts("generated code ok");
}
