/* Layouts that last ten visits. argv[1]: `call`: stab_visit by hand, each tenth of which returns in the next layout; `named`:
   none by hand, since `turn` is compiled with --stab-visit; `timed`: where layouts follow the clock visits change none. */
#include <stdio.h>
#include <string.h>

#include <stab/stab.h>

static unsigned turn(unsigned sum) { return sum * 31 + 7; }

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "call";
  unsigned sum = 1;
  for (unsigned visit = 1; visit <= 100; ++visit) {
    const uint64_t before = stab_epoch();
    if (strcmp(how, "named") != 0 && stab_visit() != STAB_OK) return printf("visit %u is refused\n", visit), 1;
    if (strcmp(how, "named") == 0) sum = turn(sum);
    const uint64_t layouts = stab_epoch() - before;
    const uint64_t expected = strcmp(how, "timed") != 0 && visit % 10 == 0;
    if (layouts == expected) continue;
    printf("%u layouts at visit %u, expected %u\n", (unsigned)layouts, visit, (unsigned)expected);
    return 1;
  }
  printf("%u ok\n", sum);
  return 0;
}
