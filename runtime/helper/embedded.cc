// The bytes of the helper's own program, in pages that nobody reads but a helper that becomes it.
#include "runtime/helper/own_program.h"

__asm__(
    ".pushsection stab_helper, \"a\", @progbits\n"
    ".balign 64\n"
    ".hidden stab_helper_begin\n"
    ".globl stab_helper_begin\n"
    "stab_helper_begin:\n"
    ".incbin \"" STAB_HELPER_PROGRAM "\"\n"
    ".hidden stab_helper_end\n"
    ".globl stab_helper_end\n"
    "stab_helper_end:\n"
    ".popsection\n");

extern "C" {
extern const uint8_t stab_helper_begin[] __attribute__((visibility("hidden")));
extern const uint8_t stab_helper_end[] __attribute__((visibility("hidden")));
}

stab::helper::OwnProgram stab::helper::own_program() { return {stab_helper_begin, stab_helper_end}; }
