// What a program's file tells of its layout: what szc has left in it, and where its code lies.
#pragma once

#include <string>

namespace stab::engine {

struct SzcProgram {
  bool code = false;   // post-link has told what of its code may move; szc links the heap into such a program, too
  bool stack = false;  // its functions take pads
  bool rewritten = false;  // llvm-bolt has made other code of it since it was linked, whoever compiled it; then `code` is false
  bool is_szc() const { return code || stack; }
};

// All false: it is no ELF program of 64 bits, it can't be read, or another compiler made it. Reads section names alone.
SzcProgram szc_program(const std::string& path);

// What is the same for two programs whose code is the same at the same addresses, whatever else they hold: notes for a debugger
// name the folder of the build. Empty: it is no ELF program of 64 bits, it can't be read, or it has gigabytes of code.
std::string code_fingerprint(const std::string& path);

}  // namespace stab::engine
