// How deep each kind of recursion gets before the stack ends: "<kind> <calls>". Frames hold 1 KiB, so that the
// 0 or 16 bytes of a frame pointer, which a padded function needs, stay below 2 %.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "depth.h"

volatile long depth_reached;

namespace {

__attribute__((noinline)) long self(long n) {
  char frame[kFrameBytes];
  use(frame, n);
  const long result = self(n + 1) + 1;
  use(frame, n);
  return result;
}

long odd(long n);
__attribute__((noinline)) long even(long n) {
  char frame[kFrameBytes];
  use(frame, n);
  const long result = odd(n + 1) + 1;
  use(frame, n);
  return result;
}
__attribute__((noinline)) long odd(long n) {
  char frame[kFrameBytes];
  use(frame, n);
  const long result = even(n + 1) + 1;
  use(frame, n);
  return result;
}

long through_pointer(long n);
long (*volatile pointer)(long) = through_pointer;
__attribute__((noinline)) long through_pointer(long n) {
  char frame[kFrameBytes];
  use(frame, n);
  const long result = pointer(n + 1) + 1;
  use(frame, n);
  return result;
}

struct Node {
  virtual long visit(long n) = 0;
  Node* next = nullptr;
};
struct Left : Node {
  __attribute__((noinline)) long visit(long n) override {
    char frame[kFrameBytes];
    use(frame, n);
    const long result = next->visit(n + 1) + 1;
    use(frame, n);
    return result;
  }
};
struct Right : Node {
  __attribute__((noinline)) long visit(long n) override {
    char frame[kFrameBytes];
    use(frame, n);
    const long result = next->visit(n + 1) + 2;
    use(frame, n);
    return result;
  }
};

const char* kind;

void at_the_end(int) {
  char line[80];
  const int length = snprintf(line, sizeof line, "%s %ld\n", kind, depth_reached);
  _exit(write(1, line, static_cast<size_t>(length)) == length ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  static char handler_stack[64 * 1024];
  stack_t alternate = {};
  alternate.ss_sp = handler_stack;
  alternate.ss_size = sizeof handler_stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = at_the_end;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  kind = argc == 2 ? argv[1] : "";
  Left left;
  Right right;
  left.next = &right;
  right.next = &left;
  Node* volatile first = &left;
  if (!strcmp(kind, "self")) return static_cast<int>(self(0));
  if (!strcmp(kind, "mutual")) return static_cast<int>(even(0));
  if (!strcmp(kind, "cross-file")) return static_cast<int>(here(0));
  if (!strcmp(kind, "pointer")) return static_cast<int>(pointer(0));
  if (!strcmp(kind, "virtual")) return static_cast<int>(first->visit(0));
  return 2;
}

__attribute__((noinline)) long here(long n) {
  char frame[kFrameBytes];
  use(frame, n);
  const long result = there(n + 1) + 1;
  use(frame, n);
  return result;
}
