#include "analysis/commands/explain/explain_words.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/text/text_table.h"

namespace stab::commands {

std::string percent_of(double log_ratio) { return text::ratio_text(std::exp(log_ratio)); }

std::string change_text(double log_ratio) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.2f %% %s", std::abs(100 * std::expm1(log_ratio)),
                log_ratio < 0 ? "faster" : "slower");
  return text.data();
}

std::string share_text(double share) { return text::significant(100 * share, 3) + " %"; }

std::string interval_text(double low, double high) {
  return "[" + text::signed_per_cent(std::exp(low)) + ", " + text::signed_per_cent(std::exp(high)) + "] %";
}

std::string state_text(const statistics::CauseEffect& effect, double within) {
  switch (effect.state) {
    case statistics::EffectState::kThere: return "there";
    case statistics::EffectState::kSmall: return "there, and less than the margin";
    case statistics::EffectState::kAbsent: return "less than " + share_text(within);
    case statistics::EffectState::kOpen: break;
  }
  return "open";
}

}  // namespace stab::commands
