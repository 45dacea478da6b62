// The file system as the parser may ask it: existence only.
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

bool RealFiles::file_exists(const std::string& path) const {
  std::error_code ignored;  // any failure means: not there for us
  return fs::is_regular_file(resolve(path), ignored);
}

bool RealFiles::directory_exists(const std::string& path) const {
  std::error_code ignored;
  return fs::is_directory(resolve(path), ignored);
}

bool RealFiles::command_exists(const std::string& name) const {
  if (name.find('/') != std::string::npos)
    return file_exists(name) && ::access(resolve(name).c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (RealFiles(directory).command_exists("./" + name)) return true;
  return false;
}

}  // namespace stab::plan
