// ActingAs: file access of the calling thread with a submitter's rights.
#pragma once

#include <optional>

#include "stabd/launch.h"

namespace stab::engine {

// While it lives, this thread opens, reads and makes files as the submitter, so that a plan can't name what its
// submitter may not read. Other threads and the process's ids are untouched. Nothing happens without a
// submitter. Aborts when the way back fails: going on with the wrong rights would be worse.
class ActingAs {
 public:
  explicit ActingAs(const std::optional<Submitter>& submitter);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  bool active_ = false;
  std::vector<gid_t> groups_before_;
  gid_t group_before_ = 0;
};

// The user that a plan of this submitter runs as, with all its groups. Nothing where the engine already is that
// user, or can't become another.
std::optional<Submitter> submitter_of(uid_t uid, gid_t gid);

// access(2) with this thread's rights for files; access() itself asks for the real user.
bool may_access(const std::string& path, int mode);

}  // namespace stab::engine
