// In a dynamic program: libc's definitions are found in the tables of its files, once, at the first question, which comes before
// the program has a second thread. They are in libc.so.6 from glibc 2.34 on, and in three files before.
#include "runtime/libc_names.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>

#include "runtime/code/dynamic_symbols.h"

namespace stab::libc {
namespace {

struct Functions {
  decltype(&dl_iterate_phdr) iterate;
  decltype(&pthread_setspecific) set_specific;
  decltype(&gnu_get_libc_version) version;
  decltype(&clock_gettime) read_clock;
  decltype(&pthread_getattr_default_np) default_attributes;
  decltype(&pthread_attr_destroy) destroy_attributes;
  decltype(&pthread_attr_getstack) stack_of;
  decltype(&pthread_attr_setstack) set_stack;
  decltype(&pthread_attr_getstacksize) stack_size_of;
  decltype(&pthread_attr_setstacksize) set_stack_size;
  decltype(&dlsym) find_symbol;
  decltype(&dlopen) open;
  decltype(&dlclose) close;
  decltype(&dlerror) error;
  decltype(&dladdr) find_file;
  decltype(&dladdr1) find_entry;

  // The files that have one of these have all of their kind.
  bool complete() const {
    return iterate != nullptr && set_specific != nullptr && set_stack_size != nullptr && find_symbol != nullptr;
  }
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
    find(found.version, symbols, file->l_addr, "gnu_get_libc_version");
    find(found.read_clock, symbols, file->l_addr, "clock_gettime");
    find(found.default_attributes, symbols, file->l_addr, "pthread_getattr_default_np");
    find(found.destroy_attributes, symbols, file->l_addr, "pthread_attr_destroy");
    find(found.stack_of, symbols, file->l_addr, "pthread_attr_getstack");
    find(found.set_stack, symbols, file->l_addr, "pthread_attr_setstack");
    find(found.stack_size_of, symbols, file->l_addr, "pthread_attr_getstacksize");
    find(found.set_stack_size, symbols, file->l_addr, "pthread_attr_setstacksize");
    find(found.open, symbols, file->l_addr, "dlopen");
    find(found.close, symbols, file->l_addr, "dlclose");
    find(found.error, symbols, file->l_addr, "dlerror");
    find(found.find_file, symbols, file->l_addr, "dladdr");
    find(found.find_entry, symbols, file->l_addr, "dladdr1");
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

const char* version() {
  return functions().version();
}

int read_clock(clockid_t clock, timespec* time) {
  return functions().read_clock(clock, time);
}

int default_attributes(pthread_attr_t* attributes) {
  return functions().default_attributes(attributes);
}

int destroy_attributes(pthread_attr_t* attributes) {
  return functions().destroy_attributes(attributes);
}

int stack_of(const pthread_attr_t* attributes, void** lowest, size_t* bytes) {
  return functions().stack_of(attributes, lowest, bytes);
}

int set_stack(pthread_attr_t* attributes, void* lowest, size_t bytes) {
  return functions().set_stack(attributes, lowest, bytes);
}

int stack_size_of(const pthread_attr_t* attributes, size_t* bytes) {
  return functions().stack_size_of(attributes, bytes);
}

int set_stack_size(pthread_attr_t* attributes, size_t bytes) {
  return functions().set_stack_size(attributes, bytes);
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

bool find_file(const void* address, Dl_info* info) {
  return functions().find_file(address, info) != 0;
}

bool find_entry(const void* address, Dl_info* info, void** entry, int flags) {
  return functions().find_entry(address, info, entry, flags) != 0;
}

}  // namespace stab::libc
