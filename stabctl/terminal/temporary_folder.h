// TemporaryFolder: a folder of ours alone, mode 0700, gone with the object. One of a command that was killed goes when the next
// one makes its own, but for a selftest's: an experiment that was stopped may still build from it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::ctl {

enum class TemporaryPurpose : uint8_t { kGate, kExplain, kNightly, kSelftest, kImport, kReport, kSsh };

// Where temporary files are to lie: what TMPDIR says, else /tmp.
std::string temporary_place();

class TemporaryFolder {
 public:
  // "stab-gate-XXXXXX" where TMPDIR says, else below /tmp. kSystem names the folder and the cure.
  static Result<TemporaryFolder> make(TemporaryPurpose purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})), held_(std::move(other.held_)) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();  // with all that is in it

  const std::string& path() const { return path_; }
  // It stays, and no later command removes it. pre: a purpose whose folders no command removes for another: kSelftest
  void keep() { path_.clear(); }

 private:
  TemporaryFolder(std::string path, UniqueFd held) : path_(std::move(path)), held_(std::move(held)) {}
  std::string path_;  // empty: nothing is removed
  UniqueFd held_;     // what tells others that it is in use
};

}  // namespace stab::ctl
