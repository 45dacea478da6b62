// Blocking reads and writes, each on a thread of its own: an end that doesn't read stops nobody but whoever writes to it.
#include "stabd/engine/machines/connection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/unique_fd.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

// A name and two numbers.
constexpr size_t kMostHeadBytes = 512;
// Memory is taken as bytes come: a head alone may claim as many as are allowed.
constexpr size_t kPieceBytes = 1 << 20;

Status write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write to the other end", errno);
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

Result<size_t> read_some(int fd, char* bytes, size_t size) {
  while (true) {
    const ssize_t got = ::read(fd, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read from the other end", errno);
    return static_cast<size_t>(got);
  }
}

Error no_file() {
  return {ErrorCode::kCorrupt, "the other end sends something else than files of a spool", {}};
}

Error too_large(const std::string& name, uint64_t bytes, uint64_t most) {
  return {ErrorCode::kCorrupt,
          "'" + one_line(name) + "' from the other end has " + std::to_string(bytes) + " bytes, and at most " +
              std::to_string(most) +
              " are taken; a block of fewer cells, or one that records no epochs and samples, makes smaller parts",
          {}};
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos && name.size() <= 200;
}

}  // namespace

Status FileSender::send(const std::string& name, const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return system_error("open '" + path + "'", errno);
  STAB_TRY(const std::string sha256, worker::sha256_of_fd(file.get()));
  const std::string head = name + " " + std::to_string(info.st_size) + " " + sha256 + "\n";
  const std::lock_guard<std::mutex> alone(writing_);
  STAB_CHECK_OK(write_all(fd_, head.data(), head.size()));
  std::string buffer(1 << 16, '\0');
  for (off_t left = info.st_size; left > 0;) {
    STAB_TRY(const size_t got, read_some(file.get(), buffer.data(), static_cast<size_t>(std::min<off_t>(left, off_t{1} << 16))));
    if (got == 0) return Error{ErrorCode::kInternal, "'" + path + "' became shorter while it was sent", {}};
    STAB_CHECK_OK(write_all(fd_, buffer.data(), got));
    left -= static_cast<off_t>(got);
  }
  return {};
}

Status FileSender::send_bytes(const std::string& name, std::string_view bytes) {
  const std::string head = name + " " + std::to_string(bytes.size()) + " " + worker::sha256(std::string(bytes)) + "\n";
  const std::lock_guard<std::mutex> alone(writing_);
  STAB_CHECK_OK(write_all(fd_, head.data(), head.size()));
  return write_all(fd_, bytes.data(), bytes.size());
}

PutFile into(Spool& spool, std::function<bool(const std::string& name)> takes) {
  return [&spool, takes = std::move(takes)](const std::string& name, const std::string& content) {
    return takes(name) ? spool.put(name, content) : Status();
  };
}

Status receive_files(int fd, uint64_t most_bytes, const PutFile& put) {
  while (true) {
    std::string head;
    for (char c = 0;;) {
      STAB_TRY(const size_t got, read_some(fd, &c, 1));
      if (got == 0) return head.empty() ? Status() : Status(no_file());
      if (c == '\n') break;
      head += c;
      if (head.size() > kMostHeadBytes) return no_file();
    }
    const size_t first = head.find(' '), second = head.rfind(' ');
    if (first == std::string::npos || second == first) return no_file();
    const std::string name = head.substr(0, first), sha256 = head.substr(second + 1);
    uint64_t bytes = 0;
    const auto [end, code] = std::from_chars(head.data() + first + 1, head.data() + second, bytes);
    if (code != std::errc() || end != head.data() + second) return no_file();
    if (!worker::is_sha256(sha256) || !is_plain_name(name)) return no_file();
    if (bytes > most_bytes) return too_large(name, bytes, most_bytes);
    std::string content;
    for (size_t at = 0; at < bytes;) {
      if (at == content.size()) content.resize(std::min<uint64_t>(bytes, at + kPieceBytes));
      STAB_TRY(const size_t got, read_some(fd, content.data() + at, content.size() - at));
      if (got == 0) return Status();  // cut off: nobody has it
      at += got;
    }
    if (worker::sha256(content) != sha256) return no_file();
    STAB_CHECK_OK(put(name, content));
  }
}

}  // namespace stab::engine
