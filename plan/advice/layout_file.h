// A layout file: where a build is to put single functions, and what was measured that says so. `stabctl layout emit` writes one,
// szc obeys it, `stabctl layout verify` measures what it does.
//
//   stab-layout 1                          first line: format and version
//   program lua                            file name of the executable that it is of
//   experiment lua-map                     header lines: what was measured, and where; experiment, workload, binary are optional
//   workload lua/fib
//   binary 0x8f3c09d2b1a45e77              hash of the code that was mapped
//   cpu AMD EPYC 9B14                      the rest of the line is the model, as /proc/cpuinfo names it; any: all models
//   measured luaV_execute: ...             any number of lines for people
//   place luaV_execute mod 64 at 16 bytes 5230
//   order luaV_execute                     these follow each other, as far as the linker is told
//
// `place`: the function's address leaves this remainder; mod is a power of two from 32 to 4096, `at` a multiple of 16 below it.
// `bytes`, which may be missing, is the function's size when it was measured: another size tells another source, compiler or
// options. Empty lines mean nothing, nor does what follows a # at the begin of a line. A function has at most one line of a kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::advice {

inline constexpr int kLayoutFileVersion = 1;
inline constexpr size_t kMostFileBytes = 64 << 10;  // names go on in an environment variable, which may have 128 KiB
inline constexpr size_t kMostFunctions = 256;       // of a kind of line
inline constexpr size_t kMostNameBytes = 4096;      // names of templates
inline constexpr uint32_t kLeastModulus = 32, kMostModulus = 4096, kGrain = 16;
inline constexpr std::string_view kAnyCpu = "any";

struct FixedPlace {
  std::string function;  // as the linker knows it
  uint32_t modulus = 64, remainder = 0;
  uint32_t bytes = 0;    // 0: not said
  bool operator==(const FixedPlace&) const = default;
};

// invariant: what parse_layout_file() takes, text_of() gives back but for comments and empty lines
struct LayoutFile {
  std::string program, experiment, workload, binary, cpu;
  std::vector<std::string> measured;
  std::vector<FixedPlace> places;
  std::vector<std::string> order;
  bool operator==(const LayoutFile&) const = default;
};

// Whether a line may name a function so.
bool is_function_name(std::string_view name);

// `name`: of the file, for messages. kBadInput with the line and column of the first fault.
Result<LayoutFile> parse_layout_file(std::string_view text, const std::string& name);
// Reads it from `path`, which must be a regular file of at most kMostFileBytes.
Result<LayoutFile> read_layout_file(const std::string& path);

std::string text_of(const LayoutFile& file);

// The model of this machine's first CPU; empty where the kernel doesn't say.
std::string cpu_model();
// Why a file of another CPU model may not be obeyed here. `here`: this machine's.
Status check_cpu(const LayoutFile& file, const std::string& here, const std::string& name);

}  // namespace stab::advice
