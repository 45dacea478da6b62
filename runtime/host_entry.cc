// libstabhost.so: the whole runtime as a library, preloaded into a program that szc has not linked. The program's own code stays;
// shared libraries that szc made move in it as in a program of szc's, and their pads and its heap are drawn.
//
// Linked to be initialized before all others, so that it has met the helper when the first library's constructor asks. In an
// executable of ours that it is preloaded into all the same, the executable's runtime serves.
#include <dlfcn.h>
#include <link.h>

#include "runtime/api/modules.h"
#include "runtime/code/dynamic_symbols.h"
#include "runtime/code/library_unwinders.h"
#include "runtime/helper/handshake_messages.h"
#include "runtime/libc_names.h"
#include "runtime/start.h"

namespace {

const char in_this_file = 0;

// Whether libraries' constructors find this file's runtime, not an executable's.
bool serves() {
  Dl_info found, ours;
  using stab::libc::find_file;
  return find_file(stab::libc::find_symbol(RTLD_DEFAULT, "stab_rt_code_load"), &found) && find_file(&in_this_file, &ours) &&
         found.dli_fbase == ours.dli_fbase;
}

// The first file is the executable. Of libraries it isn't asked: libcrypto, for one, takes these names and rarely switches.
int look_at_executable(dl_phdr_info* file, size_t, void* switches_stacks) {
  const stab::code::DynamicSymbols symbols(*file);
  constexpr const char* kSwitch[] = {"swapcontext", "makecontext", "jump_fcontext"};
  bool& switches = *static_cast<bool*>(switches_stacks);
  switches = stab::code::defines_switch(symbols);
  for (const char* name : kSwitch) switches = switches || symbols.takes(name);
  return 1;
}

uint32_t kind_of_host() {
  bool switches_stacks = false;
  stab::libc::iterate_files(look_at_executable, &switches_stacks);
  return switches_stacks ? stab::helper::kHostOfStacks : stab::helper::kHost;
}

__attribute__((constructor)) void begin() {
  const stab::OwnHelper own{stab::helper::own_program(), stab::helper::become, kind_of_host()};
  if (!serves()) return;
  stab::start(&own);
  stab::api::load_early();
}
__attribute__((destructor)) void end() {
  if (serves()) stab::finish();
}

}  // namespace
