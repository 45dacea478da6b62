// Rows of all builds are put behind each other and sorted by identity; those of one identity become one. Functions that are
// called otherwise in another build are found by whoever has the contents of all builds (stabd/engine/results/match_tables.cc).
#include "runtime/layout/match.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/code/image.h"
#include "runtime/layout/layout_sandbox.h"
#include "runtime/layout/regular_file.h"
#include "runtime/layout/replay.h"

namespace stab::layout {
namespace {

struct Rows {
  code::MatchRow* all = nullptr;  // until they are printed, the contents of one build's are in `renamed`
  size_t count = 0;
};

// Of the function's instructions, so far as they don't depend on where anything lies. pre: `copy` has room for it
uint32_t content_of(const Binary& binary, uint32_t function, uint8_t* copy) {
  const code::Metadata& code = binary.code;
  const abi::CodeFunction& f = code.functions[function];
  memcpy(copy, binary.text + f.start, f.bytes);
  for_each_fixed(code, f, [copy](uint64_t at) { memset(copy + at, 0, 4); });
  for (uint32_t k = f.first_directed; k < f.first_directed + f.directed_count; ++k) memset(copy + code.directed[k].at, 0, 4);
  const uint64_t hash = abi::hash64(copy, f.bytes);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

// nullptr, or in a word why not.
const char* add_rows(int file, Rows& rows) {
  Binary binary;
  if (const char* lacks = read_binary(file, binary)) return lacks;
  const code::Metadata& code = binary.code;
  if (code.identities == nullptr) return "it says no identities of its functions; link it again with szc";
  void* const memory = calloc(1, code::scratch_bytes(code) + 8);
  void* const more = realloc(rows.all, (rows.count + code.header->function_count) * sizeof *rows.all);
  if (more != nullptr) rows.all = static_cast<code::MatchRow*>(more);
  auto* const copy = static_cast<uint8_t*>(malloc(code.header->text_bytes + 1));
  if (memory == nullptr || more == nullptr || copy == nullptr) return "not enough memory";
  const code::ImageScratch scratch = code::bind_scratch(code, memory);
  for (uint32_t i = 0; i < scratch.order_count; ++i) {
    code::MatchRow& row = rows.all[rows.count++];
    row = code::match_row(code, scratch.order[i], scratch.room[scratch.order[i]]);
    row.renamed = content_of(binary, scratch.order[i], copy);
  }
  free(memory);
  free(copy);
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

// One of each row, which comes back without it.
uint32_t* take_contents(Rows& rows) {
  auto* const contents = static_cast<uint32_t*>(calloc(rows.count + 1, sizeof(uint32_t)));
  for (size_t i = 0; i < rows.count && contents != nullptr; ++i) {
    contents[i] = rows.all[i].renamed;
    rows.all[i].renamed = 0;
  }
  return contents;
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
  const uint32_t* const contents = take_contents(rows);
  if (contents == nullptr) return refuse(executables[0], "not enough memory"), false;
  const auto all = static_cast<uint32_t>(rows.count);
  printf("stab-script 1 any\nmatch %u 0x%llx\n", all, static_cast<unsigned long long>(code::match_hash(rows.all, all)));
  putchar(0);
  fwrite(rows.all, sizeof *rows.all, rows.count, stdout);
  if (count == 1) fwrite(contents, sizeof *contents, rows.count, stdout);
  return true;
}

}  // namespace stab::layout
