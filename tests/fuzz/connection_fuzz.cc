// Bytes of a deputy or a worker, as files of a spool: whatever comes, what is put has a plain name, no more bytes than it may and
// the hash that was said; the same bytes give the same files; and names that parse are written again as they were.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "stabd/engine/machines/connection.h"
#include "stabd/worker/sha256.h"

namespace {

using namespace stab;
using namespace stab::engine;

constexpr uint64_t kMostBytes = 4096;

void demand(bool condition) {
  if (!condition) std::abort();
}

using Files = std::vector<std::pair<std::string, std::string>>;

Files received(const uint8_t* data, size_t size) {
  const UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
  demand(file && ::write(file.get(), data, size) == static_cast<ssize_t>(size) && ::lseek(file.get(), 0, SEEK_SET) == 0);
  Files files;
  const Status status = receive_files(file.get(), kMostBytes, [&](const std::string& name, const std::string& content) {
    demand(!name.empty() && name[0] != '.' && name.find('/') == std::string::npos && name.size() <= 200);
    demand(content.size() <= kMostBytes);
    files.emplace_back(name, content);
    return files.size() < 100 ? Status() : Status(Error{ErrorCode::kBusy, "enough", {}});
  });
  demand(status || !status.error().message.empty());
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Files files = received(data, size);
  demand(files == received(data, size));
  // What was received and is sent again comes as it was.
  const UniqueFd again(::memfd_create("again", MFD_CLOEXEC));
  FileSender sender(again.get());
  for (const auto& [name, content] : files) demand(sender.send_bytes(name, content).ok());
  std::string bytes(static_cast<size_t>(::lseek(again.get(), 0, SEEK_CUR)), '\0');
  demand(::pread(again.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  demand(files.size() >= 100 || received(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) == files);
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto file = parse_slot_file(text)) demand(slot_file(file->slot, file->epoch, file->what) == text);
  if (const auto part = parse_part_file(text)) demand(part_file(*part) == text);
  if (const auto note = unsealed(text)) demand(sealed(*note) == text);
  return 0;
}
