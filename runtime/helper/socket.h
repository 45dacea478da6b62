// Whole messages over the SOCK_SEQPACKET pair, with descriptors where needed.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace stab::helper {

inline constexpr int kMostDescriptors = 8;

// True if all of it was sent. Never raises SIGPIPE.
bool send_message(int socket, const void* from, size_t bytes, const int* descriptors = nullptr, int count = 0);

// Waits at most patience_ms for one message of exactly `bytes`. Received descriptors are close-on-exec;
// *count is how many came. pre: descriptors, if given, holds kMostDescriptors.
bool receive_message(int socket, void* to, size_t bytes, int patience_ms, int* descriptors = nullptr,
                     int* count = nullptr);

// The same, with descriptors, from a socket of which name_senders was called before anything was sent to it. *sender is
// the number that the kernel gives, 0 where it has none for us: the sender is in no PID namespace that we see.
bool receive_signed(int socket, void* to, size_t bytes, int patience_ms, int* descriptors, int* count, int* sender);
void name_senders(int socket);

// The same, but leaves the message in the socket.
bool peek_message(int socket, void* to, size_t bytes, int patience_ms);

}  // namespace stab::helper
