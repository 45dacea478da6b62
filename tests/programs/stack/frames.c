// Frames of every kind that C has; a misplaced one is found.
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <ucontext.h>

#include "features.h"

NOINLINE static long variable_array(long n) {
  long total = 0;
  for (long i = 1; i < n; ++i) {  // each round's array ends with the round
    char array[i * 37];
    memset(array, (int)i, sizeof array);
    total += sum(array, (long)sizeof array);
  }
  return total;
}

NOINLINE static long allocas(long n) {
  char* last = NULL;
  long total = 0;
  for (long i = 1; i < n; ++i) {
    char* room = alloca(16 * i);
    memset(room, 3, 16 * i);
    if (last != NULL && sum(last, 1) != 3) fail("an earlier alloca was overwritten");
    total += sum(room, 16 * i);
    last = room;
  }
  return total;
}

NOINLINE static long over_aligned(long n) {
  _Alignas(4096) char page[4096];
  _Alignas(64) char line[64];
  memset(page, (int)n, sizeof page);
  memset(line, 1, sizeof line);
  if ((uintptr_t)page % 4096 != 0 || (uintptr_t)line % 64 != 0) fail("an over-aligned local is not aligned");
  return sum(page, sizeof page) + sum(line, sizeof line);
}

NOINLINE static long over_aligned_variable(long n) {
  _Alignas(256) char fixed[256];
  char array[n];
  memset(array, 2, (size_t)n);
  memset(fixed, 1, sizeof fixed);
  if ((uintptr_t)fixed % 256 != 0) fail("an over-aligned local beside a variable array is not aligned");
  return sum(array, n) + sum(fixed, sizeof fixed);
}

NOINLINE static double variadic(int count, ...) {
  va_list list, copy;
  va_start(list, count);
  va_copy(copy, list);
  double total = 0;
  for (int i = 0; i < count; ++i) total += i % 2 ? va_arg(list, double) : va_arg(list, int);
  char text[64];
  vsnprintf(text, sizeof text, "%d %.1f %d", copy);
  va_end(copy);
  va_end(list);
  return total + (double)strlen(text);
}

struct Big {
  long values[40];
};
NOINLINE static long by_value(struct Big a, struct Big b) {
  a.values[0] += 1;
  return sum((const char*)&a, sizeof a) + sum((const char*)&b, sizeof b) + a.values[39] - b.values[39];
}
NOINLINE static struct Big returned(long n) {
  struct Big big;
  for (int i = 0; i < 40; ++i) big.values[i] = n + i + sum("x", 1);
  return big;
}

NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, long h, double i, long j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (long)i + 10 * j + sum("\1\2", 2);
}

#if defined(__clang__)
NOINLINE static long must_tail_end(long n, long total) { return total + sum("\1", 1) + n; }
NOINLINE static long must_tail(long n, long total) {
  if (n == 0) __attribute__((musttail)) return must_tail_end(n, total);
  total += sum("\1\2\3", 3);
  __attribute__((musttail)) return must_tail(n - 1, total);
}
#else
#error "clang only"
#endif

__attribute__((naked)) static long naked(long n) {
  __asm__("leaq 5(%rdi), %rax\n\tret");
}

// Calls from assembly, below the red zone that the compiler knows nothing about.
NOINLINE static long from_assembly(long n) {
  long result;
  char guard[32];
  memset(guard, 7, sizeof guard);
  __asm__ volatile("subq $128, %%rsp\n\tmovq %1, %%rdi\n\tcall *%2\n\taddq $128, %%rsp"
                   : "=&a"(result)
                   : "r"(n), "r"(naked)
                   : "rdi", "memory", "cc");
  return result + sum(guard, sizeof guard);
}

#ifdef __OPTIMIZE__
// Assembly with the frame pointer as a register of its own, as codecs have it; plain -O0 can't do that either.
NOINLINE static long without_frame_pointer(long n) {
  long result;
  __asm__ volatile("movq %1, %%rbp\n\tleaq (%%rbp, %%rbp, 2), %0" : "=r"(result) : "r"(n) : "rbp");
  return result + sum("\1\2", 2);
}
#else
static long without_frame_pointer(long n) { return 3 * n + sum("\1\2", 2); }
#endif

