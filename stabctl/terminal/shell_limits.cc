#include "stabctl/terminal/shell_limits.h"

#include <sys/resource.h>

#include <string>

namespace stab::ctl {
namespace {

constexpr rlim_t kLeastStackBytes = 256 << 10;  // with 72 KiB stabctl itself ended at a plan
constexpr rlim_t kLeastOpenFiles = 200;         // as kAboveLauncher in stabd/host/spawn.cc

Error too_low(const std::string& option, const std::string& now, const std::string& what, const std::string& better) {
  return {ErrorCode::kUnavailable,
          "'ulimit " + option + "' is " + now + " here, which is too low for Stab's programs; allow " + what +
              ": ulimit " + option + " " + better,
          {}};
}

}  // namespace

Status check_stack_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStackBytes) return {};
  return too_low("-s", std::to_string(limit.rlim_cur >> 10), "stacks of 8 MiB", "8192");
}

Status check_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kLeastOpenFiles) return {};
  return too_low("-n", std::to_string(limit.rlim_cur), "1024 open files", "1024");
}

}  // namespace stab::ctl
