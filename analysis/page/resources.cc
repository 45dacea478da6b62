// The scripts stand one after the other in the order in which they need each other: page_scripts.h, which CMake writes.
#include "analysis/page/resources.h"

#include "base/embedded.h"

#define STAB_FILE(name) ".incbin \"" STAB_PAGE_FOLDER "/" name "\"\n"

STAB_EMBED(stab_page_frame, STAB_FILE("page.html"));
STAB_EMBED(stab_page_style, STAB_FILE("page.css"));
STAB_EMBED(stab_page_script, STAB_PAGE_SCRIPTS);

namespace stab::page {

std::string_view page_frame() { return STAB_EMBEDDED(stab_page_frame); }
std::string_view page_style() { return STAB_EMBEDDED(stab_page_style); }
std::string_view page_script() { return STAB_EMBEDDED(stab_page_script); }

}  // namespace stab::page
