// stab-layout: where each function of an executable lay, and which pad it had, in layouts of one run.
//
//   stab-layout EXECUTABLE --code MODE --stack MODE --range BYTES --seed N [--script FILE] [--image N] [--refill N]
//   stab-layout EXECUTABLE --code MODE --stack MODE --range BYTES --seed N [--script FILE] --through N START...
//   stab-layout LIBRARY --library N ...the same
//   stab-layout --match EXECUTABLE...
//
// Modes are words of STAB_CODE and STAB_STACK; the script is the run's, if it had one. The first form tells of all functions in
// one layout. One line a function, in the order of the executable, fields parted by tabs:
//
//   stab-layout 1 0xTEXT_HASH SLOT_BYTES PADS TEXT_START [LIBRARY]
//   START BYTES OFFSET PAD NAME
//
// START is its link-time address in hexadecimal; OFFSET where its body lies in the slot of the image, PAD what its frame is moved
// by; "-" where it does not move, has no pad, or nothing was asked. TEXT_HASH is of the metadata, as in dose reports. LIBRARY is
// what a library is called (helper/library_name.h), and may have spaces.
//
// The second form tells of the functions that are named by their START (without any: of all that move, in the order of the
// executable) in the images 0 to N, and in the refills 0 to N, behind the same first line; a line for each:
//
//   NUMBER OFFSET... PAD...
//
// with an offset and a pad for each of the functions, in the order in which they were named.
//
// Of a shared library N is what the helper draws its layouts by (LibraryHeader::drawn_by). Its pads are drawn behind those of all
// that was loaded before, which is not known here: --stack is to be off.
//
// The third form prints a layout script that matches the layouts of these builds of one program, with its table
// (code/match_table.h). A fourth, --bodies, tells builds of one program apart (bodies.h).
//
// EXECUTABLE "-" is standard input, a regular file: who asks may read what we may not. Executable and script are opened first;
// then it takes from itself whatever else it could do (layout_sandbox.h), and reads.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/helper/epoch_record.h"
#include "runtime/helper/function_names.h"
#include "runtime/helper/library_name.h"
#include "runtime/helper/script_file.h"
#include "runtime/layout/bodies.h"
#include "runtime/layout/layout_sandbox.h"
#include "runtime/layout/match.h"
#include "runtime/layout/regular_file.h"
#include "runtime/layout/replay.h"
#include "runtime/sections_abi.h"
#include "runtime/sys.h"

namespace {

using namespace stab;
using layout::open_regular;
using layout::refuse;

struct Options {
  const char* executable = nullptr;
  const char* script = nullptr;
  uint64_t library = 0;  // what its layouts are drawn by; 0: it is an executable
  abi::Settings settings;
  uint32_t image = helper::kNoImage;
  uint32_t refill = helper::kNoImage;
  uint32_t through = helper::kNoImage;
  char** starts = nullptr;
  int start_count = 0;
};

template <size_t N>
bool find_word(const char* text, const char* const (&words)[N], uint8_t& index) {
  for (index = 0; index < N; ++index)
    if (strcmp(text, words[index]) == 0) return true;
  return false;
}

bool parse_number(const char* text, uint64_t most, uint64_t& value) {
  char* end = nullptr;
  if (*text < '0' || *text > '9') return false;
  value = strtoull(text, &end, 0);
  return *end == 0 && value <= most;
}

bool parse_option(const char* name, const char* value, Options& options) {
  uint8_t index = 0;
  uint64_t number = 0;
  if (strcmp(name, "--code") == 0 && find_word(value, abi::kCodeWords, index))
    return options.settings.code = static_cast<abi::CodeMode>(index), true;
  if (strcmp(name, "--stack") == 0 && find_word(value, abi::kStackWords, index))
    return options.settings.stack = static_cast<abi::StackMode>(index), true;
  if (strcmp(name, "--range") == 0 && parse_number(value, abi::kMaxStackRangeBytes, number) && abi::is_stack_range(number))
    return options.settings.stack_range_bytes = static_cast<uint32_t>(number), true;
  if (strcmp(name, "--seed") == 0 && parse_number(value, ~uint64_t{0}, number)) return options.settings.seed = number, true;
  if (strcmp(name, "--script") == 0) return options.script = value, true;
  if (strcmp(name, "--library") == 0 && parse_number(value, ~uint64_t{0}, number) && number != 0)
    return options.library = number, true;
  // More than a helper records is an order to compute for ever.
  constexpr struct {
    const char* name;
    uint32_t Options::* number;
  } kNumbers[] = {{"--image", &Options::image}, {"--refill", &Options::refill}, {"--through", &Options::through}};
  for (const auto& option : kNumbers)
    if (strcmp(name, option.name) == 0 && parse_number(value, helper::kMostEpochs, number))
      return options.*option.number = static_cast<uint32_t>(number), true;
  return false;
}

bool parse(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  options.executable = argv[1];
  int i = 2;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2)
    if (!parse_option(argv[i], argv[i + 1], options)) return false;
  options.starts = argv + i;
  options.start_count = argc - i;
  const bool series = options.through != helper::kNoImage;
  if (options.library != 0 && options.settings.stack != abi::StackMode::kOff) return false;
  if (series) return options.image == helper::kNoImage && options.refill == helper::kNoImage;
  return options.start_count == 0;
}

