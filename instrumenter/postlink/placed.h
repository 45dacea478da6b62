// Whether a linked program has its functions where a layout file wants them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "instrumenter/postlink/elf_image.h"
#include "plan/advice/layout_file.h"

namespace stab::postlink {

// Of the program that the file names, every function must be there, at its place and in its order: kBadInput otherwise, with the
// cure. Of another file, a library or a test of configure's, those that it has. What comes back is what to warn of: functions
// whose size is another than was measured, and, of another file, those that it lacks while it has others. `name`: of the layout
// file, for messages.
Result<std::vector<std::string>> check_placed(const ElfImage& image, const advice::LayoutFile& file, const std::string& name);

}  // namespace stab::postlink
