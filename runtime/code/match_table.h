// Match tables: the same places in several builds of a program.
//
// A match table lists every function that any of the builds moves, by identity (code_abi.h), with the most room that it takes in
// one of them. Whoever places a build's functions by the table draws an order and gaps of the table's rows, so what is drawn
// depends on the seed, the number of the image and the table alone: two builds that share a function have it at the same offset
// in a slot, and its jump tables, too. A row whose function a build lacks is a gap there.
//
// A function may be called otherwise in another build. Then a row of its own says so: it takes no room, and names the row whose
// place is this one's, too. No build has both functions.
//
// Matching is what one side of a comparison needs of the other. Each side's own layouts are as random as before.
//
// A layout script names its table in a line, "match ROWS 0xHASH", and the table follows the script in the same file, behind a
// byte 0. So whoever can be given a script can be given a table, and the script's hash is the table's, too. A table has no rows
// where nothing of the executables moves, as where all of a program's code is in its libraries.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/code/metadata.h"

namespace stab::code {

// Of one function. Images are laid out in units of 16 bytes: a row takes `lead` bytes for prefix and entry, up to a multiple of
// 16, its base; then `bytes`. A function that starts at r mod 16 in its build begins r bytes behind the base, in every build.
struct MatchRow {
  uint64_t identity;
  uint32_t bytes;        // from the base to the end of the function and of what its short lead points need
  uint32_t table_bytes;  // of its jump tables, each on a multiple of 8
  uint32_t lead;
  uint32_t renamed;      // 0, or 1 and the number of the row whose function this is under another name; then it takes no room
};
static_assert(sizeof(MatchRow) == 24);

inline constexpr uint32_t kMostMatchRows = 1u << 20;
inline constexpr uint32_t kMostMatchLead = 64;
inline constexpr uint32_t kMostMatchBytes = 1u << 30;

// invariant, established by read_match: identities ascend, numbers are below their bounds, no row is renamed twice
struct MatchTable {
  const MatchRow* rows = nullptr;
  uint32_t count = 0;
};

// The table in these bytes, which outlive it. False: it is none of so many rows and this hash.
bool read_match(const void* bytes, uint32_t count, uint64_t hash, MatchTable& out);
uint64_t match_hash(const MatchRow* rows, uint32_t count);

// What the function needs. pre: it moves, and the metadata has identities
MatchRow match_row(const Metadata& code, uint32_t function, uint32_t room);

// The row where the function of this identity has its place; `count` where no row has it.
uint32_t match_row_of(const MatchTable& table, uint64_t identity);
// What is drawn by identity is drawn by these, in all builds alike: that of the function's place, where it has one.
void match_identities(const MatchTable& table, uint64_t* identities, uint32_t count);

// Whether a function that needs `needed` has its place in a row.
inline bool fits(const MatchRow& needed, const MatchRow& row) {
  return needed.bytes <= row.bytes && needed.table_bytes <= row.table_bytes && needed.lead <= row.lead;
}
// Room for both.
inline MatchRow both(const MatchRow& a, const MatchRow& b) {
  const auto more = [](uint32_t x, uint32_t y) { return x > y ? x : y; };
  return {a.identity, more(a.bytes, b.bytes), more(a.table_bytes, b.table_bytes), more(a.lead, b.lead), 0};
}

}  // namespace stab::code
