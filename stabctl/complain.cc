// Errors on their way to a person: every one goes through here, so that exit codes follow error codes.
#include <cstdio>

#include "stabctl/commands.h"

namespace stab::ctl {

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

int complain(const Error& error) {
  std::fprintf(stderr, "stabctl: %s\n", printable(error.text()).c_str());
  return error.code == ErrorCode::kBadInput ? kExitUsage : kExitFailed;
}

}  // namespace stab::ctl
