// In a dynamic program: whether a library between it and libc brings a malloc, and an operator new.
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/code/dynamic_symbols.h"
#include "runtime/heap/libc_heap.h"
#include "runtime/libc_names.h"

extern "C" {
// The function that the link says, of a C++ library that is linked statically (instrumenter/driver/steps.cc). Null: none is.
[[gnu::weak, gnu::visibility("hidden")]] void stab_operators_take();
}

namespace stab::heap {
namespace {

// The loaded file that holds `address`; null: none. dladdr would look for a symbol, too: 10 us of each start.
void* file_of(void* address) {
  dl_find_object found;
  return address != nullptr && _dl_find_object(address, &found) == 0 ? found.dlfo_link_map : nullptr;
}

// Ours, in an executable of ours that it is preloaded into all the same: its malloc hands on to the program's. By its name, as a
// search for a symbol that isn't there would allocate.
bool is_preloaded_runtime(const void* file) {
  const char* const path = static_cast<const link_map*>(file)->l_name;
  const char* const name = strrchr(path, '/') == nullptr ? path : strrchr(path, '/') + 1;
  return strcmp(name, "libstabheap.so") == 0 || strcmp(name, "libstabhost.so") == 0;
}

bool holds(const dl_phdr_info& file, uint64_t address) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const Elf64_Phdr& part = file.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - (file.dlpi_addr + part.p_vaddr) < part.p_memsz) return true;
  }
  return false;
}

struct Wanted {
  const char* name;
  uint64_t own;  // an address of the file that doesn't count
  bool found = false;
};

int look_for(dl_phdr_info* file, size_t, void* context) {
  Wanted& wanted = *static_cast<Wanted*>(context);
  if (holds(*file, wanted.own)) return 0;
  wanted.found = code::DynamicSymbols(*file).defines(wanted.name);
  return wanted.found;
}

// dlsym that leaves nothing for dlerror where no other file defines the name: libc allocates what that says, and frees it in the
// next dlsym. A program would see it, and a preloaded malloc that asks for libc's free when it is first called would never end.
void* next_of(const char* name) {
  Wanted wanted{name, reinterpret_cast<uint64_t>(&behind)};
  libc::iterate_files(look_for, &wanted);
  return wanted.found ? libc::find_symbol(RTLD_NEXT, name) : nullptr;
}

// What the file that holds an address takes from others.
struct Taken {
  uint64_t address;
  bool posix_memalign = false, aligned_alloc = false;
};

int look_into(dl_phdr_info* file, size_t, void* context) {
  Taken& taken = *static_cast<Taken*>(context);
  if (!holds(*file, taken.address)) return 0;
  const code::DynamicSymbols symbols(*file);
  taken.posix_memalign = symbols.takes("posix_memalign");
  taken.aligned_alloc = symbols.takes("aligned_alloc");
  return 1;
}

// Sets `function` where a library has one of that name. No search fails, as libc has all of them.
template <typename Function>
bool is_brought(Function& function, const char* name, const void* libc) {
  void* const next = libc::find_symbol(RTLD_NEXT, name);
  void* const file = file_of(next);
  if (file == nullptr || file == libc || is_preloaded_runtime(file)) return false;
  function = reinterpret_cast<Function>(next);
  return true;
}

}  // namespace

// Not told by __libc_malloc: jemalloc has that, too. One that only traces free, or zeroes what is freed, hands on to libc what it
// gets.
bool library_has_malloc() {
  void* const libc = file_of(libc::find_symbol(RTLD_NEXT, "gnu_get_libc_version"));
  if (libc == nullptr) return false;
  bool any = is_brought(behind.malloc, "malloc", libc);
  any |= is_brought(behind.calloc, "calloc", libc);
  any |= is_brought(behind.realloc, "realloc", libc);
  any |= is_brought(behind.memalign, "memalign", libc);
  any |= is_brought(behind.free, "free", libc);
  return any && is_in_executable();
}

bool is_in_executable() { return file_of(&behind) == file_of(reinterpret_cast<void*>(__getauxval(AT_ENTRY))); }

void* library_operator(const char* mangled) {
  void* const next = next_of(mangled);
  return next != nullptr && file_of(next) != file_of(next_of("_ZSt15get_new_handlerv")) ? next : nullptr;
}

// By what that library takes, as its operator is the only one of its functions that allocates so. Of an archive szc has looked.
bool operators_call_posix_memalign() {
  void (*told)() = stab_operators_take;
  __asm__("" : "+r"(told));
  if (told != nullptr) return reinterpret_cast<void*>(told) == reinterpret_cast<void*>(posix_memalign);
  Taken taken{reinterpret_cast<uint64_t>(next_of("_ZnwmSt11align_val_t"))};
  if (taken.address != 0) libc::iterate_files(look_into, &taken);
  return taken.posix_memalign && !taken.aligned_alloc;
}

}  // namespace stab::heap
