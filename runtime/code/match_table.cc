// The table may be anybody's, so every number is held against its bound before a sum is made of it.
#include "runtime/code/match_table.h"

#include "runtime/code/image.h"
#include "runtime/code/partition_point.h"

namespace stab::code {

bool read_match(const void* bytes, uint32_t count, uint64_t hash, MatchTable& out) {
  const MatchRow* const rows = static_cast<const MatchRow*>(bytes);
  if (count > kMostMatchRows || match_hash(rows, count) != hash) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const MatchRow& row = rows[i];
    if (i > 0 && row.identity <= rows[i - 1].identity) return false;
    if (row.bytes > kMostMatchBytes || row.table_bytes > kMostMatchBytes || row.table_bytes % 8 != 0) return false;
    if (row.lead > kMostMatchLead || row.reserved != 0) return false;
  }
  out = {rows, count};
  return true;
}

uint64_t match_hash(const MatchRow* rows, uint32_t count) { return abi::hash64(rows, size_t{count} * sizeof *rows); }

MatchRow match_row(const Metadata& code, uint32_t function, uint32_t room) {
  const abi::CodeFunction& f = code.functions[function];
  const uint32_t residue = f.start % 16;
  return {code.identities[function], residue + f.bytes + room, table_bytes(code, function), lead_bytes(f, residue), 0};
}

uint32_t match_row_of(const MatchTable& table, uint64_t identity) {
  const uint32_t at = partition_point(table.count, [&](uint32_t i) { return table.rows[i].identity < identity; });
  return at < table.count && table.rows[at].identity == identity ? at : table.count;
}

}  // namespace stab::code