// Zeroed; nullptr where there is no memory.
uint32_t* allocate_words(size_t count) { return static_cast<uint32_t*>(calloc(count + 1, sizeof(uint32_t))); }

// Everything that layouts of a run are computed from.
struct Run {
  Options options;
  layout::Binary binary;
  helper::FunctionNames names;
  helper::ScriptFile script;
  code::ImageScratch scratch;
  uint32_t* pad_of = nullptr;
  uint32_t frame_rows = 0;  // of an image
  char library_name[sizeof helper::LibraryHeader::file] = {};

  bool moves() const { return options.settings.code != abi::CodeMode::kOff; }
  bool pads() const { return binary.pads != nullptr && options.settings.stack != abi::StackMode::kOff; }
  const abi::CodeHeader& header() const { return *binary.code.header; }
  const code::LayoutScript* script_or_none() const { return options.script != nullptr ? &script.script : nullptr; }
};

// What the script says of this library, read once more as the helper does (helper/libraries.cc): by the name of its file.
void take_lines_of_library(Run& run) {
  (void)code::parse_script(run.script.text, run.script.text_bytes, run.script.script, run.library_name);
}

// Says what is wrong; false: nothing can be computed.
bool take_script(Run& run, int file) {
  code::ScriptVerdict verdict = helper::read_script_file(file, run.options.settings.code, run.script);
  if (verdict.fault == code::ScriptFault::kUnreadable) return refuse(run.options.script, "it can't be read"), false;
  if (verdict.fault == code::ScriptFault::kNone && run.options.library != 0) take_lines_of_library(run);
  if (verdict.fault == code::ScriptFault::kNone)
    verdict = code::bind_script(run.binary.code, helper::name_in, &run.names, run.script.script);
  if (verdict.fault == code::ScriptFault::kNone) return true;
  fprintf(stderr, "stab-layout: '%s', line %u: %s\n", run.options.script, verdict.line,
          code::kScriptFaultWords[static_cast<size_t>(verdict.fault)]);
  return false;
}

// Where the helper could not match layouts, they can't be matched here either, and are what they were.
void match(Run& run) {
  if (run.script.script.match_line == 0) return;
  if (run.options.library != 0) {
    if (run.script.script.has_match_table) (void)code::follow_identities(run.binary.code, run.scratch);
    return;
  }
  const code::MatchTable& table = run.script.match;
  (void)layout::match_pads(run.binary, table);
  if (table.count == 0 || code::slot_bytes(table, run.frame_rows) == 0) return;
  void* memory = calloc(1, code::match_scratch_bytes(table));
  if (memory != nullptr) (void)code::follow_match(run.binary.code, table, memory, run.scratch);
}

// False: it has said why.
bool prepare(Run& run) {
  const char* const executable = run.options.executable;
  const int file = open_regular(executable);
  const int script = file >= 0 && run.options.script != nullptr ? open_regular(run.options.script) : -1;
  if (file < 0 || (run.options.script != nullptr && script < 0)) return false;
  if (const char* failed = layout::confine()) return refuse(executable, failed), false;
  if (const char* lacks = layout::read_binary(file, run.binary)) return refuse(executable, lacks), false;
  if (!run.names.read(file, run.binary.code)) return refuse(executable, "its symbols can't be read"), false;
  run.frame_rows = layout::count_frame_rows(file, run.binary.code);
  if (run.options.library != 0) {
    helper::name_by_path(executable, run.library_name, sizeof run.library_name);
    helper::read_soname(file, run.library_name, sizeof run.library_name);
  }
  if (run.options.script != nullptr && !take_script(run, script)) return false;
  if (run.options.script == nullptr && run.options.settings.code == abi::CodeMode::kDesign)
    return refuse(executable, code::kScriptFaultWords[static_cast<size_t>(code::ScriptFault::kMissing)]), false;
  void* memory = calloc(1, code::scratch_bytes(run.binary.code) + 8);
  run.pad_of = allocate_words(run.header().function_count);
  if (memory == nullptr || run.pad_of == nullptr) return refuse(executable, "not enough memory"), false;
  run.scratch = code::bind_scratch(run.binary.code, memory);
  if (run.options.script == nullptr) return true;
  code::follow_script(run.script.script, run.scratch);
  match(run);
  return true;
}

void print_head(const Run& run) {
  const code::MatchTable& match = run.scratch.match;
  const uint32_t frames = run.frame_rows;
  const uint64_t slot = match.count > 0 ? code::in_strides(code::slot_bytes(match, frames))
                                        : code::slot_bytes(run.binary.code, run.script_or_none(), frames);
  printf("stab-layout 1 0x%llx %llu %u %llx", static_cast<unsigned long long>(run.header().text_hash),
         static_cast<unsigned long long>(slot), run.binary.pad_count,
         static_cast<unsigned long long>(run.header().text_start));
  if (run.options.library != 0) {
    putchar(' ');
    layout::print_name(run.library_name);
  }
  putchar('\n');
}

