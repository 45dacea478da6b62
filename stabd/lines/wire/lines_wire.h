// What the lab asks stab-lines on its standard input, and what that answers on its standard output: one request, one answer.
//
// Neither side trusts the other. stab-lines runs as the submitter, reads the submitter's binaries with LLVM's library, and may be
// made to say anything; so an answer is held against its request: counts agree, numbers of regions and modules exist, ranges are
// sorted and not empty. The request says what may be asked: its parts are bounded below.
//
// Addresses are those of the linked file (what a run-time address is without the module's load bias).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/field_coder.h"
#include "base/result.h"

namespace stab::lines {

// Both ends come from the same build; this catches a mixed installation.
inline constexpr uint32_t kVersion = 1;

// Bounds of a request.
inline constexpr size_t kMostModules = 256;
inline constexpr size_t kMostPlaces = 1u << 20;
inline constexpr size_t kMostWanted = 4096;
inline constexpr size_t kMostPatterns = 64;
inline constexpr size_t kMostTextBytes = 4096;  // of a path, a pattern, a name
// How many regions an answer may have.
inline constexpr size_t kMostRegions = 1u << 18;
inline constexpr size_t kMostRanges = 1u << 20;
inline constexpr size_t kMostAnswerBytes = size_t{64} << 20;

// Do not renumber.
enum class Unit : uint32_t { kLine = 0, kFunction = 1 };
// To which line code belongs that was inlined: the first one in scope on the way from it out to the function that holds it, or
// its own, and to none where that is out of scope.
enum class Attribution : uint32_t { kCall = 0, kLeaf = 1 };
inline constexpr uint32_t kNoRegion = ~0u;
enum class Reading : uint32_t {
  kLines = 0,       // its line tables were read
  kNoDebug = 1,     // it has none, nor a debug file that was found
  kUnreadable = 2,  // not there, not ours to read, no program
  kOtherBuild = 3,  // its build id is not the one that ran
};

struct Module {
  std::string path;
  std::string build_id;  // of what ran, hex; empty: not known
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.path, self.build_id); }
};

struct Place {
  uint32_t module = 0;
  uint64_t address = 0;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.module, self.address); }
};

// A source line, or with line 0 a whole function.
struct Region {
  std::string file;
  uint32_t line = 0;
  std::string function;
  bool operator==(const Region&) const = default;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.file, self.line, self.function); }
};

struct Request {
  uint32_t version = kVersion;
  uint32_t unit = 0;         // Unit
  uint32_t attribution = 0;  // Attribution
  std::vector<std::string> scope;
  std::vector<Module> modules;
  std::vector<Place> places;   // whose regions are asked for
  std::vector<Region> wanted;  // whose ranges are asked for; a file as matches_source takes it
  bool whole_scope = false;    // the ranges of all that is in scope, too
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) {
    coder.all(self.version, self.unit, self.attribution, self.scope, self.modules, self.places, self.wanted, self.whole_scope);
  }
};

struct ModuleRead {
  uint32_t reading = 0;     // Reading
  std::string why;          // no lines, and what to do; else empty
  std::string build_id;     // of the file; empty: it has none
  std::string debug_file;   // that the lines came from; empty: the module itself
  uint64_t text_bytes = 0;  // executable
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) {
    coder.all(self.reading, self.why, self.build_id, self.debug_file, self.text_bytes);
  }
};

struct Range {
  uint32_t module = 0;
  uint64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.module, self.begin, self.end); }
};

// Sorted by module and begin, none empty, no two of one list overlap or touch.
struct Ranges {
  std::vector<Range> ranges;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) { coder.all(self.ranges); }
};

struct Answer {
  uint32_t version = kVersion;
  std::string failure;  // why nothing could be done; then the rest is empty
  std::vector<ModuleRead> modules;
  std::vector<Region> regions;
  std::vector<uint32_t> found;  // of each place its region, or kNoRegion
  std::vector<Ranges> ranges;   // one for each wanted
  Ranges scope;
  template <class Self, class Coder>
  static void fields(Self& self, Coder& coder) {
    coder.all(self.version, self.failure, self.modules, self.regions, self.found, self.ranges, self.scope);
  }
};

std::string encode(const Request& request);
std::string encode(const Answer& answer);
// kCorrupt: no request of ours, or one beyond the bounds.
Result<Request> decode_request(std::string_view bytes);
// kCorrupt: no answer to that request.
Result<Answer> decode_answer(std::string_view bytes, const Request& request);

}  // namespace stab::lines
