// sendmsg and recvmsg as raw system calls: this runs in programs before main and in bare clones.
#include "runtime/helper/socket.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/sys.h"

namespace stab::helper {
namespace {

struct Packet {
  msghdr header;
  iovec part;
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int) * kMostDescriptors) + CMSG_SPACE(sizeof(ucred))];
};

void lay_out(Packet& packet, void* bytes, size_t size) {
  memset(&packet, 0, sizeof packet);
  packet.part.iov_base = bytes;
  packet.part.iov_len = size;
  packet.header.msg_iov = &packet.part;
  packet.header.msg_iovlen = 1;
}

bool wait_readable(int socket, int patience_ms) {
  const uint64_t deadline = sys::monotonic_ns() + static_cast<uint64_t>(patience_ms) * 1'000'000u;
  for (;;) {
    const uint64_t now = sys::monotonic_ns();
    if (now >= deadline) return false;
    const timespec left{static_cast<time_t>((deadline - now) / 1'000'000'000u),
                        static_cast<long>((deadline - now) % 1'000'000'000u)};
    pollfd waited{socket, POLLIN, 0};
    const long ready = sys::call(SYS_ppoll, sys::word(&waited), 1, sys::word(&left), 0, 8);
    if (ready > 0) return true;
    if (ready != -EINTR && ready != 0) return false;
  }
}

// Those for which there is no place are closed.
int take_descriptors(cmsghdr& item, int* to) {
  const size_t all = (item.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  int count = 0;
  for (size_t i = 0; i < all; ++i) {
    int fd;
    memcpy(&fd, CMSG_DATA(&item) + i * sizeof fd, sizeof fd);
    if (count < kMostDescriptors)
      to[count++] = fd;
    else
      sys::close(fd);
  }
  return count;
}

}  // namespace

bool send_message(int socket, const void* from, size_t bytes, const int* descriptors, int count) {
  Packet packet;
  lay_out(packet, const_cast<void*>(from), bytes);
  if (count > 0) {
    packet.header.msg_control = packet.ancillary;
    packet.header.msg_controllen = CMSG_SPACE(sizeof(int) * static_cast<size_t>(count));
    cmsghdr* item = CMSG_FIRSTHDR(&packet.header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int) * static_cast<size_t>(count));
    memcpy(CMSG_DATA(item), descriptors, sizeof(int) * static_cast<size_t>(count));
  }
  long sent;
  do sent = sys::call(SYS_sendmsg, socket, sys::word(&packet.header), MSG_NOSIGNAL);
  while (sent == -EINTR);
  return sent == static_cast<long>(bytes);
}

bool receive_message(int socket, void* to, size_t bytes, int patience_ms, int* descriptors, int* count) {
  int sender = 0;
  return receive_signed(socket, to, bytes, patience_ms, descriptors, count, &sender);
}

bool receive_signed(int socket, void* to, size_t bytes, int patience_ms, int* descriptors, int* count, int* sender) {
  if (count != nullptr) *count = 0;
  *sender = 0;
  if (!wait_readable(socket, patience_ms)) return false;
  Packet packet;
  lay_out(packet, to, bytes);
  if (descriptors != nullptr) {
    packet.header.msg_control = packet.ancillary;
    packet.header.msg_controllen = sizeof packet.ancillary;
  }
  long got;
  do got = sys::call(SYS_recvmsg, socket, sys::word(&packet.header), MSG_CMSG_CLOEXEC | MSG_TRUNC);
  while (got == -EINTR);
  if (descriptors != nullptr && got >= 0) {
    for (cmsghdr* item = CMSG_FIRSTHDR(&packet.header); item != nullptr; item = CMSG_NXTHDR(&packet.header, item)) {
      if (item->cmsg_level != SOL_SOCKET) continue;
      if (item->cmsg_type == SCM_CREDENTIALS && item->cmsg_len == CMSG_LEN(sizeof(ucred))) {
        ucred from;
        memcpy(&from, CMSG_DATA(item), sizeof from);
        *sender = from.pid > 0 ? from.pid : 0;
      }
      if (item->cmsg_type != SCM_RIGHTS) continue;
      *count = take_descriptors(*item, descriptors);
    }
  }
  return got == static_cast<long>(bytes);
}

void name_senders(int socket) {
  const int on = 1;
  sys::call(SYS_setsockopt, socket, SOL_SOCKET, SO_PASSCRED, sys::word(&on), sizeof on);
}

bool peek_message(int socket, void* to, size_t bytes, int patience_ms) {
  if (!wait_readable(socket, patience_ms)) return false;
  const long got = sys::call(SYS_recvfrom, socket, sys::word(to), static_cast<long>(bytes),
                             MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC, 0, 0);
  return got == static_cast<long>(bytes);
}

}  // namespace stab::helper
