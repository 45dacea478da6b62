// Functions that a pad would break, since they need the frame that they have without one, and some that look like it.
#include <stdint.h>

#include "features.h"

struct Line {
  _Alignas(64) long words[16];
};

// What is passed on the stack lies where its alignment says.
NOINLINE static long takes_lines(struct Line a, int n, struct Line b) {
  uintptr_t at = (uintptr_t)&a | (uintptr_t)&b;
  __asm__("" : "+r"(at));
  if (at % 64 != 0) fail("an argument is misaligned");
  return a.words[n] + sum((const char*)&b, sizeof b);
}
static long over_aligned_arguments(void) {
  struct Line line;
  for (int i = 0; i < 16; ++i) line.words[i] = i;
  long total = 0;
  for (int i = 0; i < 16; ++i) total += takes_lines(line, i, line);
  return total;
}

// Its caller's frame pointer and base pointer are registers as any other to it.
NOINLINE __attribute__((preserve_none)) static long keeps_nothing(long a, long b, long c, long d, long e, long f) {
  long x = a * b, y = c * d, z = e * f;
  x += sum("\1\2", x & 1), y += sum("\3\4", y & 1), z += sum("\5\6", z & 1);
  return x ^ y ^ z ^ a ^ c ^ e;
}
static long conventions(void) {
  struct Line line;
  memset(&line, 5, sizeof line);
  long total = sum((const char*)&line, sizeof line);
  for (int i = 0; i < 16; ++i) total += keeps_nothing(i, 2, 3, 4, 5, 6) + line.words[i] % 1000;
  return total;
}

// What one piece pushes another pops. Neither may find locals by the stack pointer, as a frame without frame pointer does.
#ifdef __OPTIMIZE__
static long pushes(void) { return 3 + 2 * sum("\1\2", 2); }
#else
static long pushes(void) {
  long pushed = 3, popped;
  __asm__ volatile("pushq %0\n\tpushq %0" : : "r"(pushed));
  long total = sum("\1\2", 2);
  total += sum("\1\2", 2);
  __asm__ volatile("popq %0\n\tpopq %0" : "=r"(popped));
  return popped + total;
}
#endif

// Fifteen registers, or as many as there are with a frame pointer.
NOINLINE static long takes_all(long a) {
  long r = sum("\1\2", 2);
  __asm__ volatile("add %1, %0\n\tadd %2, %0\n\tadd %3, %0\n\tadd %4, %0\n\tadd %5, %0\n\tadd %6, %0\n\tadd %7, %0\n\tadd %8, %0"
                   : "+&r"(r)
                   : "r"(a), "r"(a + 1), "r"(a + 2), "r"(a + 3), "r"(a + 4), "r"(a + 5), "r"(a + 6), "r"(a + 7)
                   : "cc", "r11", "r12", "r13", "r14", "r15"
#ifdef __OPTIMIZE__
                   , "rbp"
#endif
  );
  return r + sum("\1\2", 2);
}
static long assembly_with_all_registers(void) { return takes_all(5); }

// Twelve registers, and two places in the frame, whose offsets are added in two more where nothing is optimized.
NOINLINE static long takes_places(long a) {
  struct Line line;
  memset(&line, 3, sizeof line);
  long r = sum((const char*)&line, 2);
  __asm__ volatile("add %1, %0\n\tadd %2, %0\n\tadd %3, %0\n\tadd %4, %0\n\tadd %5, %0\n\tadd %6, %0\n\tadd %7, %0\n\t"
                   "add %8, %0\n\tadd %9, %0\n\tadd %10, %0\n\tadd %11, %0"
                   : "+&r"(r)
                   : "m"(line.words[3]), "m"(line.words[5]), "r"(a), "d"(a + 1), "D"(a + 2), "r"(a + 3), "r"(a + 4), "c"(a + 5),
                     "r"(a + 6), "r"(a + 7), "r"(a + 8)
                   : "cc", "r8", "r10");
  return r + sum((const char*)&line, sizeof line);
}
static long assembly_with_places(void) { return takes_places(5); }

static void* room[5];
NOINLINE static void jump_back(void) { __builtin_longjmp(room, 1); }
static long builtin_jumps(void) {
  struct Line line;
  volatile long rounds = 0;
  memset(&line, 2, sizeof line);
  if (__builtin_setjmp(room) == 0 || rounds < 5) {
    rounds = rounds + sum((const char*)&line, 3);
    jump_back();
  }
  return rounds + sum((const char*)&line, sizeof line);
}

// An unwinder's way out: to another place, with the stack pointer where it is told.
__attribute__((used)) void* own_frame_came_from;
__attribute__((naked)) static void go_back(void) { __asm__("movl $7, %eax\n\tjmp *own_frame_came_from(%rip)"); }
NOINLINE static long leaves_elsewhere(long n) {
  struct Line line;
  memset(&line, (int)n, sizeof line);
  own_frame_came_from = __builtin_return_address(0);
  __builtin_unwind_init();
  if (sum((const char*)&line, 2) == 2 * n) __builtin_eh_return(0, (void*)go_back);
  return sum((const char*)&line, 3);
}
static long unwinders(void) { return leaves_elsewhere(3); }

FEATURES({"over-aligned-arguments", over_aligned_arguments, 0}, {"conventions", conventions, 0}, {"pushes", pushes, 0},
         {"all-registers", assembly_with_all_registers, 0}, {"all-places", assembly_with_places, 0},
         {"builtin-setjmp", builtin_jumps, 0}, {"eh-return", unwinders, 0})
