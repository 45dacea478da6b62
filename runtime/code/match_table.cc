// The table may be anybody's, so every number is held against its bound before a sum is made of it.
#include "runtime/code/match_table.h"

#include "runtime/code/image.h"
#include "runtime/code/partition_point.h"

namespace stab::code {

namespace {

// Takes no room, and leads to a row that is its function's own.
bool is_good_name(const MatchRow& row, const MatchRow* rows, uint32_t count) {
  return row.renamed <= count && rows[row.renamed - 1].renamed == 0 && row.bytes == 0 && row.table_bytes == 0 && row.lead == 0;
}

}  // namespace

bool read_match(const void* bytes, uint32_t count, uint64_t hash, MatchTable& out) {
  const MatchRow* const rows = static_cast<const MatchRow*>(bytes);
  if (count > kMostMatchRows || match_hash(rows, count) != hash) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const MatchRow& row = rows[i];
    if (i > 0 && row.identity <= rows[i - 1].identity) return false;
    if (row.bytes > kMostMatchBytes || row.table_bytes > kMostMatchBytes || row.table_bytes % 8 != 0) return false;
    if (row.lead > kMostMatchLead || (row.renamed != 0 && !is_good_name(row, rows, count))) return false;
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
  if (at == table.count || table.rows[at].identity != identity) return table.count;
  return table.rows[at].renamed == 0 ? at : table.rows[at].renamed - 1;
}

void match_identities(const MatchTable& table, uint64_t* identities, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (const uint32_t row = match_row_of(table, identities[i]); row < table.count) identities[i] = table.rows[row].identity;
}

}  // namespace stab::code
