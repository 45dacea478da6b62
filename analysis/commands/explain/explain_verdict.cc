#include "analysis/commands/explain/explain_verdict.h"

#include <algorithm>
#include <cmath>

namespace stab::commands {

bool BodyFacts::are_same() const {
  return functions > 0 && changed.empty() && constants.empty() && old_alone.empty() && new_alone.empty() &&
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

// Shares of the samples below which code takes no time that anybody could see.
constexpr double kNextToNothing = 0.005;

// Whether code that was not compared can make no more than half of a difference. Of both programs' samples a share of `share` is
// in it, so it took at most that much of their times together; that is no more than its own time grew.
bool makes_less_than_half(double share, double log_ratio) {
  const double both = 1 + std::exp(log_ratio);  // in times of the old one
  return share < kNextToNothing || 2 * share * both < std::abs(std::expm1(log_ratio));
}

}  // namespace

bool runs_same_code(const Explanation& all) {
  if (!all.bodies || !all.libraries || !all.libraries->not_known.empty()) return false;
  const BodyFacts& bodies = *all.bodies;
  const bool has_other_data =
      std::any_of(bodies.data.begin(), bodies.data.end(), [](const BodyFacts::Object& one) { return one.is_other; });
  return bodies.functions > 0 && bodies.changed.empty() && bodies.constants.empty() && bodies.knows_constants &&
         !has_other_data && (bodies.are_same() || (bodies.changed_share && *bodies.changed_share < kNextToNothing)) &&
         bodies.unmatched + all.libraries->rebuilt < kNextToNothing;
}

bool is_place_of_same_code(const Explanation& all) {
  const statistics::CauseAnswer& answer = *all.answer;
  return answer.verdict == statistics::CauseVerdict::kUnresolved && answer.place.state == statistics::EffectState::kThere &&
         std::abs(answer.code.estimate) <= std::log1p(all.settings.margin / 2) && !copies_count(all.copies) && !waits(all) &&
         runs_same_code(all);
}

bool may_be_data(const Explanation& all) {
  return statistics::names_code(all.answer->verdict) && all.bodies && all.bodies->are_same() && all.libraries &&
         all.libraries->not_known.empty() &&
         makes_less_than_half(all.bodies->unmatched + all.libraries->rebuilt, all.answer->code.estimate);
}

bool may_be_partly_data(const Explanation& all) {
  if (!statistics::names_code(all.answer->verdict) || !all.bodies || all.bodies->are_same() || !all.bodies->changed_share)
    return false;
  const std::vector<BodyFacts::Object>& data = all.bodies->data;
  if (data.empty() || std::any_of(data.begin(), data.end(), [](const auto& one) { return one.is_other; })) return false;
  return makes_less_than_half(*all.bodies->changed_share, all.answer->code.estimate);
}

bool may_be_still_place(const Explanation& all) {
  if (!statistics::names_code(all.answer->verdict) || !all.bodies) return false;
  const BodyFacts& bodies = *all.bodies;
  if (std::max(bodies.old_still, bodies.new_still) < kLibrariesMatter) return false;
  // What that code takes longer, in times of the old program. Where it is surely less than half of the difference, the rest is
  // code.
  const double ratio = std::exp(all.answer->code.estimate), difference = ratio - 1;
  const double grown = bodies.new_still * ratio - bodies.old_still;
  const double error = std::hypot(bodies.new_still_error * ratio, bodies.old_still_error);
  return difference > 0 ? grown + 2 * error >= difference / 2 : grown - 2 * error <= difference / 2;
}

bool waits(const Explanation& all) { return all.alone && (all.alone->old_waits || all.alone->new_waits); }

bool may_wait_longer(const Explanation& all) {
  const statistics::CauseVerdict verdict = all.answer->verdict;
  return waits(all) && (verdict == statistics::CauseVerdict::kNothing || verdict == statistics::CauseVerdict::kPlace);
}

bool is_chance(const Explanation& all) {
  return all.are_one_program && all.answer->verdict != statistics::CauseVerdict::kNothing;
}

statistics::CauseVerdict verdict_of(const Explanation& all) {
  if (is_chance(all)) return statistics::CauseVerdict::kUnresolved;
  if (is_place_of_same_code(all)) return statistics::CauseVerdict::kPlace;
  return may_be_library_place(all) || may_be_still_place(all) || may_be_data(all) || may_wait_longer(all)
             ? statistics::CauseVerdict::kUnresolved
             : all.answer->verdict;
}

}  // namespace stab::commands
