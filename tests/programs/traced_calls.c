/* Addresses of a backtrace lie in functions of the file, whatever copies they run in, and one call has one of them. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <string.h>
#include "repeat.h"
#define MOST 64
extern char __executable_start[], etext[];
static void* calls[MOST];
static int count;
NOINLINE static void note(void* address) {
  for (int i = 0; i < count; i++)
    if (calls[i] == address) return;
  CHECK(count < MOST);
  calls[count++] = address;
}
NOINLINE static int find_frames(void** frames, int size) {
  const int found = backtrace(frames, size);
  __asm__ volatile("" : : : "memory");
  return found;
}
NOINLINE void called(void) {
  void* frames[3];
  const int found = find_frames(frames, 3);
  CHECK(found == 3);
  note(frames[2]);
  __asm__ volatile("");
}
NOINLINE static void first(void) {
  called();
  __asm__ volatile("");
}
NOINLINE static void second(void) {
  called();
  called();
  __asm__ volatile("");
}
NOINLINE static int in_file(const void* address) {
  return (const char*)address > __executable_start && (const char*)address < etext;
}
int main(void) {
  void* frames[8];
  int depth = 0;
  REPEAT {
    first();
    second();
    first();
    const int found = find_frames(frames, 8);
    if (depth == 0) depth = found;
    CHECK(found == depth && in_file(frames[0]) && in_file(frames[1]));
  }
  for (int i = 0; i < count; i++) CHECK(in_file(calls[i]));
  printf("%d calls\n", count);
}
