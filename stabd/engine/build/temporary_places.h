// TemporaryPlaces: the directories that the trials of one experiment find at /tmp and /var/tmp, each empty when a trial begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/separation/places.h"
#include "stabd/host/private_tmp.h"

namespace stab::engine {

class TemporaryPlaces {
 public:
  // Directories below the machine's /tmp and /var/tmp, of uid and gid unless they are -1. `kept`: names of directories of /tmp
  // for which there is to be room. `empty` and `give` as a ScratchDirectory has them.
  static Result<TemporaryPlaces> create(std::vector<std::string> kept, unsigned uid, unsigned gid, Empty empty,
                                        Give give = chown_to);
  TemporaryPlaces(TemporaryPlaces&&) = default;
  TemporaryPlaces& operator=(TemporaryPlaces&&) = delete;
  ~TemporaryPlaces();

  const host::TemporaryNames& names() const { return names_; }
  // What was done there is gone: whatever a trial has touched is another directory afterwards.
  Status fresh();
  // False: whatever cleans /tmp took one of them, or a part of it.
  bool are_there() const;

 private:
  // What a directory was when it was made; its time changes with whatever happens to it.
  struct Mark {
    uint64_t inode = 0;
    int64_t changed_ns = 0;
    bool operator==(const Mark&) const = default;
  };
  struct Place {
    std::string root;    // "/tmp/stab-0012345-XXXXXX", ours
    UniqueFd held;       // the root, locked (leftovers.h)
    size_t kept = 0;     // how many names there is room for
    UniqueFd inside;     // root/private/tmp, opened before root/private became a user's
    Mark closed, open;   // of root/private and of root/private/tmp
  };
  TemporaryPlaces() = default;
  Status add(const char* below, size_t kept, std::string& name);
  static Status hold_root(Place& place);
  Status make(Place& place) const;
  Status clear(Place& place) const;
  static std::optional<Mark> mark_of(int directory, const char* name);
  static bool is_untouched(const Place& place);

  host::TemporaryNames names_;
  unsigned uid_ = unsigned(-1), gid_ = unsigned(-1);
  Empty empty_;
  Give give_;
  std::vector<Place> places_;
};

}  // namespace stab::engine
