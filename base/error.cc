#include "base/error.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace stab {

std::string Error::text() const {
  if (!spot.known()) return message;
  return spot.file + ":" + std::to_string(spot.line) + ":" + std::to_string(spot.column) + ": " + message;
}

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBadInput: return "bad input";
    case ErrorCode::kNotFound: return "not found";
    case ErrorCode::kDenied: return "denied";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kBusy: return "busy";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kSystem: return "system";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

Error bad_input(std::string message, SourceSpot spot) {
  return Error{ErrorCode::kBadInput, std::move(message), std::move(spot)};
}

Error denied(std::string message) { return Error{ErrorCode::kDenied, std::move(message), {}}; }

Error corrupt(std::string message) { return Error{ErrorCode::kCorrupt, std::move(message), {}}; }

Error system_error(std::string_view what, int errno_value) {
  ErrorCode code = ErrorCode::kSystem;
  if (errno_value == ENOENT || errno_value == ESRCH) code = ErrorCode::kNotFound;
  if (errno_value == EACCES || errno_value == EPERM) code = ErrorCode::kDenied;
  if (errno_value == EBUSY || errno_value == EAGAIN) code = ErrorCode::kBusy;
  if (errno_value == ENOSYS || errno_value == EOPNOTSUPP) code = ErrorCode::kUnavailable;
  std::string message = std::string(what) + ": " + std::strerror(errno_value);
  rlimit limit{};
  if (errno_value == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    message += "; 'ulimit -n' allows " + std::to_string(limit.rlim_cur) + ": raise it";
  return Error{code, std::move(message), {}};
}

}  // namespace stab
