// How a file gets there: a hidden name that nobody else draws, fsync, rename, fsync of the directory. All of it below the
// descriptor.
#include "stabd/engine/machines/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "base/clock.h"
#include "base/trusted_folder.h"
#include "stabd/engine/separation/places.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

constexpr char kAside[] = "aside";

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write into the spool", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

std::string fresh_name() {
  uint64_t random[2] = {};
  [[maybe_unused]] const ssize_t got = ::getrandom(random, sizeof random, 0);
  char text[48];
  std::snprintf(text, sizeof text, ".new-%016llx%016llx", static_cast<unsigned long long>(random[0]),
                static_cast<unsigned long long>(random[1]));
  return text;
}

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::string slot_file(int slot, int64_t epoch, std::string_view what) {
  char head[48];
  std::snprintf(head, sizeof head, "slot-%03d.epoch-%04lld.", slot, static_cast<long long>(epoch));
  return head + std::string(what);
}

std::optional<SlotFile> parse_slot_file(std::string_view name) {
  SlotFile file;
  const std::string whole(name);
  if (!take_word(name, "slot-") || !take_number(name, file.slot) || !take_word(name, ".epoch-") ||
      !take_number(name, file.epoch) || !take_word(name, ".") || file.slot < 0 || file.epoch < 1)
    return {};
  file.what = name;
  if (slot_file(file.slot, file.epoch, file.what) != whole) return {};  // one name for one thing
  return file;
}

std::string part_file(const PartFile& part) {
  char head[48];
  std::snprintf(head, sizeof head, "part-%06d.%u.", part.number, part.block);
  return head + part.sha256;
}

std::optional<PartFile> parse_part_file(std::string_view what) {
  PartFile part;
  const std::string whole(what);
  if (!take_word(what, "part-") || !take_number(what, part.number) || !take_word(what, ".") || !take_number(what, part.block) ||
      !take_word(what, ".") || !worker::is_sha256(what) || part.number < 0)
    return {};
  part.sha256 = what;
  if (part_file(part) != whole) return {};
  return part;
}

std::string sealed(const std::string& text) {
  return text + "\n" + worker::sha256(text) + "\n";
}

std::optional<std::string> unsealed(std::string_view bytes) {
  constexpr size_t kSeal = 66;  // a newline before and after 64 digits
  if (bytes.size() < kSeal || bytes.back() != '\n' || bytes[bytes.size() - kSeal] != '\n') return {};
  std::string text(bytes.substr(0, bytes.size() - kSeal));
  if (worker::sha256(text) != bytes.substr(bytes.size() - kSeal + 1, 64)) return {};
  return text;
}

namespace {

// What is in a spool is run: grants name binaries, and results come back as parts. Others who can write into it decide both.
Status check_is_ours_alone(int fd, const std::string& directory) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return system_error("open spool '" + directory + "'", errno);
  if (info.st_uid != ::geteuid())
    return Error{ErrorCode::kDenied,
                 "spool '" + directory + "' belongs to user " + std::to_string(info.st_uid) +
                     ", who could have other programs run by it; give a directory of your own",
                 {}};
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error{ErrorCode::kDenied,
                 "others can write into spool '" + directory + "', and could have other programs run by it; use chmod go-w '" +
                     directory + "'",
                 {}};
  return {};
}

}  // namespace

