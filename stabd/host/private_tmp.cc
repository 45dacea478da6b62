// A directory of the machine's /tmp is bound over /tmp, so that what a program writes there is written where it would have
// been, on the same file system and at the same speed; the same for /var/tmp. Directories that a trial needs by their names
// below /tmp, its own among them, are bound where they were: nothing is seen in the namespace that the machine does not show
// at the same place to the same user, but for two directories which begin empty.
//
// Root walks names of one component each, below a directory that only root can replace, and follows no link. What lies there
// may be a file system that a user's process serves, and is asked nothing: O_PATH opens nothing, and statx(2) takes what the
// kernel knows.
#include "stabd/host/private_tmp.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stab::host {
namespace {

constexpr char kTmp[] = "/tmp", kVarTmp[] = "/var/tmp";
constexpr int kOpenDirectory = O_PATH | O_DIRECTORY | O_CLOEXEC;

Error unavailable(const std::string& what) {
  return Error{ErrorCode::kUnavailable, what + ": " + std::strerror(errno), {}};
}

Result<UniqueFd> open_place(const char* place) {
  UniqueFd fd(::open(place, kOpenDirectory));
  if (!fd) return unavailable(std::string("open '") + place + "'");
  return fd;
}

// A mount of it that is nowhere yet, with what is mounted below it.
Result<UniqueFd> clone_of(const UniqueFd& directory) {
  UniqueFd tree(::open_tree(directory.get(), "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (!tree) return unavailable("take a directory for a namespace");
  return tree;
}

}  // namespace

Result<UniqueFd> directory_below(int directory, const std::string& name) {
  UniqueFd fd(::openat(directory, name.c_str(), kOpenDirectory | O_NOFOLLOW));
  if (!fd) return unavailable("open directory '" + name + "'");
  return fd;
}

Result<PrivateTmp::Identity> PrivateTmp::identity_of(const UniqueFd& directory, uid_t* owner) {
  struct statx info;
  if (::statx(directory.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_UID, &info) != 0)
    return unavailable("look at a directory");
  if (owner != nullptr) *owner = info.stx_uid;
  return Identity{info.stx_dev_major, info.stx_dev_minor, info.stx_ino};
}

// Whose the directory is says who may have put anything into it. What it has as `private` is its user's.
Result<UniqueFd> PrivateTmp::find_private(const char* place, const std::string& name) const {
  STAB_TRY(const UniqueFd above, open_place(place));
  STAB_TRY(const UniqueFd root, directory_below(above.get(), name));
  uid_t owner = 0;
  STAB_TRY(const Identity identity, identity_of(root, &owner));
  (void)identity;
  if (owner != owner_)
    return Error{ErrorCode::kUnavailable,
                 "'" + std::string(place) + "/" + name + "' is no directory of user " + std::to_string(owner_) + ", who asks",
                 {}};
  STAB_TRY(const UniqueFd closed, directory_below(root.get(), kPrivateDirectory));
  return directory_below(closed.get(), kTemporaryDirectory);
}

Result<std::vector<UniqueFd>> PrivateTmp::find() const {
  std::vector<UniqueFd> found;
  STAB_TRY(UniqueFd tmp, find_private(kTmp, names_.tmp));
  found.push_back(std::move(tmp));
  if (!names_.var_tmp.empty()) {
    STAB_TRY(UniqueFd var_tmp, find_private(kVarTmp, names_.var_tmp));
    found.push_back(std::move(var_tmp));
  }
  STAB_TRY(const UniqueFd place, open_place(kTmp));
  for (const std::string& name : names_.kept) {
    STAB_TRY(UniqueFd kept, directory_below(place.get(), name));
    found.push_back(std::move(kept));
  }
  return found;
}

Status PrivateTmp::mount() {
  mounted_.clear();
  STAB_TRY(const std::vector<UniqueFd> found, find());
  std::vector<Identity> identities;
  std::vector<UniqueFd> trees;
  for (const UniqueFd& directory : found) {
    STAB_TRY(const Identity identity, identity_of(directory));
    STAB_TRY(UniqueFd tree, clone_of(directory));
    identities.push_back(identity);
    trees.push_back(std::move(tree));
  }
  size_t next = 0;
  constexpr unsigned kOver = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS;
  if (::move_mount(trees[next++].get(), "", AT_FDCWD, kTmp, kOver) != 0) return unavailable("mount a /tmp of its own");
  if (!names_.var_tmp.empty() && ::move_mount(trees[next++].get(), "", AT_FDCWD, kVarTmp, kOver) != 0)
    return unavailable("mount a /var/tmp of its own");
  STAB_TRY(const UniqueFd place, open_place(kTmp));
  for (const std::string& name : names_.kept)
    if (::move_mount(trees[next++].get(), "", place.get(), name.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
      return unavailable("keep '/tmp/" + name + "' where it is");
  mounted_ = std::move(identities);
  return {};
}

bool PrivateTmp::is_current() const {
  const auto found = find();
  if (!found || found->size() != mounted_.size()) return false;
  for (size_t i = 0; i < found->size(); ++i) {
    const auto identity = identity_of((*found)[i]);
    if (!identity || !(*identity == mounted_[i])) return false;
  }
  return true;
}

}  // namespace stab::host
