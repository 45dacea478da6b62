// stab-layout: where each function of an executable lay, and which pad it had, in one layout of one run.
//
//   stab-layout EXECUTABLE --code MODE --stack MODE --range BYTES --seed N [--image N] [--refill N]
//
// Modes are words of STAB_CODE and STAB_STACK. One line a function, in the order of the executable, fields parted by tabs:
//
//   stab-layout 1 0xTEXT_HASH SLOT_BYTES PADS TEXT_START
//   START BYTES OFFSET PAD NAME
//
// START is its link-time address in hexadecimal; OFFSET where its body lies in the slot of the image, PAD what its frame is moved
// by; "-" where it does not move, has no pad, or nothing was asked. TEXT_HASH is of the metadata, as in dose reports.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/helper/epoch_record.h"
#include "runtime/helper/perf_map.h"
#include "runtime/layout/replay.h"
#include "runtime/sys.h"

namespace {

using namespace stab;

struct Options {
  const char* executable = nullptr;
  abi::Settings settings;
  uint32_t image = helper::kNoImage;
  uint32_t refill = helper::kNoImage;
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
  // More than a helper records is an order to compute for ever.
  if (strcmp(name, "--image") == 0 && parse_number(value, helper::kMostEpochs, number))
    return options.image = static_cast<uint32_t>(number), true;
  if (strcmp(name, "--refill") == 0 && parse_number(value, helper::kMostEpochs, number))
    return options.refill = static_cast<uint32_t>(number), true;
  return false;
}

bool parse(int argc, char** argv, Options& options) {
  if (argc < 2 || argc % 2 != 0) return false;
  options.executable = argv[1];
  for (int i = 2; i + 1 < argc; i += 2)
    if (!parse_option(argv[i], argv[i + 1], options)) return false;
  return true;
}

int refuse(const char* executable, const char* why) {
  fprintf(stderr, "stab-layout: '%s': %s\n", executable, why);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs("usage: stab-layout EXECUTABLE --code MODE --stack MODE --range BYTES --seed N [--image N] [--refill N]; started by "
          "stabctl layout, not by people\n",
          stderr);
    return 2;
  }
  const int file = sys::open(options.executable, O_RDONLY);
  if (file < 0) return refuse(options.executable, strerror(-file));
  static layout::Binary binary;
  if (const char* lacks = layout::read_binary(file, binary)) return refuse(options.executable, lacks);
  static helper::PerfMap names;
  names.read_names(file, binary.code);
  const abi::CodeHeader& header = *binary.code.header;

  void* memory = calloc(1, code::scratch_bytes(binary.code) + 8);
  auto* pad_of = static_cast<uint32_t*>(calloc(size_t{header.function_count} + 1, sizeof(uint32_t)));
  if (memory == nullptr || pad_of == nullptr) return refuse(options.executable, "not enough memory");
  code::ImageScratch scratch = code::bind_scratch(binary.code, memory);
  const bool placed = options.image != helper::kNoImage && options.settings.code != abi::CodeMode::kOff;
  if (placed) layout::place(binary, options.settings.code, options.settings.seed, options.image, scratch);
  const bool padded = options.refill != helper::kNoImage && binary.pads != nullptr;
  if (padded) layout::refill(binary, options.settings, options.refill);
  layout::find_pads(binary, pad_of);

  printf("stab-layout 1 0x%llx %llu %u %llx\n", static_cast<unsigned long long>(header.text_hash),
         static_cast<unsigned long long>(code::slot_bytes(binary.code)), binary.pad_count,
         static_cast<unsigned long long>(header.text_start));
  for (uint32_t i = 0; i < header.function_count; ++i) {
    const abi::CodeFunction& f = binary.code.functions[i];
    printf("%llx\t%u\t", static_cast<unsigned long long>(header.text_start + f.start), f.bytes);
    if (placed && scratch.entry[i] != 0) printf("%u\t", scratch.body[i]);
    else fputs("-\t", stdout);
    if (padded && pad_of[i] != layout::kNoPad) printf("%u\t", binary.pads[pad_of[i]] & abi::kPadMask);
    else fputs("-\t", stdout);
    // A name comes from a file of somebody's: tabs and new lines in it would be fields.
    const char* name = names.name_of(i);
    if (name == nullptr) printf("fn_%llx", static_cast<unsigned long long>(header.text_start + f.start));
    else
      for (; *name != 0; ++name) putchar(*name > ' ' && *name <= '~' ? *name : '?');
    putchar('\n');
  }
  return ferror(stdout) || fflush(stdout) != 0 ? refuse(options.executable, "the output could not be written") : 0;
}
