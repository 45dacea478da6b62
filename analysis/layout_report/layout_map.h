// The layout map: which functions' places make a program's time vary, and by how much.
//
// Two steps, on different trials. The screen looks at every place of every function in the epochs of an experiment, and names
// candidates at a false discovery rate of 10 %; it proves nothing. The confirmation measures the candidates again in fresh
// epochs, in which their places were drawn for that purpose: what it says has not been chosen from its own noise.
// docs/explanation/layout-maps.md says all of this to people, with its numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report_data/report.h"
#include "analysis/statistics/places/placements.h"
#include "base/result.h"

namespace stab::layout_report {

inline constexpr uint16_t kNowhere = 0xffff;

// What an experiment's epochs (or trials, where a layout lasts for one) recorded of one program's workload.
// invariant: offset and pad have moments x functions entries, row by row; the others one a moment
struct PlacementData {
  struct Function {
    std::string name;     // of a library's with its file: "libfoo.so.1!inflate"
    std::string library;  // "libfoo.so.1"; empty: it is the program's own
    uint64_t linked = 0;  // where the linker has put it in its file
    uint32_t bytes = 0;
    std::optional<double> samples;  // its share of the CPU time that was sampled; absent: nothing was
    std::optional<double> older;    // the share of its own samples that were in images before the newest
  };
  std::string experiment, workload;
  std::string unit;        // "epoch", "trial"
  std::string work;  // what CPU time was divided by: "visits of 'block'"; empty: by nothing, a trial's work is the same each time
  double unit_ms = 0;      // CPU time of a unit, median
  double work_per_unit = 0;  // median; 0: none
  bool forced = false;     // places were drawn by a layout script
  size_t program_functions = 0;     // that can move, of its libraries, too; `functions` of them are looked at
  std::vector<Function> functions;
  // Where the program was in files other than its own, in functions that the map does not look at; the most sampled first.
  struct InLibrary {
    std::string name;    // "libfoo.so.1!inflate"
    double samples = 0;  // its share of the CPU time that was sampled
  };
  std::vector<InLibrary> in_libraries;
  // A library that moved and none of whose functions is looked at.
  struct LeftOutLibrary {
    std::string name, why;
  };
  std::vector<LeftOutLibrary> libraries_left_out;
  std::vector<std::pair<std::string, uint64_t>> left_out;  // units that say nothing, by why

  std::vector<double> signal;       // logarithm of CPU time by work
  std::vector<uint32_t> series;     // trial
  std::vector<uint32_t> stratum;    // as Differences takes it
  std::vector<uint16_t> offset;     // of the function's start in its page, bytes; kNowhere: it stayed
  std::vector<uint16_t> pad;        // of its frames, mod 4096; kNowhere: none

