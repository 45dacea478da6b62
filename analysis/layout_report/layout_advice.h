// What a map advises: where a build is to put functions, so that each has the fast one of its confirmed places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/layout_report/layout_map.h"

namespace stab::layout_report {

// Of places that can't be had together the one that makes more of the variance.
enum class Wanted { kFastest, kSlowest };  // the slowest: a control

struct AdvisedPlace {
  std::string function;
  uint32_t modulus = 64, remainder = 0, bytes = 0;
};

struct LayoutAdvice {
  std::vector<AdvisedPlace> places;
  std::vector<std::string> measured;  // a line for each place that counted: what the confirmation said of it
  std::vector<std::string> left_out;  // confirmed, but no build can have them, and why
};

// Empty where nothing was confirmed as mattering. pre: the map has a confirmation
LayoutAdvice advise(const LayoutMap& map, Wanted wanted);

}  // namespace stab::layout_report
