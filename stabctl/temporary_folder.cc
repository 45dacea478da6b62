#include "stabctl/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/printable.h"
#include "base/trusted_folder.h"
#include "stabd/engine/separation/places.h"

namespace stab::ctl {

Result<TemporaryFolder> TemporaryFolder::make(std::string_view purpose) {
  std::error_code missing;
  std::string path = (std::filesystem::temp_directory_path(missing) / ("stab-" + std::string(purpose) + "-XXXXXX")).string();
  if (missing) return Error{ErrorCode::kSystem, "no temporary folder: " + missing.message() + "; set TMPDIR to one", {}};
  if (const Status trusted = check_trusted_folder(std::filesystem::path(path).parent_path().string()); !trusted)
    return Error{trusted.error().code, trusted.error().message + "; set TMPDIR to a folder of yours", {}};
  if (::mkdtemp(path.data()) == nullptr)
    return Error{ErrorCode::kSystem, "make '" + path + "': " + std::strerror(errno) + "; set TMPDIR to a folder with space", {}};
  return TemporaryFolder(path);
}

// A build may leave directories that nobody may write into, such as Go's cache of modules.
TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  if (const Status removed = engine::remove_tree(path_); !removed)
    std::fprintf(stderr, "stabctl: '%s' stays: %s\n", printable(path_).c_str(), printable(removed.error().text()).c_str());
}

}  // namespace stab::ctl
