// Packets between engine and worker, each with at most one descriptor.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::worker {

struct Packet {
  std::string bytes;
  UniqueFd fd;         // that came with it, close on exec
  bool ended = false;  // the other side is gone; nothing else is set
};

// `fd`: goes along; -1: none. Never waits for a reader that isn't there: a packet fits into the socket.
Status send_packet(int socket, std::string_view bytes, int fd);
// The next one. kCorrupt: it is longer than a packet may be, or came with more than one descriptor.
// kBusy: there is none, and the socket doesn't wait.
Result<Packet> receive_packet(int socket);

}  // namespace stab::worker
