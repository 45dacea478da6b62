// libc's table of symbols, made to tell our heap's functions for malloc and its family.
//
// A library that is loaded with RTLD_DEEPBIND looks for malloc and free in libc before it looks in the program, where ours stand.
// libc's own strdup and getline allocate for it from ours, and libc's free() would end the program. So the table is changed.
#pragma once

namespace stab::heap {

// From now on whoever looks a function of malloc's family up in libc finds what the program finds. False: the table can't be
// written. Safe in several threads. pre: the heap is ours
bool lead_libc_to_ours();

}  // namespace stab::heap
