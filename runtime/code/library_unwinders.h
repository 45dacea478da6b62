// Unwinders that shared libraries bring. libgcc's asks ours (unwind.h), wherever it is, but in a scope that doesn't find our
// names; others look code up in the files that are loaded, and end at a copy.
#pragma once

namespace stab::code {

class DynamicSymbols;

// Whether a file, also an executable, switches stacks by assembly of its own, as a name says that it defines: Boost.Context's,
// which PHP has, too, greenlet's, Coro's, Ruby's, that of Go where C is called, and that of LLVM's D. Go runs what C calls back
// on a stack of its own, while C's frames rest on the thread's.
bool defines_switch(const DynamicSymbols& symbols);

// Whether a loaded library brings one that can't be told of copies. What the executable holds itself is not looked at.
bool libraries_bring_unwinder();

// Around a load by dlopen with this mode, in a program whose code moves, or would if the library came with code that does.
// before_load: RTLD_DEEPBIND would let libgcc_s, if it came with the library, find itself before ours, so it comes first. An
// unwinder in the library would find libc's _dl_find_object, so libc's table is led to ours. after_load: if an unwinder has come
// that can't be told of copies, the code goes home (Orders::home_wanted), and the dose says so. Both searches also tell the
// helper of libraries that switch stacks (Orders::stacks_switch).
using Load = void*(const char* file, int mode);
void before_load(Load* load, int mode);
void after_load(int mode);
// The same behind a load into another namespace, where nobody finds our names.
void after_load_apart(void* handle);

}  // namespace stab::code
