// In a dynamic program: libc's definitions are found in the tables of its files, once, at the first question, which comes before
// the program has a second thread. They are in libc.so.6 from glibc 2.34 on, and in three files before.
#include "runtime/libc_names.h"

#include <dlfcn.h>
#include <link.h>

#include "runtime/code/dynamic_symbols.h"

namespace stab::libc {
namespace {

struct Functions {
  decltype(&dl_iterate_phdr) iterate;
  decltype(&pthread_setspecific) set_specific;
  decltype(&dlsym) find_symbol;
  decltype(&dlopen) open;
  decltype(&dlclose) close;
  decltype(&dlerror) error;

  bool complete() const { return iterate != nullptr && set_specific != nullptr && find_symbol != nullptr; }
};

bool is_of_libc(const code::DynamicSymbols& symbols) {
  constexpr const char* kFiles[] = {"libc.so.6", "libdl.so.2", "libpthread.so.0"};
  for (const char* file : kFiles)
    if (symbols.has_soname(file)) return true;
  return false;
}

template <typename Function>
void find(Function*& function, const code::DynamicSymbols& symbols, uint64_t bias, const char* name) {
  const uint64_t value = function == nullptr ? symbols.value_of(name) : 0;
  if (value != 0) function = reinterpret_cast<Function*>(bias + value);
}

Functions find_all() {
  Functions found{};
  for (const link_map* file = _r_debug.r_map; file != nullptr && !found.complete(); file = file->l_next) {
    const code::DynamicSymbols symbols(file->l_ld, file->l_addr);
    if (!is_of_libc(symbols)) continue;
    find(found.iterate, symbols, file->l_addr, "dl_iterate_phdr");
    find(found.set_specific, symbols, file->l_addr, "pthread_setspecific");
    find(found.open, symbols, file->l_addr, "dlopen");
    find(found.close, symbols, file->l_addr, "dlclose");
    find(found.error, symbols, file->l_addr, "dlerror");
    find(found.find_symbol, symbols, file->l_addr, "dlsym");
  }
  return found;
}

const Functions& functions() {
  static Functions found;
  static bool known = false;
  if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
    found = find_all();
    __atomic_store_n(&known, true, __ATOMIC_RELEASE);
  }
  return found;
}

}  // namespace

int iterate_files(int (*look)(dl_phdr_info*, size_t, void*), void* context) {
  return functions().iterate(look, context);
}

int set_specific(pthread_key_t key, const void* value) {
  return functions().set_specific(key, value);
}

void* find_symbol(void* handle, const char* name) {
  return functions().find_symbol(handle, name);
}

void* open_library(const char* file, int mode) {
  return functions().open(file, mode);
}

void close_library(void* library) {
  functions().close(library);
}

void clear_error() {
  functions().error();
}

}  // namespace stab::libc
