// Pipes, event counters and sockets may be filled, and signals sent, by the family itself or by the world. Whoever has waited for
// one was woken by ours if one of ours wrote into it since the wait began.
#pragma once

#include <stdint.h>

namespace stab::causal {

struct LastWrite;

// One of ours begins to write to a descriptor, or to read from it: who waits for room was woken by that. Whom it wakes may have
// the CPU long before it has returned, so until then each wait there ends by it. nullptr: it makes no difference to anybody.
LastWrite* begin_writing(int fd);
LastWrite* begin_reading(int fd);
void end_noted(LastWrite* begun);
bool last_writer_is_ours(int fd, uint64_t since_ns);
bool last_reader_is_ours(int fd, uint64_t since_ns);

// One of ours sends a signal now, to whomever, or ends, of which its parent hears by one.
void note_signal();
bool last_signal_is_ours(uint64_t since_ns);

bool is_of_family(int pid);

}  // namespace stab::causal
