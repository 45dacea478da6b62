// Stacks that a program walks by the unwinder's functions itself: each frame has one address, whatever copy it runs in, and an
// exception that passes the same frames finds its handler.
// other-compilers: once
#include <unwind.h>
#include "repeat.h"
struct Walk {
  _Unwind_Ptr addresses[8];
  void* functions[8];
  int count;
};
static _Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  if (walk.count == 8) return _URC_END_OF_STACK;
  int before = 0;
  const _Unwind_Ptr address = _Unwind_GetIPInfo(context, &before);
  CHECK(before == 0 && _Unwind_GetIP(context) == address);
  walk.addresses[walk.count] = address;
  walk.functions[walk.count++] = reinterpret_cast<void*>(_Unwind_GetRegionStart(context));
  return _URC_NO_REASON;
}
NOINLINE void bottom(Walk& walk, bool fails) {
  walk.count = 0;
  _Unwind_Backtrace(step, &walk);
  if (fails) throw walk.count;
}
NOINLINE void middle(Walk& walk, bool fails) {
  bottom(walk, fails);
  __asm__ volatile("" : : : "memory");
}
static void (*volatile begin)(Walk&, bool) = middle;
int main() {
  Walk first{}, walk{};
  begin(first, false);
  CHECK(first.count > 2);
  REPEAT {
    begin(walk, false);
    for (int i = 0; i < 2; ++i) CHECK(walk.addresses[i] == first.addresses[i] && walk.functions[i] == first.functions[i]);
    bool caught = false;
    try {
      begin(walk, true);
    } catch (int depth) {
      caught = depth == walk.count;
    }
    CHECK(caught);
  }
  puts("stack walks ok");
}
