// Intervals are Student's on the blocks' differences: the cells of a block share its noise, so only differences are looked at.
// Differences of sliced blocks have heavy and even tails, for which t is careful (docs/how-to/explain.md has the rates).
#include "analysis/statistics/places/cause.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/spending_curve.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::statistics {
namespace {

// What is sure but smaller than this share of the margin is no cause that is worth a name.
constexpr double kNamedShare = 0.25;
// A small change of code beside a place is named by this share of the probability to err.
constexpr double kSureShare = 0.2;
// Code is excused only within this share of the margin.
constexpr double kExcuseShare = 0.5;
constexpr uint32_t kMostForecast = 10'000;
constexpr double kPowerZ = 0.84;  // 80 %

struct Limits {
  double margin;  // of a logarithm
  double half_two_sided, half_one_sided;  // in standard errors
};

// What is to be added to an effect, give or take so much.
struct Shift {
  double by = 0, or_so = 0;
};

bool excludes_zero(const CauseEffect& effect) { return effect.low > 0 || effect.high < 0; }

EffectState state_of(const CauseEffect& effect, double error, const Limits& limits, double margin, double or_so) {
  const double reach = std::abs(effect.estimate) + limits.half_one_sided * error + or_so;
  const bool within = reach < margin;
  const bool excludes = excludes_zero(effect);
  const bool named = excludes && std::abs(effect.estimate) >= kNamedShare * limits.margin;
  if (named) return reach < limits.margin ? EffectState::kSmall : EffectState::kThere;
  if (within) return EffectState::kAbsent;
  return excludes ? EffectState::kThere : EffectState::kOpen;
}

CauseEffect effect_of(const std::vector<double>& values, const Limits& limits, double margin, const Shift& shift = {}) {
  const Moments all = moments(values);
  CauseEffect out;
  out.estimate = all.mean + shift.by;
  out.spread = all.sd();
  const double error = out.spread / std::sqrt(static_cast<double>(values.size()));
  out.low = out.estimate - limits.half_two_sided * error - shift.or_so;
  out.high = out.estimate + limits.half_two_sided * error + shift.or_so;
  out.state = state_of(out, error, limits, margin, shift.or_so);
  return out;
}

// What the two states say together. A small place alone, or beside a change of code, is in the words alone, as any two links
// differ by a little. A change of code that is small beside a place is named, lest it be excused, and only once it is sure: until
// then more blocks may show that it is absent.
CauseVerdict verdict_of(EffectState code, bool is_code_sure, EffectState place, bool is_place_small) {
  using S = EffectState;
  if (code == S::kOpen || place == S::kOpen) return CauseVerdict::kUnresolved;
  if (code == S::kAbsent) return place == S::kAbsent || is_place_small ? CauseVerdict::kNothing : CauseVerdict::kPlace;
  if (place == S::kAbsent || (code == S::kThere && place == S::kSmall)) return CauseVerdict::kCode;
  return code == S::kSmall && !is_code_sure ? CauseVerdict::kUnresolved : CauseVerdict::kBoth;
}

// After how many blocks an effect would be told, one way or the other, if it is what it seems; nothing: after none.
std::optional<uint32_t> forecast(const CauseEffect& effect, double z, double margin) {
  if (effect.state != EffectState::kOpen) return kLeastCauseBlocks;
  const double size = std::abs(effect.estimate);
  const double far = std::max(size, margin - size);
  if (far <= 0 || effect.spread <= 0) return std::nullopt;
  const double n = std::pow((z + kPowerZ) * effect.spread / far, 2);
  if (n > kMostForecast) return std::nullopt;
  return static_cast<uint32_t>(std::ceil(n)) + 1;
}

}  // namespace

std::string_view word_of(CauseVerdict verdict) {
  switch (verdict) {
    case CauseVerdict::kCode: return "code";
    case CauseVerdict::kPlace: return "place";
    case CauseVerdict::kBoth: return "both";
    case CauseVerdict::kNothing: return "nothing";
    case CauseVerdict::kUnresolved: break;
  }
  return "unresolved";
}

std::string_view word_of(EffectState state) {
  switch (state) {
    case EffectState::kThere: return "there";
    case EffectState::kSmall: return "small";
    case EffectState::kAbsent: return "absent";
    case EffectState::kOpen: break;
  }
  return "open";
}

