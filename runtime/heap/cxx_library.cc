// A C program may load a C++ library late (an interpreter, extensions in C++), out of sight of names in general if it was
// loaded as RTLD_LOCAL or is a part of the extension. So what isn't found is looked for behind each loaded object, with
// all that it needs.
//
// Looked up when an allocation has failed, and not kept: the library may be unloaded again.
#include "runtime/heap/cxx_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "runtime/libc_names.h"

namespace stab::heap {
namespace {

// The path of the loaded object of that number.
struct ObjectPath {
  int number;
  char path[PATH_MAX];
};

int copy_path(dl_phdr_info* object, size_t, void* wanted) {
  ObjectPath& at = *static_cast<ObjectPath*>(wanted);
  if (at.number-- > 0) return 0;
  const size_t whole = strlen(object->dlpi_name), length = whole < sizeof at.path ? whole : sizeof(at.path) - 1;
  memcpy(at.path, object->dlpi_name, length);
  at.path[length] = 0;
  return 1;
}

}  // namespace

// One object at a time: who walks the list may not call dlopen.
void* find_cxx_function(const char* mangled, const void* ours) {
  void* found = libc::find_symbol(RTLD_DEFAULT, mangled);
  for (int number = 0; found == nullptr || found == ours; ++number) {
    ObjectPath at;
    at.number = number;
    if (libc::iterate_files(copy_path, &at) == 0) return nullptr;
    void* object = libc::open_library(at.path, RTLD_LAZY | RTLD_NOLOAD);
    if (object == nullptr) continue;
    found = libc::find_symbol(object, mangled);
    libc::close_library(object);
  }
  return found;
}

}  // namespace stab::heap
