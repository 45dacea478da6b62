// One short function a request. What is read is as long as it says it is and no longer than the request allows, so that
// neither a huge empty file nor one that grows keeps the worker until its time is over.
#include "stabd/worker/answers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <filesystem>
#include <new>

#include "base/clock.h"
#include "base/own_libraries.h"
#include "plan/metrics/cachegrind.h"
#include "plan/metrics/metrics.h"
#include "plan/pattern.h"
#include "stabd/worker/copy.h"
#include "stabd/worker/empty_directory.h"
#include "stabd/worker/measure.h"
#include "stabd/worker/named_file.h"
#include "stabd/worker/sha256.h"
#include "stabd/worker/tree_hash.h"

namespace stab::worker {
namespace {

bool may_access(const std::string& path, int mode) { return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0; }

// Its index, or their number.
size_t first_of(const std::vector<std::string>& paths, int mode) {
  size_t i = 0;
  while (i < paths.size() && !may_access(paths[i], mode)) ++i;
  return i;
}

Result<Hash::Answer> hash(const std::string& path, uint64_t max_bytes) {
  STAB_TRY(const UniqueFd file, open_regular_file(path));
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return system_error("stat '" + path + "'", errno);
  const uint64_t bytes = static_cast<uint64_t>(info.st_size);
  if (bytes > max_bytes)
    return bad_input("'" + path + "' has " + std::to_string(bytes) + " bytes, holes counted; at most " + size_words(max_bytes) +
                     " are hashed");
  // A file of the kernel says that it is empty.
  STAB_TRY(std::string sha256, sha256_of_fd(file.get(), bytes == 0 ? max_bytes : bytes));
  return Hash::Answer{std::move(sha256), bytes};
}

// The first bytes of a file in memory, without reading them there. Who makes it shorter meanwhile ends the worker.
class Mapped {
 public:
  Mapped(int fd, uint64_t bytes) : bytes_(bytes) {
    if (bytes > 0) at_ = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  ~Mapped() {
    if (at_ != MAP_FAILED) ::munmap(at_, bytes_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  bool ok() const { return bytes_ == 0 || at_ != MAP_FAILED; }
  std::string_view text() const {
    return bytes_ == 0 ? std::string_view() : std::string_view(static_cast<const char*>(at_), bytes_);
  }

 private:
  void* at_ = MAP_FAILED;
  size_t bytes_;
};

template <class Request>
bool take(std::string_view packet, Header header, UniqueFd& passed, void (*begin)(std::chrono::seconds), std::string& out) {
  Request request;
  if (header.kind != static_cast<uint32_t>(Request::kKind) || !decode_request(packet, request)) return false;
  begin(Request::kLimit);
  header.error = 0;
  try {
    auto done = answer(request, passed);
    out = done ? encode_answer(header, *done) : encode_error(header, done.error());
  } catch (const std::bad_alloc&) {
    out = encode_error(header, {ErrorCode::kSystem, std::string(Request::kWords) + ": more memory than a worker may have", {}});
  } catch (const std::exception& thrown) {
    out = encode_error(header, {ErrorCode::kSystem, std::string(Request::kWords) + ": " + thrown.what(), {}});
  }
  return true;
}

}  // namespace

Result<Look::Answer> answer(const Look& request, UniqueFd&) {
  Look::Answer seen;
  struct stat info;
  if (::stat(request.path.c_str(), &info) != 0) return seen;
  const FileType type = S_ISREG(info.st_mode)   ? FileType::kRegular
                        : S_ISDIR(info.st_mode) ? FileType::kDirectory
                                                : FileType::kOther;
  seen.type = static_cast<uint32_t>(type);
  seen.executable = may_access(request.path, X_OK);
  seen.bytes = static_cast<uint64_t>(info.st_size);
  seen.inode = info.st_ino;
  seen.modified_ns = nanoseconds_of(info.st_mtim).count();
  return seen;
}

Result<Find::Answer> answer(const Find& request, UniqueFd&) {
  const size_t found = first_of(request.paths, request.runs ? X_OK : R_OK);
  if (found == request.paths.size()) return Error{ErrorCode::kNotFound, "none of them", {}};
  return Find::Answer{static_cast<uint32_t>(found)};
}

Result<Open::Answer> answer(const Open& request, UniqueFd& fd) {
  const size_t found = first_of(request.paths, R_OK);
  if (found == request.paths.size()) {
    std::string words = "stdin: none of these exists, or may be read:";
    for (const std::string& path : request.paths) words += " '" + path + "'";
    return Error{ErrorCode::kNotFound, words, {}};
  }
  STAB_TRY(fd, open_input(request.paths[found]));
  return Done();
}

Result<Hash::Answer> answer(const Hash& request, UniqueFd&) { return hash(request.path, request.max_bytes); }

Result<HashTree::Answer> answer(const HashTree& request, UniqueFd&) {
  Budget budget(request.most, "the source");
  STAB_TRY(std::string sha256, hash_of_tree(request.root, budget));
  return HashTree::Answer{std::move(sha256), budget.taken().bytes};
}

Result<CopyTree::Answer> answer(const CopyTree& request, UniqueFd&) {
  Budget budget(request.most, "the source");
  STAB_CHECK_OK(copy(request.from, request.to, Links::kKept, budget));
  return budget.taken();
}

Result<Fill::Answer> answer(const Fill& request, UniqueFd&) {
  if (!request.below.empty()) {
    std::error_code error;
    std::filesystem::create_directories(request.directory + "/" + request.below, error);
    if (error) return system_error("create directory '" + request.below + "' for the trial", error.value());
  }
  Budget budget(request.most, "the inputs of a trial");
  for (const Fill::Input& input : request.inputs) {
    const size_t found = first_of(input.paths, R_OK);
    if (found == input.paths.size())
      return Error{ErrorCode::kNotFound, "input '" + input.name + "' does not exist, or may not be read", {}};
    STAB_CHECK_OK(budget.take_file(input.paths[found]));
    if (const Status copied = copy(input.paths[found], request.directory + "/" + input.target, Links::kFollowed, budget); !copied)
      return Error{copied.error().code, "input '" + input.name + "': " + copied.error().message, {}};
  }
  return budget.taken();
}

Result<CheckFiles::Answer> answer(const CheckFiles& request, UniqueFd&) {
  uint64_t left = request.max_bytes;
  for (size_t i = 0; i < request.files.size(); ++i) {
    const CheckFiles::File& file = request.files[i];
    const Result<Hash::Answer> found = hash(request.directory + "/" + file.path, left);
    if (!found) return Error{found.error().code, "expected file '" + file.path + "': " + found.error().message, {}};
    if (found->sha256 != file.sha256) return CheckFiles::Answer{true, static_cast<uint32_t>(i), found->sha256};
    left -= found->bytes;
  }
  return CheckFiles::Answer();
}

Result<HashOutput::Answer> answer(const HashOutput& request, UniqueFd& fd) {
  const UniqueFd output = std::move(fd);
  STAB_TRY(std::string sha256, sha256_of_fd(output.get(), request.bytes));
  return HashOutput::Answer{std::move(sha256), request.bytes};
}

Result<Match::Answer> answer(const Match& request, UniqueFd& fd) {
  const UniqueFd output = std::move(fd);
  const Mapped mapped(output.get(), request.bytes);
  if (!mapped.ok()) return system_error("map " + size_words(request.bytes) + " of output", errno);
  STAB_TRY(const bool matches, plan::matches(mapped.text(), request.pattern));
  return Match::Answer{matches};
}

Result<CopyFile::Answer> answer(const CopyFile& request, UniqueFd& fd) {
  const UniqueFd to = std::move(fd);
  STAB_TRY(const UniqueFd from, open_regular_file(request.path));
  STAB_CHECK_OK(copy_bytes(from.get(), to.get(), request.bytes));
  return Done();
}

Result<Empty::Answer> answer(const Empty& request, UniqueFd&) {
  STAB_CHECK_OK(empty_directory(request.path));
  return Done();
}

// Read, not mapped: whoever makes the file shorter meanwhile gets his trial refused, and the worker goes on.
Result<std::string> read_whole(int file, size_t most) {
  struct stat info;
  if (::fstat(file, &info) != 0) return system_error("stat the metrics", errno);
  if (static_cast<uint64_t>(info.st_size) > most)
    return bad_input(std::to_string(info.st_size) + " bytes, holes counted; at most " + size_words(most) + " are read");
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::pread(file, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got < 0) return system_error("read the metrics", errno);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  return text;
}

Result<ReadSimulated::Answer> answer(const ReadSimulated& request, UniqueFd&) {
  STAB_TRY(const UniqueFd file, open_regular_file(request.path));
  STAB_TRY(const std::string text, read_whole(file.get(), metrics::kMostCachegrindBytes));
  STAB_TRY(const auto sums, metrics::read_cachegrind(text));
  ReadSimulated::Answer out;
  for (const auto& [event, count] : sums) out.rows.push_back({event, count});
  return out;
}

namespace {

// Of the descriptor, of a file, or of the folder where the tool leaves its results.
Result<std::vector<metrics::Metric>> metrics_of(const ReadMetrics& request, const metrics::Format& format, UniqueFd file) {
  struct stat info {};
  const bool named = !request.path.empty();
  if (named && format.own_kind != metrics::OwnPlace::kFile && ::lstat(request.path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return metrics::read_own_place(format, request.path);
  if (named) {
    STAB_TRY(file, open_regular_file(request.path));
  }
  STAB_TRY(const std::string text, read_whole(file.get(), metrics::kMostBytes));
  return metrics::read(format, text);
}

}  // namespace

Result<ReadMetrics::Answer> answer(const ReadMetrics& request, UniqueFd& fd) {
  UniqueFd file = std::move(fd);
  const metrics::Format* format = metrics::format_named(request.format);
  if (format == nullptr) return bad_input("metrics have no format '" + request.format + "'");
  STAB_TRY(const std::vector<metrics::Metric> found, metrics_of(request, *format, std::move(file)));
  ReadMetrics::Answer out;
  out.total = static_cast<uint32_t>(found.size());
  size_t bytes = 256;
  for (size_t i = request.first; i < found.size(); ++i) {
    const metrics::Metric& metric = found[i];
    bytes += metric.name.size() + metric.reason.size() + 16;
    if (bytes > kMaxPacketBytes) break;
    out.rows.push_back({metric.name, metric.reason, std::bit_cast<uint64_t>(metric.seconds.value_or(0))});
  }
  return out;
}

Result<Measure::Answer> answer(const Measure& request, UniqueFd&) { return measure(request.path, request.max_files); }

Result<ReadAnew::Answer> answer(const ReadAnew& request, UniqueFd&) {
  STAB_TRY(const UniqueFd file, open_regular_file(request.path));
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return system_error("stat '" + request.path + "'", errno);
  if (static_cast<uint64_t>(info.st_size) > request.max_bytes) return Done{};
  if (::fdatasync(file.get()) != 0 || ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) return Done{};
  STAB_CHECK_OK(sha256_of_fd(file.get(), static_cast<uint64_t>(info.st_size)));
  return Done{};
}

Result<OwnLibraries::Answer> answer(const OwnLibraries& request, UniqueFd&) {
  STAB_TRY(std::vector<std::string> paths, own_libraries(request.path, request.search_path, request.directory));
  size_t bytes = 256, count = 0;
  while (count < paths.size() && (bytes += paths[count].size() + 8) <= kMaxPacketBytes) ++count;
  paths.resize(count);
  return OwnLibraries::Answer{std::move(paths)};
}

std::string answer_to(std::string_view packet, UniqueFd& passed, void (*begin)(std::chrono::seconds limit)) {
  Header header;
  Reader reader(packet);
  reader.all(header);
  std::string out;
  if (reader.ok())
    (void)(take<Look>(packet, header, passed, begin, out) || take<Find>(packet, header, passed, begin, out) ||
           take<Open>(packet, header, passed, begin, out) || take<Hash>(packet, header, passed, begin, out) ||
           take<HashTree>(packet, header, passed, begin, out) || take<CopyTree>(packet, header, passed, begin, out) ||
           take<Fill>(packet, header, passed, begin, out) || take<CheckFiles>(packet, header, passed, begin, out) ||
           take<HashOutput>(packet, header, passed, begin, out) || take<Match>(packet, header, passed, begin, out) ||
           take<CopyFile>(packet, header, passed, begin, out) || take<Empty>(packet, header, passed, begin, out) ||
           take<Measure>(packet, header, passed, begin, out) ||
           take<ReadMetrics>(packet, header, passed, begin, out) ||
           take<ReadSimulated>(packet, header, passed, begin, out) || take<ReadAnew>(packet, header, passed, begin, out) ||
           take<OwnLibraries>(packet, header, passed, begin, out));
  return out;
}

}  // namespace stab::worker
