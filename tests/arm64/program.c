// A program without libc for images of arm64 code: each thing that a function's place may change has a function here. It prints
// one line for each, and ends with 0. Printed are results, never an address.
#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

static long kernel(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}

NOINLINE size_t length_of(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

NOINLINE void say(const char* text) { kernel(64, 1, (long)text, (long)length_of(text)); }

NOINLINE void say_number(const char* what, uint64_t value) {
  char digits[24];
  int at = 23;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  say(what);
  say(" ");
  say(digits + at);
  say("\n");
}

/* ---- Data: words, strings, scaled loads and stores of each size ------------------------------------------------ */

static uint8_t bytes[64];
static uint16_t halves[32];
static uint32_t words[32];
uint64_t longs[32];
__attribute__((aligned(16))) __uint128_t wide[4];
static float floats[8] = {1.5f, 2.5f, 4.25f};
static double doubles[8] = {0.5, 0.25, 8.0};
static const char* const names[] = {"zero", "one", "two", "three", "four", "five", "six", "seven"};

NOINLINE uint64_t store_all(uint64_t seed) {
  for (int i = 0; i < 32; ++i) {
    bytes[i] = (uint8_t)(seed + (uint64_t)i);
    halves[i] = (uint16_t)(seed * 3 + (uint64_t)i);
    words[i] = (uint32_t)(seed * 5 + (uint64_t)i);
    longs[i] = seed * 7 + (uint64_t)i;
  }
  wide[1] = (__uint128_t)seed << 64 | 9;
  return bytes[3] + halves[5] + words[7] + longs[11];
}

NOINLINE uint64_t load_all(void) {
  uint64_t sum = bytes[1] + halves[1] * 2u + words[1] * 3u + longs[1] * 4u;
  return sum + (uint64_t)(wide[1] >> 64) + (uint64_t)wide[1] + (uint64_t)(floats[1] * 2.0f) + (uint64_t)(doubles[2] * 2.0);
}

NOINLINE const char* name_of(unsigned number) { return names[number % 8]; }

/* ---- Thread-local storage --------------------------------------------------------------------------------------- */

static __thread uint64_t counter = 40;
__thread uint64_t other_counter;

NOINLINE uint64_t count_up(void) {
  other_counter += 3;
  return ++counter;
}
NOINLINE uint64_t counted(void) { return counter * 100 + other_counter; }

/* ---- Jump tables: dense switches -------------------------------------------------------------------------------- */

NOINLINE uint64_t narrow_switch(unsigned what, uint64_t x) {
  switch (what) {
    case 0: return x + 11;
    case 1: return x * 3;
    case 2: return x ^ 0x55;
    case 3: return x - 7;
    case 4: return length_of("four") + x;
    case 5: return x << 3;
    case 6: return x / 3;
    case 7: return count_up() + x;
    case 8: return ~x & 0xff;
    case 9: return x % 5;
    case 10: return x * x;
    case 11: return 1000 - x;
    case 12: return length_of("twelve") * x;
    case 13: return x >> 2;
    case 14: return x | 0x3c;
    case 15: return (x & 0xf) << 9;
    default: return 99;
  }
}

// So long that its table has 32-bit entries, which count from the table. The compiler knows how long .space is.
#define SPACE(bytes) __asm__ volatile("b 1f\n\t.space " #bytes "\n1:")
NOINLINE uint64_t wide_switch(unsigned what, uint64_t x) {
  uint64_t sum = 0;
  for (int turn = 0; turn < 3; ++turn) {
    switch (what) {
      case 0: sum += x + 1; SPACE(20000); break;
      case 1: sum += x * 5; SPACE(20000); break;
      case 2: sum ^= x + 0x33; SPACE(20000); break;
      case 3: sum += narrow_switch(3, x); SPACE(20000); break;
      case 4: sum += x << 2; SPACE(20000); break;
      case 5: sum += load_all() & 0xff; SPACE(20000); break;
      case 6: sum += 1234; SPACE(20000); break;
      case 7: sum -= x; SPACE(20000); break;
      case 8: sum += x / 7; SPACE(20000); break;
      case 9: sum ^= x << 5; SPACE(20000); break;
      case 10: sum += length_of("ten"); SPACE(20000); break;
      case 11: sum += x % 13; SPACE(20000); break;
      case 12: sum *= 3; SPACE(20000); break;
      case 13: sum += narrow_switch(12, x); SPACE(20000); break;
      case 14: sum >>= 1; SPACE(20000); break;
      case 15: sum += x | 1; SPACE(20000); break;
      default: sum += 7; break;
    }
    what = (what + 5) % 17;
  }
  return sum;
}

/* ---- Calls: pointers, tails, recursion, callbacks --------------------------------------------------------------- */

typedef uint64_t (*operation)(uint64_t);
NOINLINE uint64_t twice(uint64_t x) { return x * 2; }
NOINLINE uint64_t square(uint64_t x) { return x * x; }
NOINLINE uint64_t negate(uint64_t x) { return 1000 - x; }
NOINLINE uint64_t half(uint64_t x) { return x / 2; }
static const operation operations[] = {twice, square, negate, half};
operation changing = twice;

NOINLINE uint64_t apply(operation f, uint64_t x) { return f(x) + 1; }
NOINLINE uint64_t apply_all(uint64_t x) {
  for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; ++i) x = apply(operations[i], x & 0xffff);
  return x;
}
NOINLINE uint64_t change(uint64_t x) {
  const operation before = changing;
  changing = changing == twice ? square : twice;
  return before(x) + changing(x);
}
NOINLINE uint64_t is_same(operation f) { return f == twice ? 1 : f == square ? 2 : 3; }
NOINLINE uint64_t fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
NOINLINE uint64_t is_even(unsigned n);
NOINLINE uint64_t is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }
NOINLINE uint64_t is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
NOINLINE uint64_t tail(uint64_t x) { return x > 10 ? square(x) : twice(x); }

