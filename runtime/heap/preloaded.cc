// libstabheap.so in a program that no compiler of ours has linked: nothing but the heap is ours there. Launched by the lab it
// meets the helper, so that epochs come as in other programs and the dose is reported; started by hand it goes on alone.
//
// A constructor, as a library has no .preinit_array. Constructors of other libraries may have allocated by then, and are counted.
// In an executable of ours that is preloaded all the same, the executable has met the helper before, and its malloc serves.
#include "runtime/code/library_unwinders.h"
#include "runtime/code/unwind.h"
#include "runtime/start.h"

namespace stab::code {

// Nothing moves here that an unwinder would have to be told of.
helper::Unwinder find_unwinder() { return helper::Unwinder::kFollows; }
void before_load(Load*, int) {}
void after_load(int) {}
void after_load_apart(void*) {}

}  // namespace stab::code

namespace {
__attribute__((constructor)) void begin() { stab::start(nullptr); }
__attribute__((destructor)) void end() { stab::finish(); }
}  // namespace
