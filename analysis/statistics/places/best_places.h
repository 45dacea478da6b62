// Which of two places each found function is to have, so that a program is fast, and what that gains in each of the two builds.
#pragma once

#include <optional>
#include <vector>

#include "analysis/statistics/places/place_effects.h"

namespace stab::statistics {

struct BestPlaces {
  // By function, in the order of PlacedRun::as_new. One that is not placed stays where a build has it.
  std::vector<bool> is_placed;
  std::vector<bool> as_new;       // that place is the new build's; else the old one's
  std::vector<bool> is_together;  // chosen with another one, so what its place gains is known of both together alone
  // What the places add to the logarithm of the time of the build that has all functions in the places of the old one, or of the
  // new one; below zero it is faster. Zero, and so its interval, where they lie there already.
  PlaceEffect in_old, in_new;
};

// `may_place`: by function, whether a build can be told where to put it. Of a pair with one that can't, what is known of the
// other alone counts. Intervals hold with 1 - alpha each, for places chosen beforehand: those of pairs are chosen by the same
// runs.
// Absent: none was found that can be placed. `is_slowest`: a control, where each is slow.
// Equation: time of a choice x of 0 and 1 is sum b_f x_f + sum c_fg x_f x_g, by least squares of all functions and these pairs.
// pre: `answer` is find_places() of `runs`; may_place has an entry for each function
std::optional<BestPlaces> best_places(const std::vector<PlacedRun>& runs, const PlaceAnswer& answer,
                                      const std::vector<bool>& may_place, double alpha, bool is_slowest = false);

}  // namespace stab::statistics