/* ---- Long conditional branches, and those to other functions ---------------------------------------------------- */

NOINLINE uint64_t long_way(uint64_t x) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < x; ++i) {
    if (i & 1) {
      sum += i;
      SPACE(36000);
    } else {
      sum ^= i;
      SPACE(36000);
    }
  }
  return sum;
}

// As no compiler writes them: conditional branches whose target is another function.
uint64_t if_zero(uint64_t x, uint64_t y);
uint64_t if_bit(uint64_t x, uint64_t y);
uint64_t if_less(uint64_t x, uint64_t y);
__asm__(
    ".section .text.if_zero, \"ax\", @progbits\n .globl if_zero\n .type if_zero, @function\nif_zero:\n"
    " bti c\n cbz x0, negate\n add x0, x0, x1\n b twice\n .size if_zero, . - if_zero\n"
    ".section .text.if_bit, \"ax\", @progbits\n .globl if_bit\n .type if_bit, @function\nif_bit:\n"
    " bti c\n tbnz w0, #3, if_set\n add x0, x0, x1\n ret\n .size if_bit, . - if_bit\n"
    ".section .text.if_set, \"ax\", @progbits\n .globl if_set\n .type if_set, @function\nif_set:\n"
    " bti c\n mul x0, x0, x1\n add x0, x0, #77\n ret\n .size if_set, . - if_set\n"
    ".section .text.if_less, \"ax\", @progbits\n .globl if_less\n .type if_less, @function\nif_less:\n"
    " bti c\n cmp x0, x1\n b.lo half\n b.hi negate\n mov x0, #5\n ret\n .size if_less, . - if_less\n .text\n");

/* ---- Literals behind a function's code ---------------------------------------------------------------------------- */

uint64_t literal(uint64_t x);
__asm__(
    ".section .text.literal, \"ax\", @progbits\n .globl literal\n .type literal, @function\nliteral:\n"
    " bti c\n ldr x1, =0x123456789abcdef0\n ldr x2, =longs\n ldr x2, [x2, #8]\n adr x3, 1f\n ldr w3, [x3]\n"
    " add x0, x0, x2\n add x0, x0, x3\n eor x0, x0, x1, lsr #40\n ret\n1: .word 0x14000007\n .ltorg\n"
    " .size literal, . - literal\n .text\n");

