// libc is found by the name that its file has of itself. What it lacks of the family nobody finds there.
#include "runtime/heap/libc_table.h"

#include <dlfcn.h>
#include <link.h>

#include "runtime/code/dynamic_symbols.h"
#include "runtime/libc_names.h"

namespace stab::heap {
namespace {

constexpr const char* kFamily[] = {"malloc",        "free",     "calloc",        "realloc", "reallocarray",      "posix_memalign",
                                   "aligned_alloc", "memalign", "valloc",        "pvalloc", "malloc_usable_size"};

const link_map* find_libc() {
  const link_map* file = _r_debug.r_map;
  while (file != nullptr && !code::DynamicSymbols(file->l_ld, file->l_addr).has_soname("libc.so.6")) file = file->l_next;
  return file;
}

}  // namespace

bool lead_libc_to_ours() {
  const link_map* const libc = find_libc();
  if (libc == nullptr) return false;
  const code::DynamicSymbols symbols(libc->l_ld, libc->l_addr);
  for (const char* name : kFamily) {
    const auto found = reinterpret_cast<uint64_t>(libc::find_symbol(RTLD_DEFAULT, name));
    if (found == 0 || !symbols.defines(name)) continue;
    if (!symbols.lead(name, found)) return false;
  }
  return true;
}

}  // namespace stab::heap