static jmp_buf back;
NOINLINE static void jump(int value) { longjmp(back, value); }
static long jumps(void) {
  volatile int rounds = 0;
  char local[100];
  memset(local, 1, sizeof local);
  const int value = setjmp(back);
  if (value < 5) {
    rounds = rounds + 1;
    jump(value + 1);
  }
  return rounds + value + (int)sum(local, sizeof local);
}

static ucontext_t main_context, fiber_context;
static long fiber_total;  // of all rounds
static void fiber(void) {
  for (int i = 0; i < 3; ++i) {
    char local[200];
    memset(local, i, sizeof local);
    fiber_total += sum(local, sizeof local);
    swapcontext(&fiber_context, &main_context);
  }
}
static long fibers(void) {
  static char stack[8 * 1024];  // the runtime knows nothing of it
  fiber_total = 0;
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  fiber_context.uc_link = &main_context;
  makecontext(&fiber_context, fiber, 0);
  for (int i = 0; i < 3; ++i) swapcontext(&main_context, &fiber_context);
  return fiber_total;
}

NOINLINE static long frame_address(void) {
  const char* mine = __builtin_frame_address(0);
  char local[32];
  memset(local, 1, sizeof local);
  if (local > mine || mine - local > 8192) fail("the frame address is not the frame's");
  return sum(local, sizeof local);
}

static long cleaned;
static void clean(char** text) { cleaned += sum(*text, 2); }
NOINLINE static long cleanup(void) {
  cleaned = 0;
  {
    __attribute__((cleanup(clean))) char* text = (char*)"up";
    if (sum(text, 2) == 0) fail("a cleanup came too early");
  }
  return cleaned;
}

NOINLINE static long large(long n) {
  char buffer[300000];
  memset(buffer, (int)n, sizeof buffer);
  return sum(buffer, sizeof buffer);
}

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
static long callbacks(void) {
  int values[50];
  for (int i = 0; i < 50; ++i) values[i] = i * 37 % 50;
  qsort(values, 50, sizeof *values, compare);
  for (int i = 0; i < 50; ++i)
    if (values[i] != i) fail("qsort with a callback");
  return values[49];
}

static long variable_arrays(void) { return variable_array(40); }
static long alloca_in_a_loop(void) { return allocas(30); }
static long over_aligned_locals(void) { return over_aligned(3); }
static long over_aligned_beside_a_variable_array(void) { return over_aligned_variable(333); }
static long variadics(void) { return (long)(2 * variadic(5, 1, 2.5, 3, 4.5, 5)); }
static long structs_by_value(void) { return by_value(returned(7), returned(9)); }
static long arguments_on_the_stack(void) { return many(1, 2, 3, 4, 5, 6, 7, 8, 9.0, 10); }
static long must_tail_calls(void) { return must_tail(1000, 0); }
static long naked_functions(void) { return from_assembly(37); }
static long assembly_with_rbp(void) { return without_frame_pointer(5); }
static long large_frames(void) { return large(2); }

FEATURES({"vla", variable_arrays, 0}, {"alloca", alloca_in_a_loop, 0}, {"over-aligned", over_aligned_locals, 0},
         {"over-aligned-vla", over_aligned_beside_a_variable_array, 0}, {"variadic", variadics, 0},
         {"byval", structs_by_value, 0}, {"stack-arguments", arguments_on_the_stack, 0}, {"musttail", must_tail_calls, 0},
         {"naked", naked_functions, 0}, {"inline-asm", assembly_with_rbp, 0}, {"setjmp", jumps, 0},
         {"fibers", fibers, 0}, {"frame-address", frame_address, 0}, {"cleanup", cleanup, 0}, {"large", large_frames, 0},
         {"callbacks", callbacks, 0})
