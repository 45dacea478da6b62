// Archive: measured binaries by what they contain, so that a trial can be repeated after its build is gone, its
// source has changed or its program was upgraded. <database>.files/archive/<sha256>, mode 0555, ours.
#pragma once

#include <string>

#include "base/result.h"

namespace stab::engine {

class Archive {
 public:
  explicit Archive(std::string directory) : directory_(std::move(directory)) {}

  // Copies `from` unless it is there already. kCorrupt where the content is not `sha256`: it changed meanwhile.
  // `from` is a descriptor: whoever opened it had the right to.
  Status put(int from, const std::string& sha256) const;
  // Where it is; kNotFound if retention has removed it, kCorrupt if its content is no longer what its name says.
  Result<std::string> find(const std::string& sha256) const;

 private:
  std::string directory_;
};

// "<database>.files/archive"
std::string archive_beside(const std::string& database);

}  // namespace stab::engine
