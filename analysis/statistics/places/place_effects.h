// Of which functions does the place make the difference? From runs of one build in which each function lay where one of two
// builds has it, drawn for each run and each function by itself. So every run tells of every function: all groups of a group
// test are tested at once, and nothing is chosen on the way.
//
// The logarithm of a run's time is a block's, plus what each function adds where it lies as in the new build, plus noise: least
// squares within blocks. A third of alpha goes to the functions, by Holm, a third to pairs of the first sixteen, each
// pair in a model of its own beside all functions, and a third to all functions together.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::statistics {

struct PlacedRun {
  uint32_t block = 0;
  double log_time = 0;
  std::vector<bool> as_new;  // by function: it lay as in the new build
};

// What it adds to the logarithm of the time that a function lies where the new build has it.
struct PlaceEffect {
  double estimate = 0, low = 0, high = 0;  // the interval is this function's own
  double p_holm = 1;
  bool is_found = false;
};

struct PairEffect {
  uint32_t first = 0, second = 0;  // functions
  double estimate = 0, p_holm = 1;  // what both together add beyond what each adds
};

// Functions and pairs are a cause where they make at least half of the place that is looked for; else they are found all the
// same.
enum class PlaceCause {
  kFunction,   // one function
  kPair,       // two, each or together
  kSeveral,    // three and more, each of them found
  kMany,       // all together are a cause, and none of them by themselves: many small ones
  kElsewhere,  // shown not to be among these functions: all together are no half of the place, or less than the margin
  kOpen,
};
std::string_view word_of(PlaceCause cause);  // "one function"

struct PlaceAnswer {
  PlaceCause cause = PlaceCause::kOpen;
  std::vector<PlaceEffect> functions;  // in the order of as_new
  std::vector<PairEffect> pairs;       // found, by descending size
  PlaceEffect together;                // by its third of alpha; all functions as in the new build against all as in the old one
  double of_found = 0;                 // what those make that were found, by themselves or in pairs
  uint32_t runs = 0, blocks = 0;
};

// Whether what was found makes half of this place or more, a logarithm of time: of a place of 0 anything does.
bool makes_half(const PlaceAnswer& answer, double place);

struct PlaceSettings {
  double alpha = 0.05;
  double margin = 0.01;  // as a share
  double place = 0;      // what is looked for, a logarithm of time; 0: not known
};

// kBadInput: no functions, or too few runs for as many.
Result<PlaceAnswer> find_places(const std::vector<PlacedRun>& runs, const PlaceSettings& settings);

// Runs that as many functions want at least.
inline constexpr uint32_t kRunsPerFunction = 4;

// How many runs, in blocks of so many, find one of these functions with a probability of 90 % if it alone adds `effect` to a
// logarithm of time, where runs of a block spread by `spread`: by Holm's hardest step.
// pre: effect, spread > 0, functions >= 1, runs_of_block >= 2
double runs_to_find(double effect, double spread, size_t functions, uint32_t runs_of_block, double alpha);

}  // namespace stab::statistics
