// A failing operator new calls the new-handler and throws, also where nothing else of the program needs the C++ library's
// function that does it.
#include <new>
#include "repeat.h"
static int handled;
static void give_up_at_third() {
  if (++handled == 3) std::set_new_handler(nullptr);
}
int main() {
  volatile size_t huge = size_t{1} << 62;
  REPEAT {
    handled = 0;
    std::set_new_handler(give_up_at_third);
    bool thrown = false;
    try { ::operator delete(::operator new(huge)); } catch (const std::bad_alloc&) { thrown = true; }
    CHECK(thrown && handled == 3);
    thrown = false;
    try {
      ::operator delete[](::operator new[](huge, std::align_val_t{128}), std::align_val_t{128});
    } catch (...) {
      thrown = true;
    }
    CHECK(thrown);
    CHECK(::operator new(huge, std::nothrow) == nullptr);
  }
  puts("bad_alloc ok");
}
