#include "base/message_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace stab {
namespace {

// Room for descriptors, aligned as the kernel wants it.
union Beside {
  cmsghdr header;
  char bytes[CMSG_SPACE(kMostMessageDescriptors * sizeof(int))];
};

std::vector<UniqueFd> descriptors_beside(msghdr& message) {
  std::vector<UniqueFd> all;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      all.emplace_back(fd);
    }
  }
  return all;
}

}  // namespace

Status send_message(int socket, std::string_view bytes, const std::vector<int>& descriptors) {
  if (descriptors.size() > kMostMessageDescriptors)
    return Error{ErrorCode::kInternal, "more descriptors than a message takes", {}};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  Beside beside;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = beside.bytes;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    std::memset(beside.bytes, 0, sizeof beside.bytes);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  }
  ssize_t put = 0;
  do {
    put = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (put < 0 && errno == EINTR);
  if (put == static_cast<ssize_t>(bytes.size())) return {};
  if (put < 0 && (errno == EPIPE || errno == ECONNRESET)) return Error{ErrorCode::kUnavailable, "the other side is gone", {}};
  return system_error("send a message", put < 0 ? errno : EMSGSIZE);
}

Result<Message> receive_message(int socket, size_t most_bytes, std::chrono::milliseconds patience, size_t most_descriptors) {
  pollfd waiting{socket, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return Error{ErrorCode::kBusy, "no message after " + std::to_string(patience.count() / 1000) + " s", {}};

  // Kept: made and cleared for each message, it would cost more than all the rest.
  static thread_local std::string room;
  if (room.size() < most_bytes) room.resize(most_bytes);
  Message received;
  iovec part{room.data(), most_bytes};
  Beside beside;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = beside.bytes;
  // Without the alignment behind them, which would be room for one more.
  message.msg_controllen = CMSG_LEN(std::min(most_descriptors, kMostMessageDescriptors) * sizeof(int));
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno != ECONNRESET) return system_error("receive a message", errno);
  received.descriptors = descriptors_beside(message);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return Error{ErrorCode::kCorrupt, "a message is too long, or has too many descriptors", {}};
  received.bytes.assign(room.data(), static_cast<size_t>(got < 0 ? 0 : got));
  return received;
}

}  // namespace stab
