#include "stabd/broker/sealed_command.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/broker/wire/broker_wire.h"
#include "stabd/host/launch.h"
#include "stabd/host/launcher/launch_block.h"

namespace stab::broker {
namespace {

// Copied before it is looked at; sealed, so that it is memory and no file that makes us wait.
Result<std::string> read_command(int fd) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals)
    return Error{ErrorCode::kDenied, "launch: the command is not in sealed memory", {}};
  struct stat info;
  if (::fstat(fd, &info) != 0) return system_error("launch: look at the command", errno);
  if (info.st_size < 0 || static_cast<uint64_t>(info.st_size) > kMostCommandBytes)
    return bad_input("the command and its environment take " + std::to_string(info.st_size) +
                     " bytes; at most 8 MiB can be started");
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  if (::pread(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return system_error("launch: read the command", errno);
  return bytes;
}

// And nothing behind them.
bool is_command(const std::string& bytes, size_t words) {
  launch::BlockReader reader(bytes.data(), bytes.size());
  const char* text = nullptr;
  for (size_t i = 0; i < words + host::kCommandStrings; ++i)
    if (!reader.take_string(text)) return false;
  return reader.at_end();
}

}  // namespace

Result<std::string> read_sealed_command(int fd, size_t words) {
  STAB_TRY(std::string command, read_command(fd));
  if (!is_command(command, words)) return Error{ErrorCode::kCorrupt, "launch: the command is not one", {}};
  return command;
}

}  // namespace stab::broker
