// A binary is copied under a name of its own, hashed on the way, and renamed to its hash only if that is right: a
// crash leaves a ".new" file, which the next put() of the same content overwrites. Copies, not links: whoever owns
// the original may still write to it.
#include "stabd/archive.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/unique_fd.h"
#include "stabd/places.h"
#include "stabd/sha256.h"

namespace stab::engine {
namespace {

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Status copy_all(int from, int to) {
  std::vector<char> buffer(1 << 16);
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(from, buffer.data(), buffer.size(), at);
    if (got < 0) return system_error("read a binary", errno);
    if (got == 0) return {};
    at += got;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, buffer.data() + done, static_cast<size_t>(got - done));
      if (put < 0) return system_error("archive a binary", errno);
      done += put;
    }
  }
}

Status copy_checked(int from, const std::string& part, const std::string& sha256) {
  const UniqueFd to(::open(part.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!to) return system_error("create '" + part + "'", errno);
  STAB_CHECK_OK(copy_all(from, to.get()));
  if (::fchmod(to.get(), 0555) != 0 || ::fsync(to.get()) != 0) return system_error("archive '" + part + "'", errno);
  STAB_TRY(const std::string copied, sha256_of_fd(to.get()));
  if (copied == sha256) return {};
  return Error{ErrorCode::kCorrupt, "a binary changed while it was archived; build it where nobody writes to it", {}};
}

}  // namespace

std::string archive_beside(const std::string& database) { return files_beside(database) + "/archive"; }

Status Archive::put(int from, const std::string& sha256) const {
  if (!is_sha256(sha256)) return bad_input("'" + sha256 + "' is no SHA-256");
  const std::string path = directory_ + "/" + sha256, part = path + ".new";
  if (::access(path.c_str(), F_OK) == 0) return {};
  STAB_CHECK_OK(make_directories(directory_));
  ::chmod(directory_.c_str(), 0711);  // run by who knows the hash, listed by nobody
  Status done = copy_checked(from, part, sha256);
  if (done && ::rename(part.c_str(), path.c_str()) != 0) done = system_error("rename '" + part + "'", errno);
  if (!done) ::unlink(part.c_str());
  return done;
}

Result<std::string> Archive::find(const std::string& sha256) const {
  const std::string path = directory_ + "/" + sha256;
  if (!is_sha256(sha256) || ::access(path.c_str(), F_OK) != 0)
    return Error{ErrorCode::kNotFound, "the binary " + sha256 + " is not archived, or retention has removed it", {}};
  STAB_TRY(const std::string content, sha256_of_file(path));
  if (content != sha256) return Error{ErrorCode::kCorrupt, "archived binary '" + path + "' is damaged; remove it", {}};
  return path;
}

}  // namespace stab::engine
