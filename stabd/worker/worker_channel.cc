// Room for one descriptor: those beyond are never installed, and their packet says that it was cut.
#include "stabd/worker/worker_channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "stabd/worker/worker_wire.h"

namespace stab::worker {
namespace {

union Control {
  cmsghdr align;
  char room[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Status send_packet(int socket, std::string_view bytes, int fd) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return system_error("send a packet", errno);
  return {};
}

Result<Packet> receive_packet(int socket) {
  // Kept: made and cleared for each packet, it would cost more than all the rest.
  static thread_local std::string room(kMaxPacketBytes, '\0');
  Packet packet;
  iovec piece{room.data(), room.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.room;
  message.msg_controllen = CMSG_LEN(sizeof(int));  // the alignment behind it would be room for another
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Error{ErrorCode::kBusy, "no packet is there", {}};
  if (got < 0 && errno != ECONNRESET) return system_error("receive a packet", errno);
  if (got <= 0) {
    packet.ended = true;
    return packet;
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
      continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    packet.fd.reset(fd);
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return Error{ErrorCode::kCorrupt, "a packet that is too long, or came with more than one descriptor", {}};
  packet.bytes.assign(room.data(), static_cast<size_t>(got));
  return packet;
}

}  // namespace stab::worker
