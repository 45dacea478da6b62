// .preinit_array runs before every constructor, when the main thread is alone: nobody else can be in the text while its pages
// are replaced by shared ones with the same bytes.
#include "runtime/api/modules.h"
#include "runtime/start.h"

namespace {
void begin() {
  const stab::OwnHelper own{stab::helper::own_program(), stab::helper::become};
  stab::start(&own);
  stab::api::load_early();
}
}  // namespace

// Linkers sort .fini_array.N, and the array runs backwards: the lowest number runs last.
extern "C" {
__attribute__((section(".preinit_array"), used)) void (*const stab_start)() = begin;
__attribute__((section(".fini_array.00000"), used)) void (*const stab_finish)() = stab::finish;
}
