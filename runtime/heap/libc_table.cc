// The table stays writable, so that threads need no lock: each of them stores the same values.
#include "runtime/heap/libc_table.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include "runtime/arch/arch.h"
#include "runtime/code/dynamic_symbols.h"
#include "runtime/libc_names.h"
#include "runtime/sys.h"

namespace stab::heap {
namespace {

constexpr const char* kFamily[] = {"malloc",        "free",     "calloc",        "realloc", "reallocarray",      "posix_memalign",
                                   "aligned_alloc", "memalign", "valloc",        "pvalloc", "malloc_usable_size"};

const link_map* find_libc() {
  const link_map* file = _r_debug.r_map;
  while (file != nullptr && !code::DynamicSymbols(file->l_ld, file->l_addr).has_soname("libc.so.6")) file = file->l_next;
  return file;
}

bool make_writable(const Elf64_Sym& symbol) {
  const uint64_t first = reinterpret_cast<uint64_t>(&symbol) & ~(arch::kPage - 1);
  const uint64_t end = (reinterpret_cast<uint64_t>(&symbol + 1) + arch::kPage - 1) & ~(arch::kPage - 1);
  return sys::call(SYS_mprotect, static_cast<long>(first), static_cast<long>(end - first), PROT_READ | PROT_WRITE) == 0;
}

}  // namespace

bool lead_libc_to_ours() {
  const link_map* const libc = find_libc();
  if (libc == nullptr) return false;
  const code::DynamicSymbols symbols(libc->l_ld, libc->l_addr);
  for (const char* name : kFamily) {
    const Elf64_Sym* const symbol = symbols.definition_of(name);
    const auto found = reinterpret_cast<uint64_t>(libc::find_symbol(RTLD_DEFAULT, name));
    if (symbol == nullptr || found == 0 || symbol->st_value == found - libc->l_addr) continue;
    if (!make_writable(*symbol)) return false;
    __atomic_store_n(const_cast<uint64_t*>(&symbol->st_value), found - libc->l_addr, __ATOMIC_RELAXED);
  }
  return true;
}

}  // namespace stab::heap
