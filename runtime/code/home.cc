// See home.h. The helper does it: the program can't write to its text.
#include "runtime/code/home.h"

#include "runtime/api/ask_helper.h"

namespace stab::code {

bool is_at_home() { return __atomic_load_n(&control().orders.home_wanted, __ATOMIC_RELAXED) != 0; }

void go_home(Degradation why) {
  degrade(control(), why);
  __atomic_store_n(&control().orders.home_wanted, 1u, __ATOMIC_SEQ_CST);
  if (api::send_orders()) api::wait_for(control().orders.home_given, [](uint32_t given) { return given != 0; });
}

}  // namespace stab::code
