#include "analysis/commands/table/csv_text.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/named_input.h"
#include "base/unique_fd.h"

namespace stab::commands {

CsvText::CsvText(CsvText&& other) noexcept
    : name_(std::move(other.name_)),
      owned_(std::move(other.owned_)),
      mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      text_(mapped_ ? other.text_ : std::string_view(owned_)) {}

CsvText::~CsvText() {
  if (mapped_) ::munmap(mapped_, mapped_bytes_);
}

CsvText CsvText::of(std::string text, std::string name) {
  CsvText csv;
  csv.name_ = std::move(name);
  csv.owned_ = std::move(text);
  csv.text_ = csv.owned_;
  return csv;
}

Result<CsvText> CsvText::open(const std::string& path) {
  auto named = open_named_input(path);
  if (!named && named.error().code == ErrorCode::kBadInput) return bad_input(named.error().message + ", not a CSV file");
  STAB_TRY(const UniqueFd file, std::move(named));
  const int fd = file.get();
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_error("stat '" + path + "'", errno);
  CsvText csv;
  csv.name_ = path == "-" ? "standard input" : path;
  if (S_ISREG(status.st_mode) && status.st_size > 0 && path != "-") {
    csv.mapped_bytes_ = static_cast<size_t>(status.st_size);
    void* mapped = ::mmap(nullptr, csv.mapped_bytes_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (mapped == MAP_FAILED) return system_error("map '" + path + "'", errno);
    csv.mapped_ = mapped;
    csv.text_ = {static_cast<const char*>(mapped), csv.mapped_bytes_};
    return csv;
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read '" + path + "'", errno);
    if (got == 0) break;
    if (std::memchr(buffer, 0, static_cast<size_t>(got))) return bad_input("'" + path + "' is no text, it holds a zero byte");
    csv.owned_.append(buffer, static_cast<size_t>(got));
  }
  csv.text_ = csv.owned_;
  return csv;
}

}  // namespace stab::commands
