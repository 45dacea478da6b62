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

// The largest of a heap that lacks order at `at` alone comes to its place.
void sift(code::MatchRow* rows, size_t at, size_t count) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && rows[child].identity < rows[child + 1].identity) ++child;
    if (rows[at].identity >= rows[child].identity) return;
    const code::MatchRow larger = rows[child];
    rows[child] = rows[at];
    rows[at] = larger;
  }
}

// Heapsort: libc's qsort asks the system how much memory there is, which the sandbox forbids.
void sort(Rows& rows) {
  for (size_t at = rows.count / 2; at-- > 0;) sift(rows.all, at, rows.count);
  for (size_t left = rows.count; left-- > 1;) {
    const code::MatchRow largest = rows.all[0];
    rows.all[0] = rows.all[left];
    rows.all[left] = largest;
    sift(rows.all, 0, left);
  }
}

void merge(Rows& rows) {
  sort(rows);
  size_t kept = 0;
  for (size_t i = 0; i < rows.count; ++i) {
    if (kept > 0 && rows.all[kept - 1].identity == rows.all[i].identity)
      rows.all[kept - 1] = code::both(rows.all[kept - 1], rows.all[i]);
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
  if (rows.count > code::kMostMatchRows) return refuse(executables[0], "together they have more than 1048576 functions"), false;
  const auto all = static_cast<uint32_t>(rows.count);
  printf("stab-script 1 any\nmatch %u 0x%llx\n", all, static_cast<unsigned long long>(code::match_hash(rows.all, all)));
  putchar(0);
  fwrite(rows.all, sizeof *rows.all, rows.count, stdout);
  return true;
}

}  // namespace stab::layout
