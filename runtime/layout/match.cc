// Rows of all builds are put behind each other and sorted by identity; those of one identity become one.
#include "runtime/layout/match.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/code/image.h"
#include "runtime/layout/layout_sandbox.h"
#include "runtime/layout/regular_file.h"
#include "runtime/layout/replay.h"

namespace stab::layout {
namespace {

struct Rows {
  code::MatchRow* all = nullptr;
  size_t count = 0;
};

// nullptr, or in a word why not.
const char* add_rows(int file, Rows& rows) {
  Binary binary;
  if (const char* lacks = read_binary(file, binary)) return lacks;
  const code::Metadata& code = binary.code;
  if (code.identities == nullptr) return "it says no identities of its functions; link it again with szc";
  void* const memory = calloc(1, code::scratch_bytes(code) + 8);
  void* const more = realloc(rows.all, (rows.count + code.header->function_count) * sizeof *rows.all);
  if (more != nullptr) rows.all = static_cast<code::MatchRow*>(more);
  if (memory == nullptr || more == nullptr) return "not enough memory";
  const code::ImageScratch scratch = code::bind_scratch(code, memory);
  for (uint32_t i = 0; i < scratch.order_count; ++i)
    rows.all[rows.count++] = code::match_row(code, scratch.order[i], scratch.room[scratch.order[i]]);
  free(memory);
  return nullptr;
}

int by_identity(const void* a, const void* b) {
  const uint64_t x = static_cast<const code::MatchRow*>(a)->identity, y = static_cast<const code::MatchRow*>(b)->identity;
  return x < y ? -1 : x > y;
}

void merge(Rows& rows) {
  qsort(rows.all, rows.count, sizeof *rows.all, by_identity);
  size_t kept = 0;
  for (size_t i = 0; i < rows.count; ++i) {
    if (kept > 0 && rows.all[kept - 1].identity == rows.all[i].identity) rows.all[kept - 1] = code::both(rows.all[kept - 1], rows.all[i]);
    else rows.all[kept++] = rows.all[i];
  }
  rows.count = kept;
}

}  // namespace

bool print_match(char** executables, int count) {
  int* const files = static_cast<int*>(calloc(static_cast<size_t>(count), sizeof(int)));
  if (files == nullptr) return refuse("--match", "not enough memory"), false;
  for (int i = 0; i < count; ++i)
    if ((files[i] = open_regular(executables[i])) < 0) return false;
  if (const char* failed = confine()) return refuse(executables[0], failed), false;
  Rows rows;
  for (int i = 0; i < count; ++i)
    if (const char* lacks = add_rows(files[i], rows)) return refuse(executables[i], lacks), false;
  merge(rows);
  if (rows.count == 0) return refuse(executables[0], "nothing in it moves"), false;
  if (rows.count > code::kMostMatchRows) return refuse(executables[0], "together they have more than 1048576 functions"), false;
  const auto all = static_cast<uint32_t>(rows.count);
  printf("stab-script 1 any\nmatch %u 0x%llx\n", all, static_cast<unsigned long long>(code::match_hash(rows.all, all)));
  putchar(0);
  fwrite(rows.all, sizeof *rows.all, rows.count, stdout);
  return true;
}

}  // namespace stab::layout
