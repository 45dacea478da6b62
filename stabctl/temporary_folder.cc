#include "stabctl/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace stab::ctl {

Result<TemporaryFolder> TemporaryFolder::make(std::string_view purpose) {
  std::error_code missing;
  std::string path = (std::filesystem::temp_directory_path(missing) / ("stab-" + std::string(purpose) + "-XXXXXX")).string();
  if (missing) return Error{ErrorCode::kSystem, "no temporary folder: " + missing.message() + "; set TMPDIR to one", {}};
  if (::mkdtemp(path.data()) == nullptr)
    return Error{ErrorCode::kSystem, "make '" + path + "': " + std::strerror(errno) + "; set TMPDIR to a folder with space", {}};
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace stab::ctl
