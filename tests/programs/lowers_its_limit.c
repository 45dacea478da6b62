/* A process that lowers its own limit of address space, as `ulimit -v` in a script does, still has what is below it. */
#include <sys/resource.h>
#include "repeat.h"
int main(void) {
  void* small[1000];
  for (int i = 0; i < 1000; ++i) small[i] = malloc(100);
  const struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  REPEAT {
    for (size_t bytes = 100 << 10; bytes < 200u << 20; bytes *= 4) {
      char* got = malloc(bytes);
      CHECK(got != NULL);
      got[bytes - 1] = 1;
      free(got);
    }
    for (int i = 0; i < 1000; ++i) { free(small[i]); CHECK((small[i] = malloc((size_t)(i % 50) * 300)) != NULL); }
  }
  void* volatile too_much = malloc((size_t)2 << 30);
  CHECK(too_much == NULL);
  puts("lowers its limit ok");
}
