#include "store/database_files.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"

namespace stab::store {
namespace {

thread_local std::string refusal;

int refuse(std::string_view path, const std::string& why, int code) {
  refusal = "'" + std::string(path) + "' " + why;
  errno = code;
  return -1;
}

// Of a side file's name; empty: it is none.
std::string database_beside(std::string_view path) {
  for (const std::string_view end : {"-journal", "-wal", "-shm", ".writer"})
    if (path.ends_with(end)) return std::string(path.substr(0, path.size() - end.size()));
  return {};
}

// SQLite's own: for descriptors below 3, and for names of temporary files.
bool is_sqlites_device(std::string_view path) { return path == "/dev/null" || path == "/dev/urandom"; }

// 0, or -1 and errno. pre: `info` is the state of the file at `path` that is to be opened
int look(const char* path, int flags, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return refuse(path, "is a link, and links next to a database are not followed; remove it", ELOOP);
  if (S_ISDIR(info.st_mode) || is_sqlites_device(path)) return 0;
  if (!S_ISREG(info.st_mode)) return refuse(path, "is not a regular file", EACCES);
  const std::string database = database_beside(path);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (info.st_nlink > 1 && (writes || !database.empty()))
    return refuse(path,
                  "has another name somewhere (a hard link), and could be another file than it seems; copy the database to a "
                  "folder of yours",
                  EMLINK);
  if (database.empty() || info.st_uid == ::geteuid() || info.st_uid == 0) return 0;
  struct stat main {};
  if (::stat(database.c_str(), &main) == 0 && main.st_uid == info.st_uid) return 0;
  return refuse(path, "belongs to user " + std::to_string(info.st_uid) + ", who could have put it there to change '" + database +
                          "'; remove it, or move the database to a folder where only you may write", EACCES);
}

// The file is looked at before it is opened, as opening a device or a pipe does something, and what was looked at is opened.
int open_seen(int seen, int flags) {
  const std::string again = "/proc/self/fd/" + std::to_string(seen);
  return ::open(again.c_str(), (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC | O_NOCTTY);
}

int careful_fchown(int fd, uid_t uid, gid_t gid) {
  struct stat info {};
  // SQLite gives away what it has opened beside a database of another owner, whoever has made it.
  if (::fstat(fd, &info) != 0 || info.st_uid != ::geteuid() || info.st_size != 0 || info.st_nlink != 1) return 0;
  return ::fchown(fd, uid, gid);
}

sqlite3_vfs* real_vfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
  return vfs;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* got) {
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) == 0) return real_vfs()->xOpen(real_vfs(), name, file, flags, got);
  file->pMethods = nullptr;
  refuse(name == nullptr ? "" : name,
         "is named by a journal next to the database, which Stab has not written; ask its owner for a "
         "file that 'stabctl bundle EXPERIMENT FILE' makes",
         EACCES);
  return SQLITE_CANTOPEN;
}

}  // namespace

int open_carefully(const char* path, int flags, int mode) {
  // What lies there may change between two looks; whoever does that without an end gets EAGAIN.
  for (int tried = 0; tried < 100; ++tried) {
    const UniqueFd seen(::open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!seen && errno == ENOENT && (flags & O_CREAT) != 0) {
      const int made = ::open(path, flags | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
      if (made >= 0 || errno != EEXIST || (flags & O_EXCL) != 0) return made;
      continue;
    }
    if (!seen) return -1;
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
      errno = EEXIST;
      return -1;
    }
    struct stat info {};
    if (::fstat(seen.get(), &info) != 0 || look(path, flags, info) != 0) return -1;
    return open_seen(seen.get(), flags);
  }
  errno = EAGAIN;
  return -1;
}

std::string take_refusal() { return std::exchange(refusal, {}); }

const char* careful_vfs() {
  static constexpr char kName[] = "stab";
  static std::once_flag once;
  std::call_once(once, [] {
    static sqlite3_vfs careful = *real_vfs();
    careful.zName = kName;
    careful.pNext = nullptr;
    careful.xOpen = open_file;
    const auto set = [](const char* name, auto* call) {
      real_vfs()->xSetSystemCall(real_vfs(), name, reinterpret_cast<sqlite3_syscall_ptr>(call));
    };
    set("open", open_carefully);
    set("fchown", careful_fchown);
    sqlite3_vfs_register(&careful, 0);
  });
  return kName;
}

}  // namespace stab::store
