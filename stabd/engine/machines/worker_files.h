// What a worker sends of its epoch of a slot: notes, and the parts of its blocks. Its machine runs strangers' programs with the
// rights that it has itself, so whoever takes its files over a connection holds them against this.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace stab::engine {

// Whether it is a note that a controller hears: facts, preflight, log, heartbeat, end.
bool is_worker_note(std::string_view what);

// Each block is run once an epoch; a part that was cut off comes again. Whatever else is called a part is none.
constexpr size_t most_parts(size_t blocks) { return 2 * blocks + 16; }

// A note may be far longer than what it says to people: why somebody has ended or can't begin, and what a machine is called, are
// in the answers of each `status`, whoever asks for it, and in logs.
inline constexpr size_t kMostReasonBytes = 4000, kMostMachineBytes = 200;
std::string at_most(std::string text, size_t bytes);

// All slots' facts are in memory for each `status`. A machine has some 40 of some 3 KiB, with a kernel's command line of at most
// 4 KiB.
inline constexpr size_t kMostFacts = 200, kMostFactNameBytes = 64, kMostFactValueBytes = 4096, kMostFactsBytes = 16 << 10;
// Why these are no machine's facts; empty: they may be.
std::string why_no_facts(const std::map<std::string, std::string>& facts);

}  // namespace stab::engine
