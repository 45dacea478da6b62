// See home.h. The helper does it: the program can't write to its text.
#include "runtime/code/home.h"

#include "runtime/api/ask_helper.h"

namespace stab::code {

bool is_at_home() { return __atomic_load_n(&control().orders.home_wanted, __ATOMIC_RELAXED) != 0; }

void go_home(Degradation why) {
  // What the program does with its code is wrong until it is home, so a helper that others starve is waited for.
  constexpr uint64_t kPatienceNs = 60'000'000'000;
  const auto is_done = [](uint32_t given) { return given != 0; };
  const uint32_t& given = control().orders.home_given;
  degrade(control(), why);
  if (is_done(__atomic_load_n(&given, __ATOMIC_SEQ_CST))) return;
  __atomic_store_n(&control().orders.home_wanted, 1u, __ATOMIC_SEQ_CST);
  if (api::send_orders()) api::wait_for(given, is_done, kPatienceNs);
}

}  // namespace stab::code