layout::ImageSeries images_of(Run& run) {
  return {run.binary, run.options.settings.code, run.options.settings.seed, run.options.library, run.scratch};
}

void print_layout(Run& run) {
  const bool placed = run.options.image != helper::kNoImage && run.moves();
  if (placed) {
    layout::ImageSeries images = images_of(run);
    while (images.place_next() != run.options.image) {}
  }
  const bool padded = run.options.refill != helper::kNoImage && run.binary.pads != nullptr;
  if (padded) layout::refill(run.binary, run.options.settings, run.options.refill);
  layout::find_pads(run.binary, run.pad_of);
  for (uint32_t i = 0; i < run.header().function_count; ++i) {
    const abi::CodeFunction& f = run.binary.code.functions[i];
    const unsigned long long start = run.header().text_start + f.start;
    printf("%llx\t%u\t", start, f.bytes);
    if (placed && run.scratch.entry[i] != 0) printf("%u\t", run.scratch.body[i]);
    else fputs("-\t", stdout);
    if (padded && run.pad_of[i] != layout::kNoPad) printf("%u\t", run.binary.pads[run.pad_of[i]] & abi::kPadMask);
    else fputs("-\t", stdout);
    const char* name = run.names.name_of(i);
    if (name == nullptr) printf("fn_%llx", start);
    else layout::print_name(name);
    putchar('\n');
  }
}

// The functions that are asked for, by their indices. False: one is not there.
bool choose(const Run& run, uint32_t* chosen, uint32_t& count) {
  count = 0;
  for (int i = 0; i < run.options.start_count; ++i) {
    char* end = nullptr;
    const uint64_t start = strtoull(run.options.starts[i], &end, 16);
    const uint64_t text = run.header().text_start;
    const uint32_t function = start < text ? run.header().function_count : code::function_at(run.binary.code, start - text);
    if (*end != 0 || function == run.header().function_count) {
      fprintf(stderr, "stab-layout: '%s': no function starts there\n", run.options.starts[i]);
      return false;
    }
    chosen[count++] = function;
  }
  for (uint32_t i = 0; run.options.start_count == 0 && i < run.header().function_count; ++i)
    if (run.binary.code.functions[i].immovable == abi::Immovable::kNo) chosen[count++] = i;
  return true;
}

bool print_series(Run& run) {
  uint32_t* const chosen = allocate_words(run.header().function_count + static_cast<size_t>(run.options.start_count));
  uint32_t count = 0;
  if (chosen == nullptr || !choose(run, chosen, count)) return false;
  layout::find_pads(run.binary, run.pad_of);
  layout::ImageSeries images = images_of(run);
  for (uint32_t number = 0; number <= run.options.through; ++number) {
    if (run.moves()) images.place_next();
    if (run.pads()) layout::refill(run.binary, run.options.settings, number);
    printf("%u", number);
    for (uint32_t i = 0; i < count; ++i) {
      if (run.moves() && run.scratch.entry[chosen[i]] != 0) printf("\t%u", run.scratch.body[chosen[i]]);
      else fputs("\t-", stdout);
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (run.pads() && run.pad_of[chosen[i]] != layout::kNoPad)
        printf("\t%u", run.binary.pads[run.pad_of[chosen[i]]] & abi::kPadMask);
      else
        fputs("\t-", stdout);
    }
    putchar('\n');
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  static Run run;
  if (argc > 2 && strcmp(argv[1], "--match") == 0) {
    if (!layout::print_match(argv + 2, argc - 2)) return 1;
    return ferror(stdout) || fflush(stdout) != 0 ? refuse("--match", "the output could not be written") : 0;
  }
  const bool has_script = argc == 5 && strcmp(argv[3], "--script") == 0;
  if ((argc == 3 || has_script) && strcmp(argv[1], "--bodies") == 0) {
    if (!layout::print_bodies(argv[2], has_script ? argv[4] : nullptr)) return 1;
    return ferror(stdout) || fflush(stdout) != 0 ? refuse("--bodies", "the output could not be written") : 0;
  }
  if (!parse(argc, argv, run.options)) {
    fputs("usage: stab-layout EXECUTABLE --code MODE --stack MODE --range BYTES --seed N [--script FILE]\n"
          "                   [--library N] [--image N] [--refill N] | --through N [START...]\n"
          "       stab-layout --match EXECUTABLE...\n"
          "       stab-layout --bodies EXECUTABLE [--script FILE]\n"
          "started by stabctl layout and by stabd, not by people\n",
          stderr);
    return 2;
  }
  if (!prepare(run)) return 1;
  print_head(run);
  if (run.options.through == helper::kNoImage) print_layout(run);
  else if (!print_series(run)) return 1;
  return ferror(stdout) || fflush(stdout) != 0 ? refuse(run.options.executable, "the output could not be written") : 0;
}
