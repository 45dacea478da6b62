// A page's parts: the frame around them is the same for every report of one version.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stab::page {

// The data blocks of a page, as they stand in it.
struct PageParts {
  std::string title;
  std::string plain;     // the report as text, for readers without scripts
  std::string report;    // JSON, `<` written as \u003c
  std::string figures;
  std::string samples;
  std::string evidence;
  std::string causal;
  std::string trials;    // Base64
};

std::string assemble(const PageParts& parts);
// kCorrupt where a part is missing or stands twice.
Result<PageParts> take_apart(std::string_view page);

std::string json_for_page(const std::string& json);  // no markup can end or begin in it

}  // namespace stab::page
