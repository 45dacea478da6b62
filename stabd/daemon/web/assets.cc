// Scripts and styles one after the other in the order of stabd/daemon/CMakeLists.txt, as they are and as gzip made them.
#include "stabd/daemon/web/assets.h"

#include "base/embedded.h"

#define STAB_FILE(name) ".incbin \"" STAB_SOURCE_FOLDER "/" name "\"\n"
#define STAB_PACKED(name) ".incbin \"" STAB_PACKED_FOLDER "/" name ".gz\"\n"

STAB_EMBED(stab_lab_frame, STAB_FILE("stabd/daemon/web/page/lab.html"));
STAB_EMBED(stab_lab_style, STAB_FILE("analysis/page/page.css") STAB_FILE("stabd/daemon/web/page/lab.css"));
STAB_EMBED(stab_lab_script, STAB_LAB_SCRIPTS);
STAB_EMBED(stab_lab_packed_frame, STAB_PACKED("lab.html"));
STAB_EMBED(stab_lab_packed_style, STAB_PACKED("lab.css"));
STAB_EMBED(stab_lab_packed_script, STAB_PACKED("lab.js"));

namespace stab::daemon {

Asset asset_at(std::string_view path) {
  if (path == "/") return {"text/html", STAB_EMBEDDED(stab_lab_frame), STAB_EMBEDDED(stab_lab_packed_frame)};
  if (path == "/lab.css") return {"text/css", STAB_EMBEDDED(stab_lab_style), STAB_EMBEDDED(stab_lab_packed_style)};
  if (path == "/lab.js") return {"text/javascript", STAB_EMBEDDED(stab_lab_script), STAB_EMBEDDED(stab_lab_packed_script)};
  return {};
}

}  // namespace stab::daemon
