// What code of szc's calls with the addresses of code that it has asked for itself (instrumenter/pass/own_addresses.cc). Safe in
// signal handlers, and before the runtime is set up: there are no images then.
#include <stdint.h>

#include "runtime/code/moved_library.h"
#include "runtime/settings.h"

extern "C" {

__attribute__((visibility("default"))) void* stab_rt_original_address(void* address) {
  return reinterpret_cast<void*>(stab::code::original_of(reinterpret_cast<uint64_t>(address)));
}

// Where pointers lead to copies, a copy's beginning is what they are compared with.
__attribute__((visibility("default"))) void* stab_rt_original_function(void* address) {
  return stab::settings().code == stab::abi::CodeMode::kDirect ? address : stab_rt_original_address(address);
}

__attribute__((visibility("default"))) void stab_rt_original_addresses(void** addresses, int count) {
  for (int i = 0; i < count; ++i) addresses[i] = stab_rt_original_address(addresses[i]);
}

}  // extern "C"
