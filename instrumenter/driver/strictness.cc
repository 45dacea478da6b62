// The driver fails what it can tell before the link; post-link sees the linked file and tells the rest.
#include "instrumenter/driver/strictness.h"

#include <cstdlib>

namespace stab::driver {

Result<postlink::Factors> strictness_of(const CommandLine& line, const std::string& output) {
  if (line.strict) return *line.strict;
  const char* list = getenv("STAB_LINK_STRICT");
  if (list == nullptr || *list == 0) return postlink::Factors{};
  STAB_TRY(const postlink::Factors factors, postlink::parse_factors(list, "STAB_LINK_STRICT=" + std::string(list)));
  const char* program = getenv("STAB_LINK_PROGRAM");
  if (program == nullptr || *program == 0) return factors;
  const std::string name = ":" + output.substr(output.rfind('/') + 1) + ":";
  return (":" + std::string(program) + ":").find(name) != std::string::npos ? factors : postlink::Factors{};
}

std::string why_not_processed(const LinkJob& job) {
  if (job.relocatable || job.shared) return {};
  if (job.libc == Libc::kNone) return "is linked without glibc, which Stab's runtime needs";
  if (job.libc == Libc::kOther) return "is linked with '" + job.other_libc + "', and Stab's runtime needs glibc";
  return {};
}

}  // namespace stab::driver
