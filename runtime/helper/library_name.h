// What a shared library is called where its functions are named, `libwork.so.1!inflate`: as its file calls itself, by DT_SONAME,
// or else by the last part of its path. Another version of a library, libz.so.1.3, has the same soname, libz.so.1.
#pragma once

#include <stddef.h>

namespace stab::helper {

// The last part of a path, as /proc/PID/maps has it.
void name_by_path(const char* path, char* name, size_t room);
// What the file says of itself, held against the file's size; where that is no name, `name` stays.
void read_soname(int file, char* name, size_t room);

}  // namespace stab::helper
