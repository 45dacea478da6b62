// PrivateTmp: what a process tree finds at /tmp and /var/tmp, where these are its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::host {

// Each a single component, of a directory below the machine's /tmp or /var/tmp; never a path.
struct TemporaryNames {
  // Directories of `owner`. What they have as private/tmp is seen at /tmp, and at /var/tmp, which stays the machine's where
  // there is no name.
  std::string tmp, var_tmp;
  // Directories of /tmp that are seen there as before. tmp's private/tmp has an empty directory of the same name for each.
  std::vector<std::string> kept;
};

// Where it lies below a directory of TemporaryNames.
inline constexpr char kPrivateDirectory[] = "private", kTemporaryDirectory[] = "tmp";

// An open directory, which is no link and about which no file system was asked that a user's process may serve; kUnavailable.
Result<UniqueFd> directory_below(int directory, const std::string& name);

class PrivateTmp {
 public:
  PrivateTmp(TemporaryNames names, uid_t owner) : names_(std::move(names)), owner_(owner) {}

  // pre: the calling thread has a mount namespace that nobody else is in, and whose mounts are seen nowhere else.
  Status mount();
  // Whether the names still stand for what mount() has taken.
  bool is_current() const;

 private:
  struct Identity {
    uint32_t major = 0, minor = 0;
    uint64_t inode = 0;
    bool operator==(const Identity&) const = default;
  };
  static Result<Identity> identity_of(const UniqueFd& directory, uid_t* owner = nullptr);
  // In the order tmp, var_tmp where there is one, kept.
  Result<std::vector<UniqueFd>> find() const;
  Result<UniqueFd> find_private(const char* place, const std::string& name) const;

  TemporaryNames names_;
  uid_t owner_;
  std::vector<Identity> mounted_;
};

}  // namespace stab::host
