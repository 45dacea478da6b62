/* &f is the same value in every copy, from code and from data, and calls through it work. */
#include <string.h>
#include "repeat.h"
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int (*const table[])(int, int) = {add, sub};
static int (*volatile stored)(int, int);
NOINLINE static int (*pick(int which))(int, int) { return which ? sub : add; }
static int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(void) {
  stored = add;
  REPEAT {
    int values[100];
    for (int i = 0; i < 100; ++i) values[i] = (i * 61) % 100;
    qsort(values, 100, sizeof(int), by_value);
    for (int i = 0; i < 100; ++i) CHECK(values[i] == i);
    CHECK(pick(0) == table[0] && pick(1) == table[1] && stored == pick(0));
    CHECK(pick(0)(5, 3) == 8 && table[1](5, 3) == 2);
    CHECK(bsearch(&values[42], values, 100, sizeof(int), by_value) == &values[42]);
  }
  puts("pointers ok");
}
