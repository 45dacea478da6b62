/* Code as data: functions that are copied to other memory and run there, summed up, compared and written to a file. Their bytes
   are what the compiler made, in each layout.
   other-compilers: no */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "repeat.h"

enum { kBytes = 64 };
typedef int (*Function)(int, int);
typedef int (*Caller)(Function, int);

NOINLINE static int leaf(int a, int b) { return a * 3 + b + (a ^ 0x11335577); }
NOINLINE static int other(int a, int b) { return a / (b | 1) - (a ^ 0x22446688); }
/* What a copy of it calls comes by a pointer, so it may lie anywhere. With a pad it would read its slot from a wrong place. */
NOINLINE static int calls(Function call, int number) { return call(number, 1) * 5 + call(number, 2); }
NOINLINE static int summed_up(int a, int b) { return a * 77 + b * 1234567; }
NOINLINE static int compared(int a, int b) { return a * 78 + b * 1234568; }
NOINLINE static int written(int a, int b) { return a * 79 + b * 1234569; }

NOINLINE static unsigned sum_of(const unsigned char* bytes) {
  unsigned sum = 0;
  for (int i = 0; i < 16; ++i) sum = sum * 31 + bytes[i];
  return sum;
}

NOINLINE static void copy(void* to, void* function) { memcpy(to, function, kBytes); }

int main(void) {
  char* const copies = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(copies != MAP_FAILED);
  const int wanted = leaf(4, 5), wanted_other = other(4, 5), wanted_calls = calls(leaf, 6);
  const unsigned sum = sum_of((const unsigned char*)summed_up);
  char kept[16], read_back[16];
  memcpy(kept, (void*)compared, sizeof kept);
  FILE* const file = tmpfile();
  CHECK(file != NULL && write(fileno(file), (void*)written, sizeof kept) == sizeof kept);
  CHECK(pread(fileno(file), read_back, sizeof read_back, 0) == sizeof read_back);
  REPEAT {
    copy(copies, (void*)leaf);
    memcpy(copies + 128, (void*)other, kBytes);
    memcpy(copies + 256, (void*)calls, 2 * kBytes);
    CHECK(((Function)copies)(4, 5) == wanted && leaf(4, 5) == wanted);
    CHECK(((Function)(copies + 128))(4, 5) == wanted_other && other(4, 5) == wanted_other);
    CHECK(((Caller)(copies + 256))(leaf, 6) == wanted_calls && calls(leaf, 6) == wanted_calls);
    CHECK(sum_of((const unsigned char*)summed_up) == sum && summed_up(1, 1) == 1234644);
    CHECK(memcmp((void*)compared, kept, sizeof kept) == 0 && compared(1, 1) == 1234646);
    const unsigned char* const at = (const unsigned char*)written;
    for (int i = 0; i < 16; ++i) CHECK(at[i] == (unsigned char)read_back[i]);
    CHECK(written(1, 1) == 1234648);
  }
  puts("as the compiler made them");
  return 0;
}