/* ---- Labels as values ----------------------------------------------------------------------------------------------- */

NOINLINE uint64_t interpret(const uint8_t* program, uint64_t x) {
  static const void* const steps[] = {&&add, &&multiply, &&flip, &&end};
  goto* steps[*program++];
add:
  x += 17;
  goto* steps[*program++];
multiply:
  x *= 3;
  goto* steps[*program++];
flip:
  x ^= 0x5a;
  goto* steps[*program++];
end:
  return x;
}

NOINLINE uint64_t vary(const char* format, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, format);
  uint64_t sum = 0;
  for (; *format != 0; ++format) {
    if (*format == 'd') sum += (uint64_t)__builtin_va_arg(list, int);
    if (*format == 'l') sum += __builtin_va_arg(list, uint64_t) * 2;
    if (*format == 's') sum += length_of(__builtin_va_arg(list, const char*));
  }
  __builtin_va_end(list);
  return sum;
}

struct node {
  struct node* left;
  struct node* right;
  int value;
};
static struct node nodes[64];
static int used;
NOINLINE struct node* insert(struct node* at, int value) {
  if (at == 0) {
    struct node* fresh = &nodes[used++];
    fresh->value = value;
    return fresh;
  }
  if (value < at->value)
    at->left = insert(at->left, value);
  else
    at->right = insert(at->right, value);
  return at;
}
NOINLINE uint64_t walk(const struct node* at, uint64_t sum) {
  if (at == 0) return sum;
  sum = walk(at->left, sum);
  return walk(at->right, sum * 31 + (uint64_t)at->value);
}

NOINLINE double mean(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum / count;
}

static char thread_storage[256] __attribute__((aligned(16)));
extern const char initial_image[] __attribute__((visibility("hidden")));

// Before the thread's own registers are set up nothing thread-local is touched: 16 bytes, then the variables.
NOINLINE int run(void) {
  counter = 40;
  other_counter = 0;
  say_number("stored", store_all(12345));
  say_number("loaded", load_all());
  for (unsigned i = 0; i < 17; ++i) say_number(name_of(i), narrow_switch(i, i * 100 + 9));
  for (unsigned i = 0; i < 17; ++i) say_number("wide", wide_switch(i, i * 10 + 1));
  say_number("counted", counted());
  say_number("applied", apply_all(77));
  say_number("changed", change(6) + change(7));
  say_number("same", is_same(twice) * 100 + is_same(operations[1]) * 10 + is_same(half));
  say_number("fibonacci", fibonacci(15));
  say_number("even", is_even(10) * 10 + is_odd(7));
  say_number("tail", tail(5) + tail(50));
  say_number("long", long_way(10));
  say_number("zero", if_zero(0, 5) + if_zero(4, 5));
  say_number("bit", if_bit(8, 1) + if_bit(7, 1));
  say_number("less", if_less(4, 9) + if_less(9, 4) + if_less(3, 3));
  say_number("literal", literal(1));
  static const uint8_t steps[] = {0, 1, 2, 0, 1, 3};
  say_number("interpreted", interpret(steps, 5));
  say_number("varied", vary("dlsd", 3, (uint64_t)40, "words", 9));
  struct node* root = 0;
  for (int i = 0; i < 40; ++i) root = insert(root, (i * 37) % 41);
  say_number("walked", walk(root, 0));
  say_number("mean", (uint64_t)(mean(doubles, 3) * 1000));
  return 0;
}

__attribute__((noreturn, used)) void begin(void) {
  __asm__ volatile("msr tpidr_el0, %0" : : "r"(thread_storage + 64));
  kernel(93, run(), 0, 0);
  __builtin_unreachable();
}

__asm__(
    ".section .text._start, \"ax\", @progbits\n .globl _start\n .type _start, @function\n_start:\n"
    " bti c\n mov x29, #0\n mov x30, #0\n bl begin\n brk #1\n .size _start, . - _start\n .text\n");
