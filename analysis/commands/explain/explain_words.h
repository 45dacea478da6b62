// How explain writes differences and shares of time.
#pragma once

#include <string>

#include "analysis/statistics/places/cause.h"

namespace stab::commands {

// "+2.69 %"
std::string percent_of(double log_ratio);
// "2.69 % slower"
std::string change_text(double log_ratio);
// "12.3 %"
std::string share_text(double share);
// "[+2.51, +2.87] %"
std::string interval_text(double low, double high);

// "less than 0.500 %" of an effect that is absent within `within`, a share.
std::string state_text(const statistics::CauseEffect& effect, double within);

template <typename Effect>
std::string interval_of(const Effect& effect) {
  return interval_text(effect.low, effect.high);
}

}  // namespace stab::commands
