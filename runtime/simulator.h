// Valgrind, as a program can ask for it: client requests, sequences of instructions that change nothing on a processor and that
// valgrind answers. They are a fixed interface of valgrind's, written out in runtime/arch so that no program needs its header to
// be built.
#pragma once

#include <stdint.h>

#include "runtime/arch/arch.h"

namespace stab {

inline uint64_t ask_valgrind(uint64_t request, uint64_t first = 0, uint64_t second = 0) {
  const uint64_t words[6] = {request, first, second, 0, 0, 0};
  return arch::ask_simulator(words, 0);  // 0: what a processor leaves
}

// Whether this process is simulated instead of executed.
inline bool is_simulated() {
  constexpr uint64_t kRunningOnValgrind = 0x1001;
  return ask_valgrind(kRunningOnValgrind) != 0;
}

// Code there has been changed by another process.
inline void discard_translations(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kDiscardTranslations = 0x1002;
  if (bytes > 0) ask_valgrind(kDiscardTranslations, address, bytes);
}

}  // namespace stab