Result<Spool> Spool::open(const std::string& directory) {
  const std::string above = std::filesystem::path(directory).parent_path().string();
  if (!above.empty()) STAB_CHECK_OK(make_directories(above));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make spool '" + directory + "'", errno);
  Result<UniqueFd> folder = open_trusted_folder(directory, {});
  if (!folder) return Error{folder.error().code, "spool: " + folder.error().message, {}};
  STAB_CHECK_OK(check_is_ours_alone(folder->get(), directory));
  if (::mkdirat(folder->get(), kAside, 0700) != 0 && errno != EEXIST)
    return system_error("make spool '" + directory + "/" + kAside + "'", errno);
  if (::faccessat(folder->get(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    return Error{ErrorCode::kDenied, "spool '" + directory + "' can't be written to; give another directory", {}};
  return Spool(directory, *std::move(folder));
}

Status Spool::finish(const std::string& part, const std::string& name, Status written) {
  if (written && ::renameat(folder(), part.c_str(), folder(), name.c_str()) != 0)
    written = system_error("rename into spool '" + directory_ + "'", errno);
  if (!written) {
    ::unlinkat(folder(), part.c_str(), 0);
    return Error{written.error().code,
                 written.error().message + "; the spool '" + directory_ + "' needs room and write access, then it goes on",
                 {}};
  }
  if (::fsync(folder()) != 0) return system_error("sync spool '" + directory_ + "'", errno);
  if (listener_) listener_(name, path_of(name));
  return {};
}

Status Spool::write_new(const std::string& part, std::string_view bytes) const {
  const UniqueFd file(::openat(folder(), part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return system_error("make '" + path_of(part) + "'", errno);
  STAB_CHECK_OK(write_all(file.get(), bytes));
  if (::fsync(file.get()) != 0) return system_error("sync '" + path_of(part) + "'", errno);
  return {};
}

Status Spool::put(const std::string& name, std::string_view bytes) {
  const std::string part = fresh_name();
  return finish(part, name, write_new(part, bytes));
}

Status Spool::put_copy(const std::string& name, const std::string& path) {
  const std::string part = fresh_name();
  const Status written = [&]() -> Status {
    const UniqueFd from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from) return system_error("open '" + path + "'", errno);
    const UniqueFd file(::openat(folder(), part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return system_error("make '" + path_of(part) + "'", errno);
    std::string buffer(1 << 20, '\0');
    while (true) {
      const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error("read '" + path + "'", errno);
      if (got == 0) break;
      STAB_CHECK_OK(write_all(file.get(), std::string_view(buffer).substr(0, static_cast<size_t>(got))));
    }
    if (::fsync(file.get()) != 0) return system_error("sync '" + path_of(part) + "'", errno);
    return {};
  }();
  return finish(part, name, written);
}

Status Spool::put_note(const std::string& name, const std::string& text) {
  const std::string note = sealed(text);
  if (note.size() > kMostNoteBytes)
    return bad_input("note '" + name + "' would have " + std::to_string(note.size()) + " bytes, and a note has at most " +
                     std::to_string(kMostNoteBytes));
  return put(name, note);
}

Result<std::optional<std::string>> Spool::note(const std::string& name) const {
  using Text = std::optional<std::string>;
  // Of a pipe nobody waits for the other end.
  const UniqueFd file(::openat(folder(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  // A file server that restarts forgets handles; the next look finds it again.
  if (!file && (errno == ENOENT || errno == ESTALE)) return Text();
  if (!file) return system_error("open '" + path_of(name) + "'", errno);
  std::string bytes;
  char buffer[4096];
  while (bytes.size() <= kMostNoteBytes) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ESTALE) return Text();
    if (got < 0) return system_error("read '" + path_of(name) + "'", errno);
    if (got == 0) return unsealed(bytes);
    bytes.append(buffer, static_cast<size_t>(got));
  }
  return Text();
}

// link(2) is the one step that fails for all but the first, on every file system.
Result<bool> Spool::claim(const std::string& name, const std::string& text) {
  const std::string part = fresh_name();
  if (const Status written = write_new(part, sealed(text)); !written) {
    ::unlinkat(folder(), part.c_str(), 0);
    return written.error();
  }
  const bool first = ::linkat(folder(), part.c_str(), folder(), name.c_str(), 0) == 0;
  const int code = errno;
  ::unlinkat(folder(), part.c_str(), 0);
  if (!first && code != EEXIST) return system_error("claim '" + path_of(name) + "'", code);
  if (first && listener_) listener_(name, path_of(name));
  return first;
}

Result<std::vector<std::string>> Spool::names() const {
  UniqueFd again(::openat(folder(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* directory = again ? ::fdopendir(again.get()) : nullptr;
  if (directory == nullptr) return system_error("list spool '" + directory_ + "'", errno);
  (void)again.release();  // the stream's now
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory))
    if (entry->d_name[0] != '.' && std::string_view(entry->d_name) != kAside) names.emplace_back(entry->d_name);
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

bool Spool::has(const std::string& name) const {
  return ::faccessat(folder(), name.c_str(), F_OK, 0) == 0;
}

std::optional<FileSign> Spool::sign_of(const std::string& name) const {
  struct stat info {};
  if (::fstatat(folder(), name.c_str(), &info, 0) != 0) return {};
  return FileSign{info.st_ino, static_cast<uint64_t>(info.st_size), nanoseconds_of(info.st_ctim).count()};
}

Status Spool::remove(const std::string& name) {
  if (::unlinkat(folder(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return system_error("remove '" + path_of(name) + "'", errno);
}

Status Spool::set_aside(const std::string& name) {
  const std::string to = std::string(kAside) + "/" + name;
  if (::renameat(folder(), name.c_str(), folder(), to.c_str()) == 0 || errno == ENOENT) return {};
  return system_error("move '" + path_of(name) + "' aside", errno);
}

}  // namespace stab::engine
