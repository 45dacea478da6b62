// The page's own files, compiled in: its frame, its style and its script.
#pragma once

#include <string_view>

namespace stab::page {

std::string_view page_frame();   // page.html, with {placeholders}
std::string_view page_style();
std::string_view page_script();

}  // namespace stab::page
