/* Programs that live in one activation of one function. What each does depends on no clock: it prints a number that a turn
   more or less, or one instruction more or less of a turn, makes another one. */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline))
typedef unsigned long word;

/* A body of a few bytes, with a backward branch of 8 bits. */
NOINLINE static word tight(word turns) {
  word x = 88172645463325252u;
  for (word i = 0; i < turns; ++i) x = (x ^ (x << 13)) * 3 + i;
  return x;
}

/* Carry and zero flag live across each backward branch, and across every instruction in between. */
NOINLINE static word flags(word turns) {
  word sum = 1, high = 0, step = 0x9e3779b97f4a7c15u;
  __asm__ volatile(
      "clc\n"
      "1: adcq %[step], %[sum]\n\t"
      "rcrq $1, %[high]\n\t"
      "adcq $0, %[high]\n\t"
      "decq %[turns]\n\t"
      "jnz 1b"
      : [sum] "+r"(sum), [high] "+r"(high), [turns] "+r"(turns)
      : [step] "r"(step)
      : "cc");
  return sum ^ high;
}

/* Loops in loops, memory, and constants of 32 bits: instructions that take a jump of 32 bits in their place. */
NOINLINE static word nested(word turns) {
  static word table[256];
  word x = 1;
  for (word i = 0; i < turns; ++i) {
    for (word k = 0; k < 256; ++k) {
      x = x * 1664525 + 1013904223;
      if (x & 0x40000) table[k] += x;
      else table[k ^ 5] ^= x >> 7;
    }
    for (word k = 1; k < 256; k += 2) x += table[k] ^ table[k - 1];
  }
  return x;
}

NOINLINE static word add(word x, word y) { __asm__ volatile(""); return x + y; }

/* Returns from calls lead into the copy that made them. */
NOINLINE static word calls(word turns) {
  word x = 7;
  for (word i = 0; i < turns; ++i) {
    x = add(x, i);
    x ^= x << 17;
    x = add(x, x >> 9);
  }
  return x;
}

/* Whose cases a table leads to. In a program at a fixed address the jump itself reads the table; else a register may hold it. */
NOINLINE static word switches(word turns) {
  word x = 12345, y = 1;
  for (word i = 0; i < turns; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    switch (x >> 60) {
      case 0: y += x; break;
      case 1: y ^= x; break;
      case 2: y = y * 3 + 1; break;
      case 3: y -= x >> 3; break;
      case 4: y = y << 5 | y >> 59; break;
      case 5: y += i; break;
      case 6: y ^= i << 7; break;
      case 7: y = ~y; break;
      case 8: y += 0x123456789; break;
      case 9: y *= 5; break;
      case 10: y ^= y >> 11; break;
      default: y += 2; break;
    }
  }
  return y;
}

NOINLINE static word computed_gotos(word turns) {
  static const void* const to[] = {&&adds, &&turns_bits, &&mixes, &&inverts};
  word x = 99, y = 1;
next:
  if (turns-- == 0) return y;
  x = x * 6364136223846793005u + 1442695040888963407u;
  goto* to[x >> 62];
adds: y += x; goto next;
turns_bits: y = y << 9 | y >> 55; goto next;
mixes: y ^= x >> 5; goto next;
inverts: y = ~y; goto next;
}

/* Four activations of one function, each at its own pace. */
static void* in_thread(void* turns) { return (void*)tight((word)turns); }
static word threads(word turns) {
  pthread_t thread[4];
  word sum = 0;
  for (word i = 0; i < 4; ++i) pthread_create(&thread[i], NULL, in_thread, (void*)(turns / 4 + i));
  for (word i = 0; i < 4; ++i) {
    void* result;
    pthread_join(thread[i], &result);
    sum = sum * 31 + (word)result;
  }
  return sum;
}

/* A handler that unwinds from wherever the loop is: it must come out in main each time. */
static volatile word lost;
static void unwind(int number) {
  (void)number;
  void* frames[64];
  if (backtrace(frames, 64) < 5) ++lost;
}
static word signals(word turns) {
  void* warm[4];
  backtrace(warm, 4);
  struct sigaction action = {.sa_handler = unwind, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  const word x = tight(turns);
  setitimer(ITIMER_REAL, &never, NULL);
  return x + lost * 1000003;
}

int main(int argc, char** argv) {
  static const struct { const char* name; word (*function)(word); word turns; } all[] = {
      {"tight", tight, 60000000}, {"flags", flags, 75000000}, {"nested", nested, 150000}, {"calls", calls, 30000000},
      {"switches", switches, 15000000}, {"gotos", computed_gotos, 15000000}, {"threads", threads, 150000000},
      {"signals", signals, 60000000}};
  for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof all[0]; ++i)
    if (strcmp(argv[1], all[i].name) == 0) return printf("%s %016lx\n", all[i].name, all[i].function(all[i].turns)) < 0;
  return 2;
}
