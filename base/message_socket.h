// Messages with descriptors beside them, over a SOCK_SEQPACKET socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab {

inline constexpr size_t kMostMessageDescriptors = 32;

struct Message {
  std::string bytes;  // empty: the other side is gone
  std::vector<UniqueFd> descriptors;
};

// One message, whole or not at all. kUnavailable where the other side is gone, kBusy where it does not read.
Status send_message(int socket, std::string_view bytes, const std::vector<int>& descriptors);
// Waits for the next one; less than 0: without end. kBusy where none has come by then; kCorrupt where it is longer than
// `most_bytes`, or has more descriptors than that: they are closed, or were never installed.
Result<Message> receive_message(int socket, size_t most_bytes, std::chrono::milliseconds patience,
                                size_t most_descriptors = kMostMessageDescriptors);

}  // namespace stab
