/* Code that is summed up again and again: from one function to another, by a comparison and by a difference, a section of it, and
   the whole text, as the linker's names enclose them. Its bytes are the same each time.
   other-compilers: no */
#include <stdint.h>
#include "repeat.h"

extern const unsigned char __executable_start, etext, __start_apart[], __stop_apart[];

/* In this order or, where the linker optimizes, the other way round. */
NOINLINE int first_mark(int number) { return number + 0x1234567; }
NOINLINE int enclosed(int number) { return number * 3 + first_mark(number); }
NOINLINE int enclosed_too(int number) { return number * 5 - enclosed(number); }
NOINLINE int last_mark(int number) { return number ^ 0x7654321; }
NOINLINE static int outside(int number) { return last_mark(number) + enclosed_too(number); }
static int (*volatile called)(int) = outside;
__attribute__((section("apart"), noinline, used)) static int lies_apart(int number) { return outside(number) * 7; }
static int (*volatile called_apart)(int) = lies_apart;

/* Which code it reads is known in each function on its own. */
static inline __attribute__((always_inline)) unsigned sum_to(const unsigned char* byte, const unsigned char* end) {
  unsigned sum = 0;
  for (; byte < end; ++byte) sum = sum * 31 + *byte;
  return sum;
}
NOINLINE static unsigned sum_of(const unsigned char* byte, long count) {
  unsigned sum = 0;
  while (count-- > 0) sum = sum * 31 + *byte++;
  return sum;
}
NOINLINE static unsigned sum_enclosed(void) {
  const unsigned char *const one = (const unsigned char*)first_mark, *const other = (const unsigned char*)last_mark;
  return one < other ? sum_to(one, other) : sum_to(other, one);
}
NOINLINE static unsigned count_enclosed(void) {
  const unsigned char *const one = (const unsigned char*)first_mark, *const other = (const unsigned char*)last_mark;
  return one < other ? sum_of(one, other - one) : sum_of(other, one - other);
}
NOINLINE static unsigned sum_apart(void) { return sum_to(__start_apart, __stop_apart); }
NOINLINE static unsigned sum_text(void) { return sum_to(&__executable_start, &etext); }

int main(void) {
  const int wanted = outside(9);
  CHECK(((uintptr_t)first_mark < (uintptr_t)enclosed) == ((uintptr_t)enclosed < (uintptr_t)last_mark));
  const unsigned sum = sum_enclosed();
  REPEAT CHECK(sum_enclosed() == sum && count_enclosed() == sum && called(9) == wanted);
  const unsigned sum_there = sum_apart();
  REPEAT CHECK(sum_apart() == sum_there && called_apart(9) == wanted * 7);
  const unsigned text = sum_text();
  REPEAT CHECK(sum_text() == text && sum_enclosed() == sum && called(9) == wanted);
  puts("the same each time");
  return 0;
}
