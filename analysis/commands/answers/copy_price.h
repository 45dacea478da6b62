// What running in copies costs one program more than another: counts of each, and what these may make of their difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/statistics/places/cause.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {

// What running in copies has more to do than a plain run, in each program: counted in runs of their own.
struct CopyFacts {
  double old_entries = 0, new_entries = 0;      // calls through pointers, a run
  double old_libraries = 0, new_libraries = 0;  // libraries that came, each time
  double old_functions = 0, new_functions = 0;  // that are copied
  double seconds = 0;                           // of CPU time, a run
  bool counts = false;                          // it may be as large as to matter, and the answer allows for it
  bool is_rest = false;                         // counted where pointers lead to copies: what doesn't
  // Calls through pointers, a run, if they led to copies in the runs that were compared. Those above are what was left of them.
  double old_led = 0, new_led = 0;
};
// They cost something, and more in one of both. Absent: they were not counted.
bool copies_count(const std::optional<CopyFacts>& facts);
// What that may make of the difference of both.
statistics::CopyPrice price_of(const CopyFacts& facts);
// The counts, what they may make, and what doesn't have it: of two programs explain, of a gate one line of its file, and where
// pointers were led the plain programs.
enum class WithoutCopies : uint8_t { kExplain, kGateFile, kPlainPrograms };
std::string copies_sentence(const CopyFacts& facts, WithoutCopies what);
// That calls through pointers led to copies. pre: some did
std::string led_sentence(const CopyFacts& facts);
// What an answer says that had to do without a count, and why it had to.
std::string uncounted_sentence(const std::string& why);
// As members of the object that is open.
void write_copies(text::JsonWriter& json, const CopyFacts& facts);

}  // namespace stab::commands
