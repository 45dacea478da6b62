#include "analysis/commands/explain_verdict.h"

#include <algorithm>
#include <cmath>

namespace stab::commands {

bool BodyFacts::are_same() const {
  return functions > 0 && changed.empty() && old_alone.empty() && new_alone.empty() &&
         std::none_of(data.begin(), data.end(), [](const Object& one) { return one.is_other; });
}

bool AloneFacts::print_something_else() const {
  const auto is_one = [](const std::vector<std::string>& outputs) {
    return outputs.size() > 1 && std::count(outputs.begin(), outputs.end(), outputs[0]) == std::ssize(outputs);
  };
  return is_one(old_outputs) && is_one(new_outputs) && old_outputs[0] != new_outputs[0];
}

bool may_be_library_place(const Explanation& all) {
  return statistics::names_code(all.answer->verdict) && all.libraries && all.libraries->apart >= kLibrariesMatter;
}

namespace {

// Whether code that was not compared can make no more than half of a difference. Of both programs' samples a share of `share` is
// in it, so it took at most that much of their times together; that is no more than its own time grew.
bool makes_less_than_half(double share, double log_ratio) {
  constexpr double kNextToNothing = 0.005;
  const double both = 1 + std::exp(log_ratio);  // in times of the old one
  return share < kNextToNothing || 2 * share * both < std::abs(std::expm1(log_ratio));
}

}  // namespace

bool may_be_data(const Explanation& all) {
  return statistics::names_code(all.answer->verdict) && all.bodies && all.bodies->are_same() && all.libraries &&
         all.libraries->not_known.empty() &&
         makes_less_than_half(all.bodies->unmatched + all.libraries->rebuilt, all.answer->code.estimate);
}

bool waits(const Explanation& all) { return all.alone && (all.alone->old_waits || all.alone->new_waits); }

bool may_wait_longer(const Explanation& all) {
  const statistics::CauseVerdict verdict = all.answer->verdict;
  return waits(all) && (verdict == statistics::CauseVerdict::kNothing || verdict == statistics::CauseVerdict::kPlace);
}

statistics::CauseVerdict verdict_of(const Explanation& all) {
  return may_be_library_place(all) || may_be_data(all) || may_wait_longer(all) ? statistics::CauseVerdict::kUnresolved
                                                                               : all.answer->verdict;
}

}  // namespace stab::commands
