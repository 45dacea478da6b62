// Errors on their way to a person: every one goes through here, so that exit codes follow error codes.
#include "stabctl/terminal/complain.h"

#include <cstdio>

#include "base/printable.h"

namespace stab::ctl {

int complain(const Error& error) {
  std::fprintf(stderr, "stabctl: %s\n", printable(error.text()).c_str());
  return error.code == ErrorCode::kBadInput ? kExitUsage : kExitFailed;
}

int complain_of_no_answer(const Error& error) {
  complain(error);
  return kExitUsage;
}

}  // namespace stab::ctl
