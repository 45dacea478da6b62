// The post-link step as a library: from a linked file to the same file with stab_code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/factors.h"
#include "instrumenter/postlink/fields.h"
#include "instrumenter/postlink/functions.h"
#include "instrumenter/postlink/jump_tables.h"

namespace stab::postlink {

// Everything the steps find out about an image.
struct Analysis {
  FunctionTable functions;
  Disassembly disassembly;
  std::vector<JumpTable> tables;
  std::vector<uint64_t> recursive_pads;  // file offsets
  bool holds_pads = false;               // all of them stay 0
  bool switches_stacks = false;
  bool is_walked = false;                // a runtime in it walks code addresses
};

struct Options {
  bool strip = false;        // leave out symbols and debug information
  bool keep_relocations = false;  // those of --emit-relocs, which the user asked for
  // Static forms of our runtime: in a file without a list their functions stay. Those that don't exist are
  // passed over.
  std::vector<std::string> runtime_archives;
  bool only_listed = false;  // no section stab_funcs means: our pass compiled nothing, rather than: unknown
  bool move_all = false;     // what our pass didn't compile moves, too, where the stricter rules of foreign.h hold
  std::string layout_file;   // that the file is held to; empty: none
  Factors strict;            // fails where one of these is asked for and nothing came of it, shortfalls.h
  std::vector<std::string>* warnings = nullptr;  // takes what the user should know of the file
};

// Fails on a file that was linked without --emit-relocs or already has metadata.
Result<Analysis> analyze(const ElfImage& image, const Options& options);

// Reads `input`, writes `output` (may be the same). On failure `output` is untouched. A file without code, a library of
// data, gets no stab_code.
Status post_link(const std::string& input, const std::string& output, const Options& options);

Result<std::vector<uint8_t>> read_file(const std::string& path);

// The names of all functions that these archives define, ascending, each once; one that can't be read is as empty.
Result<std::vector<std::string>> functions_of_archives(const std::vector<std::string>& paths);

}  // namespace stab::postlink
