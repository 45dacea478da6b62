// root, 0711, ours          which is what the broker is told, by its name
//   private, 0700, the user's   so that nobody else gets in
//     tmp, 1777, ours           what a trial sees as its /tmp
//       NAME, for each that is kept: what lies there on the machine is mounted on it
//
// Files of trials are on the file systems on which they would have been. What is in them is removed by the user's own worker,
// within its time, as from the trial's directory; we remove what is ours.
#include "stabd/engine/build/temporary_places.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "base/clock.h"

namespace stab::engine {
namespace {

// As many entries and no other: a program can remove none of ours, and none of theirs is ours.
bool has_entries(int directory, size_t wanted) {
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (!open) return false;
  size_t found = 0;
  while (const dirent* entry = ::readdir(open.get()))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0 && ++found > wanted) return false;
  return found == wanted;
}

// Nothing is there, or something else. What we may not look at is not gone.
bool is_gone(int directory, const char* name, std::optional<uint64_t> inode) {
  struct stat info;
  if (::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT || errno == ENOTDIR;
  return !S_ISDIR(info.st_mode) || (inode && info.st_ino != *inode);
}

bool is_one_place(const char* a, const char* b) {
  struct stat first, second;
  return ::stat(a, &first) == 0 && ::stat(b, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

Result<TemporaryPlaces> TemporaryPlaces::create(std::vector<std::string> kept, unsigned uid, unsigned gid, Empty empty,
                                                Give give) {
  TemporaryPlaces made;
  made.names_.kept = std::move(kept);
  made.uid_ = uid, made.gid_ = gid;
  made.empty_ = std::move(empty), made.give_ = std::move(give);
  STAB_CHECK_OK(made.add("/tmp", made.names_.kept.size(), made.names_.tmp));
  if (!is_one_place("/tmp", "/var/tmp")) STAB_CHECK_OK(made.add("/var/tmp", 0, made.names_.var_tmp));
  return made;
}

// The pid says whether its engine lives (leftovers.cc).
Status TemporaryPlaces::add(const char* below, size_t kept, std::string& name) {
  char path[64];
  std::snprintf(path, sizeof path, "%s/stab-%07d-XXXXXX", below, ::getpid());
  Place place{path, {}, kept, UniqueFd(), {}, {}};
  STAB_TRY(place.held, make_scratch(place.root));
  places_.push_back(std::move(place));
  name = places_.back().root.substr(places_.back().root.rfind('/') + 1);
  return make(places_.back());
}

std::optional<TemporaryPlaces::Mark> TemporaryPlaces::mark_of(int directory, const char* name) {
  struct stat info;
  const int flags = AT_SYMLINK_NOFOLLOW | (*name == 0 ? AT_EMPTY_PATH : 0);
  if (::fstatat(directory, name, &info, flags) != 0 || !S_ISDIR(info.st_mode)) return {};
  return Mark{info.st_ino, nanoseconds_of(info.st_ctim).count()};
}

// Of the root that is held: there may be another by now, or none.
Status TemporaryPlaces::hold_root(Place& place) {
  struct stat held, there;
  if (::lstat(place.root.c_str(), &there) != 0) {
    place.held.reset();
    STAB_TRY(place.held, make_scratch(place.root));
    return {};
  }
  // Anybody can make a name there once ours is removed.
  if (::fstat(place.held.get(), &held) != 0 || held.st_dev != there.st_dev || held.st_ino != there.st_ino)
    return Error{ErrorCode::kDenied, "'" + place.root + "' was removed and belongs to another user now; resume the "
                                                        "experiment", {}};
  return {};
}

// pre: nothing is there, or an empty root.
Status TemporaryPlaces::make(Place& place) const {
  STAB_CHECK_OK(hold_root(place));
  if (::fchmod(place.held.get(), 0711) != 0) return system_error("chmod '" + place.root + "'", errno);
  const std::string closed = place.root + "/" + host::kPrivateDirectory, open = closed + "/" + host::kTemporaryDirectory;
  if (::mkdir(closed.c_str(), 0700) != 0) return system_error("create '" + closed + "'", errno);
  if (::mkdir(open.c_str(), 0700) != 0 || ::chmod(open.c_str(), 01777) != 0) return system_error("create '" + open + "'", errno);
  place.inside.reset(::open(open.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!place.inside) return system_error("open '" + open + "'", errno);
  for (size_t i = 0; i < place.kept; ++i)
    if (::mkdirat(place.inside.get(), names_.kept[i].c_str(), 0755) != 0)
      return system_error("create '" + open + "/" + names_.kept[i] + "'", errno);
  if (uid_ != unsigned(-1)) STAB_CHECK_OK(give_(closed, uid_, gid_));
  const auto closed_mark = mark_of(AT_FDCWD, closed.c_str()), open_mark = mark_of(place.inside.get(), "");
  if (!closed_mark || !open_mark) return system_error("stat '" + open + "'", errno);
  place.closed = *closed_mark, place.open = *open_mark;
  return {};
}

// Times may be as coarse as a tick of the kernel, so it is looked into as well.
bool TemporaryPlaces::is_untouched(const Place& place) {
  if (!place.inside) return false;
  return mark_of(AT_FDCWD, (place.root + "/" + host::kPrivateDirectory).c_str()) == place.closed &&
         mark_of(place.inside.get(), "") == place.open && has_entries(place.inside.get(), place.kept);
}

// What is ours in a directory of ours goes first, as its user may not remove it; on what is mounted there, in a namespace that
// is about to be replaced, nothing depends. The rest is for the worker; where there is none any more we remove what we may.
Status TemporaryPlaces::clear(Place& place) const {
  const std::string closed = place.root + "/" + host::kPrivateDirectory;
  for (size_t i = 0; place.inside && i < place.kept; ++i) ::unlinkat(place.inside.get(), names_.kept[i].c_str(), AT_REMOVEDIR);
  place.inside.reset();
  ::rmdir((closed + "/" + host::kTemporaryDirectory).c_str());  // so that an empty one is seen to be empty
  return remove_filled(closed, empty_);
}

Status TemporaryPlaces::fresh() {
  for (Place& place : places_) {
    if (is_untouched(place)) continue;
    STAB_CHECK_OK(clear(place));
    STAB_CHECK_OK(make(place));
  }
  return {};
}

// What is in root/private only its user finds by name: of a directory that is open, the links tell whether it has one.
bool TemporaryPlaces::are_there() const {
  for (const Place& place : places_) {
    if (!place.inside || is_gone(AT_FDCWD, (place.root + "/" + host::kPrivateDirectory).c_str(), place.closed.inode))
      return false;
    struct stat info;
    if (::fstat(place.inside.get(), &info) == 0 && info.st_nlink == 0) return false;
    for (size_t i = 0; i < place.kept; ++i)
      if (is_gone(place.inside.get(), names_.kept[i].c_str(), {})) return false;
  }
  return true;
}

TemporaryPlaces::~TemporaryPlaces() {
  for (Place& place : places_)
    if (clear(place)) (void)remove_tree(place.root);
}

}  // namespace stab::engine
