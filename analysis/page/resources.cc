// .incbin: the files stand in the binary as they are in the tree, the scripts one after the other in the order in which
// they need each other. CMake rebuilds this file when one of them changes.
#include "analysis/page/resources.h"

// Each file between two symbols; `.include`-like concatenation of the scripts comes from writing them in sequence.
#define STAB_FILE(name) ".incbin \"" STAB_PAGE_FOLDER "/" name "\"\n"

__asm__(
    ".section .rodata\n"
    "stab_page_frame_begin:\n" STAB_FILE("page.html") "stab_page_frame_end:\n"
    "stab_page_style_begin:\n" STAB_FILE("page.css") "stab_page_style_end:\n"
    "stab_page_script_begin:\n"
    STAB_PAGE_SCRIPTS
    "stab_page_script_end:\n"
    ".previous\n");

extern "C" {
extern const char stab_page_frame_begin[], stab_page_frame_end[];
extern const char stab_page_style_begin[], stab_page_style_end[];
extern const char stab_page_script_begin[], stab_page_script_end[];
}

namespace stab::analysis {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<size_t>(end - begin)}; }

}  // namespace

std::string_view page_frame() { return between(stab_page_frame_begin, stab_page_frame_end); }
std::string_view page_style() { return between(stab_page_style_begin, stab_page_style_end); }
std::string_view page_script() { return between(stab_page_script_begin, stab_page_script_end); }

}  // namespace stab::analysis
