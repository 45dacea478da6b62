// Frames of every kind that C has. Prints sums that don't depend on addresses, and fails on a misplaced frame.
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define APART __attribute__((noinline))

static void fail(const char* what) {
  printf("FAIL: %s\n", what);
  exit(1);
}

APART static long sum(const char* bytes, long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) total += bytes[i];
  return total;
}

APART static long variable_array(long n) {
  long total = 0;
  for (long i = 1; i < n; ++i) {  // each round's array ends with the round
    char array[i * 37];
    memset(array, (int)i, sizeof array);
    total += sum(array, (long)sizeof array);
  }
  return total;
}

APART static long allocas(long n) {
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

APART static long over_aligned(long n) {
  _Alignas(4096) char page[4096];
  _Alignas(64) char line[64];
  memset(page, (int)n, sizeof page);
  memset(line, 1, sizeof line);
  if ((uintptr_t)page % 4096 != 0 || (uintptr_t)line % 64 != 0) fail("an over-aligned local is not aligned");
  return sum(page, sizeof page) + sum(line, sizeof line);
}

APART static long over_aligned_variable(long n) {
  _Alignas(256) char fixed[256];
  char array[n];
  memset(array, 2, (size_t)n);
  memset(fixed, 1, sizeof fixed);
  if ((uintptr_t)fixed % 256 != 0) fail("an over-aligned local beside a variable array is not aligned");
  return sum(array, n) + sum(fixed, sizeof fixed);
}

APART static double variadic(int count, ...) {
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
APART static long by_value(struct Big a, struct Big b) {
  a.values[0] += 1;
  return sum((const char*)&a, sizeof a) + sum((const char*)&b, sizeof b) + a.values[39] - b.values[39];
}
APART static struct Big returned(long n) {
  struct Big big;
  for (int i = 0; i < 40; ++i) big.values[i] = n + i + sum("x", 1);
  return big;
}

APART static long many(long a, long b, long c, long d, long e, long f, long g, long h, double i, long j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (long)i + 10 * j + sum("\1\2", 2);
}

#if defined(__clang__)
APART static long must_tail_end(long n, long total) { return total + sum("\1", 1) + n; }
APART static long must_tail(long n, long total) {
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
APART static long from_assembly(long n) {
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
APART static long without_frame_pointer(long n) {
  long result;
  __asm__ volatile("movq %1, %%rbp\n\tleaq (%%rbp, %%rbp, 2), %0" : "=r"(result) : "r"(n) : "rbp");
  return result + sum("\1\2", 2);
}
#else
static long without_frame_pointer(long n) { return 3 * n + sum("\1\2", 2); }
#endif

static jmp_buf back;
APART static void jump(int value) { longjmp(back, value); }
APART static int jumps(void) {
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
static long fiber_total;
static void fiber(void) {
  for (int i = 0; i < 3; ++i) {
    char local[200];
    memset(local, i, sizeof local);
    fiber_total += sum(local, sizeof local);
    swapcontext(&fiber_context, &main_context);
  }
}
APART static long fibers(void) {
  static char stack[64 * 1024];
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  fiber_context.uc_link = &main_context;
  makecontext(&fiber_context, fiber, 0);
  for (int i = 0; i < 3; ++i) swapcontext(&main_context, &fiber_context);
  return fiber_total;
}

APART static long frame_address(void) {
  const char* mine = __builtin_frame_address(0);
  char local[32];
  memset(local, 1, sizeof local);
  if (local > mine || mine - local > 8192) fail("the frame address is not the frame's");
  return sum(local, sizeof local);
}

static void clean(char** text) { printf("cleaned %s\n", *text); }
APART static long cleanup(void) {
  __attribute__((cleanup(clean))) char* text = (char*)"up";
  return sum(text, 2);
}

APART static long large(long n) {
  char buffer[300000];
  memset(buffer, (int)n, sizeof buffer);
  return sum(buffer, sizeof buffer);
}

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
APART static int callbacks(void) {
  int values[50];
  for (int i = 0; i < 50; ++i) values[i] = i * 37 % 50;
  qsort(values, 50, sizeof *values, compare);
  for (int i = 0; i < 50; ++i)
    if (values[i] != i) fail("qsort with a callback");
  return values[49];
}

int main(void) {
  for (int round = 0; round < 200; ++round) {  // some of them in later epochs
    const int loud = round == 199;
    const long a = variable_array(40), b = allocas(30), c = over_aligned(3), d = over_aligned_variable(333);
    const double e = variadic(5, 1, 2.5, 3, 4.5, 5);
    const struct Big big = returned(7);
    const long f = by_value(big, returned(9)), g = many(1, 2, 3, 4, 5, 6, 7, 8, 9.0, 10), h = must_tail(1000, 0);
    const long i = from_assembly(37) + without_frame_pointer(5), j = jumps(), k = frame_address(), l = large(2), m = callbacks();
    if (!loud) continue;
    printf("%ld %ld %ld %ld %g %ld %ld %ld %ld %ld %ld %ld %ld\n", a, b, c, d, e, f, g, h, i, j, k, l, m);
    printf("%ld\n", cleanup());
    printf("%ld\n", fibers());
  }
  return 0;
}
