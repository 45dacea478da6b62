// Without -wal beside it the file is all there is, and SQLite reads it if it is told that nobody changes it (immutable). Somebody
// who may write there can begin to at any moment, so it is read once, at a stretch, into a copy, and looked at before and after.
#include "store/unwritable_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/unique_fd.h"

namespace stab::store {
namespace {

// Of the file's header (https://www.sqlite.org/fileformat2.html, 1.3): 2 is WAL.
constexpr off_t kReadVersionAt = 19;
constexpr char kWalVersion = 2;

bool is_in_wal_mode(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  char version = 0;
  return file && ::pread(file.get(), &version, 1, kReadVersionAt) == 1 && version == kWalVersion;
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

struct stat state_of(const std::string& path) {
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0) state = {};
  return state;
}

// Whether nobody has written to it between two looks at it and at its -wal.
bool is_unchanged(const struct stat& before, const struct stat& after) {
  return before.st_dev == after.st_dev && before.st_ino == after.st_ino && before.st_size == after.st_size &&
         before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec;
}

}  // namespace

bool needs_unwritable_files(const std::string& path) {
  if (is_there(path + "-wal") && is_there(path + "-shm")) return false;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::faccessat(AT_FDCWD, folder.empty() ? "." : folder.c_str(), W_OK, AT_EACCESS) == 0) return false;
  // Last, as nobody of this process has it open then: closing it takes all of a process's locks from it, and without that of a
  // writer whoever closes it next takes himself for the last one and removes the -wal.
  return is_in_wal_mode(path);
}

Error unwritable_place(const std::string& path) {
  return {ErrorCode::kDenied,
          "'" + path + "' can't be read where it is: SQLite keeps files next to it, and you may not write there; copy '" + path +
              "' and, if it is there, '" + path + "-wal' to a directory of yours, or ask for a file that 'stabctl bundle "
              "EXPERIMENT FILE' makes of it",
          {}};
}

Result<Database> copy_of_unwritable(const std::string& path, const char* vfs) {
  const std::string log = path + "-wal";
  const struct stat before = state_of(path);
  if (state_of(log).st_size != 0) return unwritable_place(path);
  STAB_TRY(Database database, Database::open(path, Database::Mode::kImmutable, vfs));
  STAB_TRY(Database copy, Database::open(Database::kTemporary, Database::Mode::kCreate, nullptr));
  STAB_CHECK_OK(database.copy_to(copy));
  if (is_unchanged(before, state_of(path)) && state_of(log).st_size == 0) return copy;
  return Error{ErrorCode::kBusy, "another program writes to '" + path + "'; try again, or ask its user for a bundle", {}};
}

}  // namespace stab::store
