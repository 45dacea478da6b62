// TemporaryFolder: a folder of ours alone, mode 0700, gone with the object.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace stab::ctl {

class TemporaryFolder {
 public:
  // "stab-<purpose>-XXXXXX" where TMPDIR says, else below /tmp. kSystem names the folder and the cure.
  static Result<TemporaryFolder> make(std::string_view purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();  // with all that is in it

  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: nothing is removed
};

}  // namespace stab::ctl
