// The C++ library of a program that had none when it was linked: cxx_library.cc, and cxx_library_static.cc for static
// programs, to which none can come later.
#pragma once

namespace stab::heap {

// The function of that mangled name, but not `ours`, in whatever has been loaded by now; null: nowhere.
void* find_cxx_function(const char* mangled, const void* ours);

}  // namespace stab::heap