Result<double> nominal_alpha(const CauseSettings& settings, std::span<const uint32_t> earlier, uint32_t blocks, bool is_last) {
  const double most = std::max(blocks, settings.looks.back()), half = settings.alpha / 2;
  std::vector<double> fractions, spent;
  const auto add = [&](uint32_t at, double share) {
    fractions.push_back(at / most);
    spent.push_back(share * half);
  };
  const auto upto = [&](size_t look) { return static_cast<double>(look + 1) / static_cast<double>(settings.looks.size()); };
  // A budget may end at the blocks of the look before: that is then the last one.
  for (size_t i = 0; i < earlier.size() && earlier[i] < blocks; ++i) add(earlier[i], upto(i));
  add(blocks, is_last ? 1.0 : upto(earlier.size()));
  STAB_TRY(const std::vector<Look> looks, looks_that_spend(spent, fractions, false));
  return looks.back().nominal_p;
}

NextCauseLook next_cause_look(const CauseSettings& settings, size_t earlier, uint32_t blocks, uint32_t until_functions,
                              uint32_t in_all) {
  constexpr uint32_t kLeastMore = 4;  // fewer blocks are not worth a look
  const std::vector<uint32_t>& looks = settings.looks;
  if (earlier + 1 >= looks.size() || blocks >= looks.back()) return {};
  const bool is_one_left = earlier + 2 == looks.size();
  const uint32_t declared = is_one_left ? looks.back() : *std::upper_bound(looks.begin(), looks.end(), blocks);
  const uint32_t more = declared - blocks;
  const bool is_for_functions = until_functions < kLeastMore;
  if (!is_one_left && !is_for_functions && more > until_functions) return {until_functions, false, false};
  if (more <= in_all) return {more, false, is_for_functions};
  return {in_all >= kLeastMore ? in_all : 0, true, is_for_functions};
}

Result<CauseAnswer> decide_cause(std::span<const CauseBlock> blocks, const CauseSettings& settings, double nominal,
                                 const CopyPrice& price) {
  const auto count = static_cast<uint32_t>(blocks.size());
  if (count < kLeastCauseBlocks)
    return bad_input(std::to_string(count) + " whole blocks: expected " + std::to_string(kLeastCauseBlocks) + " at least");
  std::vector<double> plain, code, place;
  for (const CauseBlock& block : blocks) {
    plain.push_back(block.plain_new - block.plain_old);
    code.push_back(block.random_new - block.random_old);
    place.push_back(plain.back() - code.back());
    if (!std::isfinite(place.back())) return bad_input("a block has a time that has no logarithm: expected more than 0 s");
  }
  const double df = count - 1.0;
  const double margin = std::log1p(settings.margin);
  const auto limits_at = [&](double error) {
    return Limits{margin, t_quantile_upper(error / 2, df), t_quantile_upper(error, df)};
  };
  const Limits limits = limits_at(nominal);
  CauseAnswer out;
  out.blocks = count;
  out.confidence = 1 - nominal;
  out.plain = effect_of(plain, limits_at(settings.alpha), margin);
  const double paid = (price.low + price.high) / 2, or_so = (price.high - price.low) / 2;
  const Shift of_code{-paid, or_so}, of_place{paid, or_so};
  out.code = effect_of(code, limits, kExcuseShare * margin, of_code);
  out.place = effect_of(place, limits, margin, of_place);
  const EffectState seen = effect_of(plain, limits, margin).state;
  const bool is_seen_small = seen == EffectState::kSmall || seen == EffectState::kAbsent;
  const bool is_code_sure = excludes_zero(effect_of(code, limits_at(kSureShare * nominal), kExcuseShare * margin, of_code));
  out.verdict = verdict_of(out.code.state, is_code_sure, out.place.state, is_seen_small && std::abs(out.place.estimate) < margin);
  if (out.verdict != CauseVerdict::kUnresolved) return out;
  const double z = normal_quantile(1 - nominal / 2);
  CauseEffect code_to_settle = out.code;
  if (out.code.state == EffectState::kSmall) code_to_settle.state = EffectState::kOpen;
  const auto for_code = forecast(code_to_settle, z, kExcuseShare * margin), for_place = forecast(out.place, z, margin);
  if (for_code && for_place && or_so == 0) out.settles_at = std::max({*for_code, *for_place, count + 1});
  return out;
}

}  // namespace stab::statistics
