// Pipes, event counters and sockets may be filled by the family itself or by the world. Whoever has waited for one was woken by
// ours if one of ours wrote into it since the wait began.
#pragma once

#include <stdint.h>

namespace stab::causal {

// One of ours writes to a descriptor now, or has read from it: who waits for room was woken by that.
void note_writer(int fd);
void note_reader(int fd);
bool last_writer_is_ours(int fd, uint64_t since_ns);
bool last_reader_is_ours(int fd, uint64_t since_ns);

}  // namespace stab::causal
