// Embedded files: the assembler's .incbin puts bytes of the source tree into the binary as they are. Whoever embeds has CMake
// build its file again when one of them changes (OBJECT_DEPENDS).
#pragma once

#include <string_view>

// At namespace scope, outside of any namespace: `incbins`, one .incbin line a file, stand between two symbols of this name. They
// are hidden: arm64's code would else take both addresses from the GOT, where GNU ld has one entry for a section's local symbols.
#define STAB_EMBED(name, incbins)                                                                        \
  __asm__(".section .rodata\n" #name "_begin:\n" incbins #name "_end:\n.previous\n");                    \
  extern "C" [[gnu::visibility("hidden")]] const char name##_begin[], name##_end[]

// The bytes of all its files, one file after the other.
#define STAB_EMBEDDED(name) std::string_view(name##_begin, static_cast<size_t>(name##_end - name##_begin))
