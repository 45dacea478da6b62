// Errors on their way to a person: every one goes through here, so that exit codes follow error codes.
#include <cstdio>

#include "stabctl/commands.h"

namespace stab::ctl {

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    const bool drives_terminal = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    shown += drives_terminal ? '?' : c;
  }
  return shown;
}

int complain(const Error& error) {
  std::fprintf(stderr, "stabctl: %s\n", printable(error.text()).c_str());
  return error.code == ErrorCode::kBadInput ? kExitUsage : kExitFailed;
}

}  // namespace stab::ctl
