// What is copied is somebody else's: its files may be huge and empty, lead in a circle, be no files at all, or change
// meanwhile. So each counts by the size that it claims before a byte is copied, no more is copied than that, and what is
// neither file, directory nor link is refused. Depth is bounded by that of a path.
#include "stabd/worker/copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "stabd/worker/named_file.h"

namespace stab::worker {
namespace {

constexpr size_t kPieceBytes = 256 << 10;

Status copy_piece(int from, int to, off_t at, off_t end) {
  std::vector<char> buffer(kPieceBytes);
  while (at < end) {
    const ssize_t got = ::pread(from, buffer.data(), std::min(buffer.size(), static_cast<size_t>(end - at)), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", errno);
    if (got == 0) return Error{ErrorCode::kCorrupt, "it became shorter while it was copied", {}};
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::pwrite(to, buffer.data() + done, static_cast<size_t>(got - done), at + done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return system_error("write", errno);
      done += put;
    }
    at += got;
  }
  return {};
}

// A file that says it is empty may be one of the kernel's: its bytes come with reading.
Status copy_unsized(int from, int to, const std::string& path, Budget& budget) {
  std::vector<char> buffer(kPieceBytes);
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(from, buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read '" + path + "'", errno);
    if (got == 0) return {};
    STAB_CHECK_OK(budget.take_bytes(path, static_cast<uint64_t>(got)));
    if (::pwrite(to, buffer.data(), static_cast<size_t>(got), at) != got) return system_error("copy '" + path + "'", errno);
    at += got;
  }
}

Status copy_file(const std::string& from, const std::string& to, Budget& budget) {
  STAB_TRY(const UniqueFd in, open_regular_file(from));
  struct stat info;
  if (::fstat(in.get(), &info) != 0) return system_error("stat '" + from + "'", errno);
  STAB_CHECK_OK(budget.take_bytes(from, static_cast<uint64_t>(info.st_size)));
  const UniqueFd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!out) return system_error("create '" + to + "'", errno);
  if (info.st_size == 0) {
    STAB_CHECK_OK(copy_unsized(in.get(), out.get(), from, budget));
  } else if (const Status done = copy_bytes(in.get(), out.get(), static_cast<uint64_t>(info.st_size)); !done) {
    return Error{done.error().code, "copy '" + from + "': " + done.error().message, {}};
  }
  if (::fchmod(out.get(), info.st_mode & 0777) != 0) return system_error("chmod '" + to + "'", errno);
  return {};
}

Status copy_link(const std::string& from, const std::string& to) {
  char target[4096];
  const ssize_t bytes = ::readlink(from.c_str(), target, sizeof target - 1);
  if (bytes < 0) return system_error("read link '" + from + "'", errno);
  target[bytes] = '\0';
  ::unlink(to.c_str());  // of a worker that ended halfway
  if (::symlink(target, to.c_str()) != 0) return system_error("create link '" + to + "'", errno);
  return {};
}

Status copy_directory(const std::string& from, const std::string& to, mode_t mode, Links links, Budget& budget) {
  const bool made = ::mkdir(to.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return system_error("create directory '" + to + "'", errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(from.c_str()), ::closedir);
  if (!open) return system_error("read directory '" + from + "'", errno);
  // All names first: what is made in the same place meanwhile would have no end.
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    STAB_CHECK_OK(budget.take_file(from + "/" + name));
    names.push_back(name);
  }
  for (const std::string& name : names) STAB_CHECK_OK(copy(from + "/" + name, to + "/" + name, links, budget));
  // Last: it may be one that nothing can be made in.
  if (made && ::chmod(to.c_str(), mode & 0777) != 0) return system_error("chmod '" + to + "'", errno);
  return {};
}

}  // namespace

std::string size_words(uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30, " GiB"}, std::pair{20, " MiB"}})
    if (bytes >= uint64_t{1} << shift && bytes % (uint64_t{1} << shift) == 0) return std::to_string(bytes >> shift) + unit;
  return std::to_string(bytes) + " bytes";
}

Status Budget::take_file(const std::string& path) {
  if (taken_.files == most_.files)
    return bad_input("'" + path + "' makes " + what_ + " more than " + std::to_string(most_.files) +
                     " files: leave it out, or let 'prepare' fetch it");
  ++taken_.files;
  return {};
}

Status Budget::take_bytes(const std::string& path, uint64_t bytes) {
  if (bytes > most_.bytes - taken_.bytes)
    return bad_input("'" + path + "' makes " + what_ + " more than " + size_words(most_.bytes) +
                     ", holes in files counted: leave it out, or let 'prepare' fetch it");
  taken_.bytes += bytes;
  return {};
}

Status copy_bytes(int from, int to, uint64_t bytes) {
  const off_t all = static_cast<off_t>(bytes);
  if (::ftruncate(to, all) != 0) return system_error("make room for a copy", errno);
  for (off_t at = 0; at < all;) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // a hole up to the end, or the end
    const bool knows_holes = data >= 0;
    off_t end = knows_holes ? ::lseek(from, data, SEEK_HOLE) : all;
    if (end < 0 || end > all) end = all;
    STAB_CHECK_OK(copy_piece(from, to, knows_holes ? data : at, end));
    at = end;
  }
  struct stat info;
  if (::fstat(from, &info) != 0 || info.st_size < all)
    return Error{ErrorCode::kCorrupt, "it became shorter while it was copied", {}};
  return {};
}

Status copy(const std::string& from, const std::string& to, Links links, Budget& budget) {
  struct stat info;
  const int failed = links == Links::kKept ? ::lstat(from.c_str(), &info) : ::stat(from.c_str(), &info);
  if (failed != 0) return system_error("stat '" + from + "'", errno);
  if (S_ISDIR(info.st_mode)) return copy_directory(from, to, info.st_mode, links, budget);
  if (S_ISLNK(info.st_mode)) return copy_link(from, to);
  return copy_file(from, to, budget);
}

}  // namespace stab::worker
