/* A mapping comes to the address that it had in another process, where nothing of this program's own happens to lie: as
   databases ask for it whose files hold addresses. Of 200 processes one or two may be unlucky, as in a plain build. */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"
enum { kTries = 200, kBytes = 1 << 20 };
NOINLINE static void* map_at(void* address) {
  return mmap(address, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int main(int argc, char** argv) {
  if (argc > 1) {
    char* volatile made = malloc(24);
    free(made);
    void* const kept = (void*)(uintptr_t)strtoull(argv[1], NULL, 16);
    return map_at(kept) == kept ? 0 : 3;
  }
  int missed = 0;
  for (int i = 0; i < kTries; ++i) {
    char kept[32];
    void* const mapped = map_at(NULL);
    CHECK(mapped != MAP_FAILED);
    snprintf(kept, sizeof kept, "%jx", (uintmax_t)(uintptr_t)mapped);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      execl("/proc/self/exe", argv[0], kept, (char*)NULL);
      _exit(4);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
    missed += WEXITSTATUS(status) == 3;
    CHECK(munmap(mapped, kBytes) == 0);
  }
  CHECK(missed <= 2);
  puts("kept_address ok");
}
