// The layout file that a command obeys: from --stab-layout, or from STAB_LINK_LAYOUT.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "instrumenter/driver/command_line.h"
#include "plan/advice/layout_file.h"

namespace stab::driver {

struct LayoutChoice {
  std::string path;  // absolute, or as it was given
  advice::LayoutFile file;
};

// Absent: none is wanted. Fails on one that can't be read, and on one of another CPU model than `cpu`.
Result<std::optional<LayoutChoice>> choose_layout(const CommandLine& line, const std::string& cpu);

// What the pass is told, instrumenter/pass/places.h; into the environment of what we run.
std::string places_text(const advice::LayoutFile& file);
Status tell_places(const advice::LayoutFile& file);

// The file that lld orders functions by, in memory: its path is this descriptor's in the process that inherits it. Absent: the
// layout file has no order.
Result<UniqueFd> ordering_file(const advice::LayoutFile& file);
std::string path_of(const UniqueFd& ordering);

}  // namespace stab::driver
