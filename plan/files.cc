// The file system as the parser may ask it: what there is, not what is in it.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "plan/parse.h"

namespace stab::plan {

namespace fs = std::filesystem;

std::string RealFiles::resolve(const std::string& path) const {
  return fs::path(path).is_absolute() ? path : (fs::path(directory_) / path).string();
}

FileKind RealFiles::look(const std::string& path) const {
  std::error_code ignored;  // any failure means: not there for us
  const fs::file_status status = fs::status(resolve(path), ignored);
  if (fs::is_directory(status)) return FileKind::kDirectory;
  if (fs::is_regular_file(status)) return ::access(resolve(path).c_str(), X_OK) == 0 ? FileKind::kProgram : FileKind::kFile;
  return fs::exists(status) ? FileKind::kOther : FileKind::kAbsent;
}

bool RealFiles::is_in_path(const std::string& name) const {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (RealFiles(directory).look(name) == FileKind::kProgram) return true;
  return false;
}

}  // namespace stab::plan
