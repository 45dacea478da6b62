/* Functions in a section of the program's own, which pointers to them are held to by its ends. */
#include "repeat.h"
#define ENCLOSED __attribute__((section("enclosed"), noinline, used))
typedef int (*Function)(int);
extern char __start_enclosed[], __stop_enclosed[];
ENCLOSED static int one_more(int n) { return n + 1; }
ENCLOSED static int doubled(int n) { return one_more(n) * 2; }
ENCLOSED static int chosen(int n) {
  switch (n & 7) {
    case 0: return 9;
    case 1: return doubled(n);
    case 2: return 11;
    case 3: return one_more(n);
    case 4: return 3;
    case 5: return n;
    case 6: return -n;
    default: return 8;
  }
}
static const Function table[] = {one_more, doubled, chosen};
NOINLINE static int is_enclosed(Function f) { return (char*)f >= __start_enclosed && (char*)f < __stop_enclosed; }
int main(void) {
  Function volatile taken[] = {one_more, doubled, chosen};
  REPEAT {
    for (int i = 0; i < 3; ++i) CHECK(is_enclosed(table[i]) && taken[i] == table[i]);
    for (int n = 0; n < 16; ++n) CHECK(taken[0](n) == n + 1 && taken[1](n) == 2 * n + 2 && taken[2](n) == chosen(n));
    CHECK(!is_enclosed((Function)is_enclosed));
  }
  puts("enclosed ok");
}
