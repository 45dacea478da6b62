// Tables of functions and where they lie, on screens of any width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/text/text_table.h"

namespace stab::commands {

// How much of a place a table tells.
enum class PlaceDetail { kAll, kPage, kAddress, kNameAlone };

// "0x401230 (16, 48, 560)": modulo 32, 64 and 4096
std::string address_text(uint64_t address, PlaceDetail detail);

// The title of a column of such.
const char* place_title(PlaceDetail detail);

// A table whose first column is names: places say less before a name is cut to fewer than 24 columns. `made`: it, by how much
// they say.
template <typename Make>
std::string with_names(const Make& made, size_t longest, int width) {
  constexpr size_t kLeastName = 24;
  for (const PlaceDetail detail : {PlaceDetail::kAll, PlaceDetail::kPage, PlaceDetail::kAddress}) {
    const std::string uncut = made(detail).text(1 << 20);
    size_t widest = 0;
    for (size_t at = 0; at < uncut.size();) {
      const size_t end = uncut.find('\n', at);
      widest = std::max(widest, text::display_width(std::string_view(uncut).substr(at, end - at)));
      at = end + 1;
    }
    const size_t saved = longest - std::min(longest, kLeastName);
    if (widest - saved <= static_cast<size_t>(width)) return made(detail).text(width);
  }
  return made(PlaceDetail::kNameAlone).text(width);
}

}  // namespace stab::commands