  size_t moments() const { return signal.size(); }
  size_t trials() const;
};

// Do not rename: in JSON and in plans made by the engine.
enum class PlaceKind {
  kLine,    // "start mod 64"
  kHalf,    // "start mod 32"
  kPage,    // "crosses a page"
  kPad,     // "pad mod 64"
  kOffset,  // "same offset in 4 KiB": of two functions
  kSets,    // "same sets": of two functions
};
std::string_view name(PlaceKind kind);
std::optional<PlaceKind> place_kind(std::string_view name);

// A place of two functions, how they lie to each other.
bool is_of_two(PlaceKind kind);

// What a copy of a function is aligned to, in bytes.
inline constexpr uint32_t kGrain = 16;

// The level of a place of one function's start, or of two, that begins so many bytes behind the begin of a page.
// pre: not kPad, whose place is no start
int place_level(PlaceKind kind, uint32_t offset, uint32_t bytes);
int place_level(PlaceKind kind, uint32_t offset, uint32_t bytes, uint32_t other_offset, uint32_t other_bytes);

// A place of one function, or how two lie to each other. By name and link-time address, so that it can be looked for in other
// data.
struct Place {
  PlaceKind kind = PlaceKind::kLine;
  std::string function, other;           // other: of two
  uint64_t linked = 0, other_linked = 0;
  std::string library, other_library;  // whose they are, as PlacementData::Function has it
  // "f: start mod 64", "f and g: same sets"
  std::string text() const;
};
// "16", "crosses", "apart": a level in words.
std::string level_text(const Place& place, int level);

struct Candidate {
  Place place;
  statistics::PlacementTest test;
  double q_value = 1;       // Benjamini and Hochberg over all tests of the screen
  int slowest = 0, fastest = 0;  // levels
  statistics::LevelEffects effects;  // alone, as the screen saw them: the winner of many, so its size is too large
  double difference = 0;    // slowest less fastest, of the logarithm
};

struct MapCaveat {
  std::string code;     // in JSON: do not rename
  std::string message;
  std::string hint;
};

struct Screen {
  uint64_t tests = 0;
  double noise = 0;             // sd of a unit, of the logarithm, once drift is taken out
  std::optional<double> lag_one;
  uint64_t differences = 0;
  double finds = 0;             // the difference of two halves that 8 of 10 screens would find, of the logarithm
  std::vector<Candidate> candidates;  // q <= kDiscoveryRate, the strongest first; of places of one function's start that imply
                                      // each other only the strongest
  std::vector<std::string> between_runs;  // hot functions that stay in old images
};
inline constexpr double kDiscoveryRate = 0.10;
inline constexpr double kHotShare = 0.005;  // of samples: functions below are not looked at
inline constexpr size_t kMostMapped = 2000; // functions
inline constexpr size_t kMostPaired = 30;   // hottest ones, whose pairs are looked at
inline constexpr size_t kLeastMoments = 200;

// Of a place that the screen named, in fresh data.
struct Confirmed {
  Place place;
  int slowest = 0, fastest = 0;  // as the screen named them: these data have chosen nothing
  report::Interval difference;           // ratio of times, slowest to fastest level, at 1 - alpha
  double p_value = 1, p_holm = 1, p_equivalence_holm = 1;
  report::Verdict verdict = report::Verdict::kWithheld;
  statistics::LevelEffects effects;
  double sd = 0;                 // that this place alone gives to random layouts, of the logarithm
  statistics::PlacementFit::Share share;  // of the variance from unit to unit
  bool forced = false;           // its levels were; else they came as layouts were drawn
  std::string refused;           // why there is no number
};

struct Confirmation {
  std::string experiment;
  uint64_t moments = 0, trials = 0;
  double noise = 0;
  double alpha = 0.05, margin = 0.01;
  std::vector<Confirmed> places;  // changed ones first, by the variance that they make
  statistics::PlacementFit::Share all;  // of all of them
  double all_sd = 0;
};

struct LayoutMap {
  std::string experiment, workload;
  std::string unit, work;
  double unit_ms = 0;
  uint64_t moments = 0, trials = 0;
  std::vector<std::pair<std::string, uint64_t>> left_out;
  std::vector<PlacementData::Function> functions;  // that were looked at
  size_t program_functions = 0;
  std::vector<PlacementData::InLibrary> in_libraries;
  std::vector<PlacementData::LeftOutLibrary> libraries_left_out;
  Screen screen;
  std::optional<Confirmation> confirmation;
  std::vector<MapCaveat> caveats;
};

struct MapSettings {
  double alpha = 0.05;
  double margin = 0.01;   // a ratio less 1: the smallest difference that matters
};

// kBadInput: fewer than kLeastMoments, or a signal that does not vary.
Result<LayoutMap> screen_layouts(const PlacementData& data, const MapSettings& settings);
// Measures `places` of a screen in data that the screen has not seen. `candidates` of it, at most so many as are to be confirmed.
Result<Confirmation> confirm_places(const PlacementData& fresh, const std::vector<Candidate>& candidates,
                                    const MapSettings& settings);
// Adds a confirmation to the map, and says what it makes of the caveats.
void add_confirmation(LayoutMap& map, Confirmation confirmation);

std::string render_map_text(const LayoutMap& map, int width);
std::string render_no_map_text(const std::string& workload, const std::string& why, int width);
std::string render_map_json(const LayoutMap& map);  // docs/explanation/layout-maps.md has the format

}  // namespace stab::layout_report
