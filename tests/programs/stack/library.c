// A shared library of modules.c: tells how far its own pad moves its callees, and where its slots are.
#include <stdint.h>

extern uint32_t __start_stab_pads[] __attribute__((weak, visibility("hidden")));
extern uint32_t __stop_stab_pads[] __attribute__((weak, visibility("hidden")));

__attribute__((noinline)) static char* leaf(void) {
  char local;
  char* address = &local;
  __asm__ volatile("" : "+r"(address) : : "memory");
  return address;
}

long frame_bytes(void) {
  char* mine = __builtin_frame_address(0);
  return mine - leaf();
}

uint32_t* first_slot(void) { return __start_stab_pads; }
uint32_t* end_of_slots(void) { return __stop_stab_pads; }

// More functions with slots, so that all of them being 0 by chance is out of the question.
#define PADDED(name) \
  char* name(void) { return leaf() + (leaf() == 0); }
PADDED(padded_1)
PADDED(padded_2)
PADDED(padded_3)
PADDED(padded_4)
