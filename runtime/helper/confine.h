// What a launched helper gives up before it reads a byte of its program's: the rights of whoever started it, and every
// system call that it doesn't need. A helper that the program itself has cloned has the program's rights and keeps them.
#pragma once

#include <sys/types.h>

namespace stab::helper {

// Whose program it serves. The program's rights are the helper's: it reads the program's stacks as any process of that
// user may, and has nothing to lend.
struct Served {
  uid_t uid = 0;
  gid_t gid = 0;
};

// nullptr, or what failed, for people. Where `served` is null the helper stays who it is; the caller sees to it that this
// is not root. `parent`: the process that has started it, with which it dies, also where it is stopped; -1: none. pre: one
// thread.
const char* confine(const Served* served, long parent);

}  // namespace stab::helper
