// A name stands for one of three things: a descriptor that is open already, a regular file (or none yet), which is replaced, and
// anything else, which is opened as it is: whoever renames over a device's node has removed the device.
#include "stabctl/terminal/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/unique_fd.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

// As many as the kernel follows.
constexpr int kMostLinks = 40;

// The number of our own descriptor that this link of /proc stands for; -1: it is none.
int descriptor_of(const fs::path& link) {
  std::error_code code;
  const fs::path folder = fs::canonical(link.parent_path().empty() ? "." : link.parent_path(), code);
  if (code || folder != "/proc/" + std::to_string(::getpid()) + "/fd") return -1;
  const std::string name = link.filename().string();
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

Error no_place(const std::string& path, int error) {
  return system_error("write '" + path + "'", error);
}

struct Place {
  fs::path end;         // of the links
  int descriptor = -1;  // not -1: the end is this one of ours
};

Result<Place> follow(const std::string& path) {
  Place place{path};
  std::error_code code;
  for (int links = 0; fs::is_symlink(place.end, code); ++links) {
    if (links == kMostLinks) return no_place(path, ELOOP);
    place.descriptor = descriptor_of(place.end);
    if (place.descriptor >= 0) break;
    const fs::path next = fs::read_symlink(place.end, code);
    if (code) return no_place(path, code.value());
    place.end = place.end.parent_path() / next;  // an absolute one stays as it is
  }
  return place;
}

// 0, or why not.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// Some file systems say when a file is closed that it was not written.
int write_and_close(UniqueFd fd, std::string_view text) {
  const int error = write_all(fd.get(), text);
  return ::close(fd.release()) != 0 && error == 0 ? errno : error;
}

int write_to(UniqueFd fd, std::string_view text) { return fd ? write_and_close(std::move(fd), text) : errno; }

int write_beside(const std::string& text, const std::string& path) {
  const std::string part = path + "." + std::to_string(::getpid()) + ".part";
  UniqueFd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return errno;
  int error = write_and_close(std::move(fd), text);
  if (error == 0 && ::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(part.c_str());
  return error;
}

// Whether a new file may take its place: it is a regular one, or there is none.
bool may_be_replaced(const std::string& path, const fs::path& end) {
  struct stat file {}, at_end {};
  if (::stat(path.c_str(), &file) != 0) return errno == ENOENT;
  // A link of /proc may name a file that was deleted: what is there under its name is another one, or nothing.
  return S_ISREG(file.st_mode) && ::lstat(end.c_str(), &at_end) == 0 && at_end.st_ino == file.st_ino &&
         at_end.st_dev == file.st_dev;
}

}  // namespace

Status check_writable(const std::string& path) {
  STAB_TRY(const Place place, follow(path));
  if (place.descriptor >= 0) return {};
  std::error_code code;
  if (fs::is_directory(path, code)) return no_place(path, EISDIR);
  const bool replaced = may_be_replaced(path, place.end);
  const fs::path folder = place.end.parent_path().empty() ? "." : place.end.parent_path();
  const int refused = replaced ? ::access(folder.c_str(), W_OK | X_OK) : ::access(path.c_str(), W_OK);
  if (refused != 0) return no_place(path, errno);
  return {};
}

Status write_whole(const std::string& text, const std::string& path) {
  STAB_TRY(const Place place, follow(path));
  int error = 0;
  if (place.descriptor >= 0) {
    std::fflush(stdout);
    error = write_to(UniqueFd(::fcntl(place.descriptor, F_DUPFD_CLOEXEC, 0)), text);
  } else if (may_be_replaced(path, place.end)) {
    error = write_beside(text, place.end.string());
  } else {
    error = write_to(UniqueFd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC)), text);
  }
  if (error == 0) return {};
  return no_place(path, error);
}

}  // namespace stab::ctl
