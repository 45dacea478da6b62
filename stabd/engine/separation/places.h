// Places: where a database is if nobody says so, and what lies beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/separation/leftovers.h"

namespace stab::engine {

// $XDG_STATE_HOME/stab/stab.db, else ~/.local/state/stab/stab.db: one place for all experiments of a user,
// whatever directory they work in. kNotFound where there is neither variable nor home.
Result<std::string> default_database();

// That the user's home is there, of a path below it that nobody has typed: who makes the path would make the home as well, and
// results would lie where nobody looks. `kept`: what lies there; `cure`: what names another place.
Status check_home_above(const std::string& path, const std::string& kept = "results are",
                        const std::string& cure = "name a file with --db");

// "<database>.files": build directories. Everything in it can be made again.
std::string files_beside(const std::string& database);

// Where it is there: what lies in it is run, so it must be a directory of ours or root's, and nobody else may write into it from
// now on.
Status close_files_beside(const std::string& database);

// Makes it and what is above it, 0755 whatever the umask adds.
Status make_directories(const std::string& path);
// Removes a file or a tree; symbolic links are removed, not followed. Absent is fine. What takes longer than two minutes stays,
// with an Error: where somebody else may write, it could be filled for ever.
Status remove_tree(const std::string& path);

// Makes a directory of ours a user's.
using Give = std::function<Status(const std::string& path, unsigned uid, unsigned gid)>;
// By chown(2), which only root may.
Status chown_to(const std::string& path, unsigned uid, unsigned gid);

// A directory of its own for each trial, always under the same path of the same length, so that no two trials
// differ in it. Removed with the object.
class ScratchDirectory {
 public:
  static Result<ScratchDirectory> create(Empty empty, Give give = chown_to);
  ScratchDirectory(ScratchDirectory&& other) noexcept
      : root_(std::move(other.root_)),
        held_(std::move(other.held_)),
        empty_(std::move(other.empty_)),
        give_(std::move(other.give_)),
        inode_(other.inode_) {
    other.root_.clear();
  }
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  // Empty and new; what was there before is gone. Owned by uid and gid unless they are -1. Made again where somebody has
  // removed it all.
  Result<std::string> fresh(unsigned uid, unsigned gid);
  // The name of our directory below /tmp.
  std::string name() const { return root_.substr(root_.rfind('/') + 1); }
  // False where somebody else has removed what is ours, around the trial's directory: cleaners of /tmp do.
  bool is_there() const;
  bool has_trial() const;  // the same of the trial's directory, which the trial itself may remove

 private:
  ScratchDirectory(std::string root, Empty empty, Give give)
      : root_(std::move(root)), empty_(std::move(empty)), give_(std::move(give)) {}
  Status make_root();
  Status open_root(UniqueFd held);
  bool is_untouched(const std::string& path, unsigned uid, unsigned gid) const;
  std::string root_;
  UniqueFd held_;  // the root, locked: an engine in another PID namespace can't tell by our pid whether we live
  Empty empty_;
  Give give_;
  uint64_t inode_ = 0;  // of the root
  // The directory as it was made: whatever happens to it or in it changes its time.
  struct Made {
    unsigned uid = 0, gid = 0, mode = 0;
    uint64_t inode = 0;
    int64_t changed_ns = 0;
    bool operator==(const Made&) const = default;
  };
  std::optional<Made> made_;
};

}  // namespace stab::engine
