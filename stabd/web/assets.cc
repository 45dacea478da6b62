// .incbin, as for the report's page (analysis/page/resources.cc): scripts and styles one after the other in the order of
// stabd/CMakeLists.txt, which builds this file again when one of them changes.
#include "stabd/web/assets.h"

#define STAB_FILE(name) ".incbin \"" STAB_SOURCE_FOLDER "/" name "\"\n"
#define STAB_PACKED(name) ".incbin \"" STAB_PACKED_FOLDER "/" name ".gz\"\n"

__asm__(
    ".section .rodata\n"
    "stab_lab_frame_begin:\n" STAB_FILE("stabd/web/page/lab.html") "stab_lab_frame_end:\n"
    "stab_lab_style_begin:\n" STAB_FILE("analysis/page/page.css") STAB_FILE("stabd/web/page/lab.css") "stab_lab_style_end:\n"
    "stab_lab_script_begin:\n"
    STAB_LAB_SCRIPTS
    "stab_lab_script_end:\n"
    "stab_lab_packed_frame_begin:\n" STAB_PACKED("lab.html") "stab_lab_packed_frame_end:\n"
    "stab_lab_packed_style_begin:\n" STAB_PACKED("lab.css") "stab_lab_packed_style_end:\n"
    "stab_lab_packed_script_begin:\n" STAB_PACKED("lab.js") "stab_lab_packed_script_end:\n"
    ".previous\n");

extern "C" {
extern const char stab_lab_frame_begin[], stab_lab_frame_end[];
extern const char stab_lab_style_begin[], stab_lab_style_end[];
extern const char stab_lab_script_begin[], stab_lab_script_end[];
extern const char stab_lab_packed_frame_begin[], stab_lab_packed_frame_end[];
extern const char stab_lab_packed_style_begin[], stab_lab_packed_style_end[];
extern const char stab_lab_packed_script_begin[], stab_lab_packed_script_end[];
}

namespace stab::engine {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<size_t>(end - begin)}; }

}  // namespace

Asset asset_at(std::string_view path) {
  if (path == "/")
    return {"text/html", between(stab_lab_frame_begin, stab_lab_frame_end),
            between(stab_lab_packed_frame_begin, stab_lab_packed_frame_end)};
  if (path == "/lab.css")
    return {"text/css", between(stab_lab_style_begin, stab_lab_style_end),
            between(stab_lab_packed_style_begin, stab_lab_packed_style_end)};
  if (path == "/lab.js")
    return {"text/javascript", between(stab_lab_script_begin, stab_lab_script_end),
            between(stab_lab_packed_script_begin, stab_lab_packed_script_end)};
  return {};
}

}  // namespace stab::engine
