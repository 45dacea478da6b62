// The archive is one for all users, found by hash, so what is in it must be what its name says, whoever brought it: a worker
// of the user's copies the binary into a memory file, which then is sealed, hashed, and copied under a name of its own that
// is renamed to the hash. A crash leaves a ".new" file, which the next put() of the same content overwrites. Copies, not
// links: whoever owns the original may still write to it. Holes stay holes.
#include "stabd/engine/build/binary_archive.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/engine/separation/places.h"
#include "stabd/worker/copy.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

// Refused by the kernel as long as anybody has it mapped for writing.
Status seal(int room) {
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(room, F_ADD_SEALS, kSeals) == 0) return {};
  if (errno != EBUSY) return system_error("seal a binary", errno);
  return Error{ErrorCode::kCorrupt, "another process of this user still writes to the copy; stop it", {}};
}

Status copy_checked(int room, uint64_t bytes, const std::string& part, const std::string& sha256) {
  STAB_TRY(const std::string content, worker::sha256_of_fd(room, bytes));
  if (content != sha256)
    return Error{ErrorCode::kCorrupt, "a binary changed while it was archived; build it in a directory that no other program "
                                      "writes to", {}};
  const UniqueFd to(::open(part.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!to) return system_error("create '" + part + "'", errno);
  STAB_CHECK_OK(worker::copy_bytes(room, to.get(), bytes));
  if (::fchmod(to.get(), 0555) != 0 || ::fsync(to.get()) != 0) return system_error("archive '" + part + "'", errno);
  return {};
}

}  // namespace

Result<UniqueFd> room_for(uint64_t bytes) {
  if (bytes > kMostArchivedBytes)
    return bad_input("it has " + std::to_string(bytes) + " bytes, holes counted, and at most " +
                     worker::size_words(kMostArchivedBytes) + " are kept; keep the build to replay its trials");
  UniqueFd room(::memfd_create("stab-archive", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!room) return system_error("memfd_create", errno);
  if (::ftruncate(room.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(room.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
    return system_error("make room for a binary", errno);
  return room;
}

std::string archive_beside(const std::string& database) { return files_beside(database) + "/archive"; }

bool Archive::has(const std::string& sha256) const {
  return worker::is_sha256(sha256) && ::access((directory_ + "/" + sha256).c_str(), F_OK) == 0;
}

Result<uint64_t> Archive::put(int room, const std::string& sha256) const {
  if (!worker::is_sha256(sha256)) return bad_input("'" + sha256 + "' is no SHA-256");
  const std::string path = directory_ + "/" + sha256, part = path + ".new";
  if (has(sha256)) return uint64_t{0};
  STAB_CHECK_OK(seal(room));
  struct stat info;
  if (::fstat(room, &info) != 0) return system_error("stat a binary", errno);
  STAB_CHECK_OK(make_directories(directory_));
  ::chmod(directory_.c_str(), 0711);  // run by who knows the hash, listed by nobody
  Status done = copy_checked(room, static_cast<uint64_t>(info.st_size), part, sha256);
  if (done && ::stat(part.c_str(), &info) != 0) done = system_error("stat '" + part + "'", errno);
  if (done && ::rename(part.c_str(), path.c_str()) != 0) done = system_error("rename '" + part + "'", errno);
  if (done) return static_cast<uint64_t>(info.st_blocks) * 512;
  ::unlink(part.c_str());
  return done.error();
}

Result<std::string> Archive::find(const std::string& sha256) const {
  const std::string path = directory_ + "/" + sha256;
  if (!has(sha256))
    return Error{ErrorCode::kNotFound, "the binary " + sha256 + " is not archived, or retention has removed it", {}};
  STAB_TRY(const std::string content, worker::sha256_of_file(path));
  if (content != sha256) return Error{ErrorCode::kCorrupt, "archived binary '" + path + "' is damaged; remove it", {}};
  return path;
}

}  // namespace stab::engine
