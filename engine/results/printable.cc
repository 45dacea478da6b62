// Names, messages and output are a stranger's; whatever shows them to a person goes through here.
#include "engine/results/printable.h"

#include <algorithm>

namespace stab::engine {

// C0 controls, DEL, and C1 controls in UTF-8 (0xc2 0x80 to 0x9f), which some terminals obey too.
std::string printable(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool c1 = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
    const bool drives_terminal = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f || c1;
    shown += drives_terminal ? '?' : text[i];
    if (c1) ++i;
  }
  return shown;
}

std::string one_line(std::string_view text) {
  std::string shown = printable(text);
  std::replace_if(shown.begin(), shown.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return shown;
}

}  // namespace stab::engine
