#include "base/absolute_path.h"

#include <filesystem>
#include <system_error>

namespace stab {

Result<std::string> absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = path == "." ? std::filesystem::current_path(error) : std::filesystem::absolute(path, error);
  if (!error) return found.string();
  return Error{ErrorCode::kNotFound,
               "the directory that this was started in is gone, so '" + path + "' can't be found (" + error.message() +
                   "); go to one that is there",
               {}};
}

}  // namespace stab
