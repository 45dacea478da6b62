// A directory that lives as long as a test.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace stab {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char path[] = "/tmp/stab-test-XXXXXX";
    path_ = ::mkdtemp(path);
  }
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  // Makes the file and the directories above it; returns its path.
  std::string write(const std::string& name, std::string_view text, int mode = 0644) const {
    const std::string path = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
    return path;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  std::string path_;
};

}  // namespace stab
