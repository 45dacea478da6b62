// Made blocks of two builds whose code and places are known, for tests and tables of the answer "code or place".
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "analysis/statistics/places/cause.h"
#include "base/rng.h"

namespace stab::statistics {

// All of logarithms: 0.01 is 1 %.
struct MadeCause {
  double code = 0, place = 0;   // the truth
  double noise = 0.005;         // sd of one trial within its block
  double block_sd = 0.1;        // what a whole block's trials share
  double layout_sd = 0.02;      // of random layouts; both builds have the same in a block
  double unshared_sd = 0.001;   // what a layout is to one build alone: places that matching can't match
  double lag = 0;               // correlation of a cell's noise with the block before
  bool heavy = true;            // excess kurtosis 5, as sliced blocks have; else normal
};

class CauseMaker {
 public:
  CauseMaker(uint64_t seed, const MadeCause& truth) : rng_(seed), truth_(truth) {}

  std::vector<CauseBlock> blocks(size_t count) {
    std::vector<CauseBlock> out;
    for (size_t i = 0; i < count; ++i) {
      const double block = truth_.block_sd * normal(), layout = truth_.layout_sd * normal();
      for (double& noise : noise_)
        noise = truth_.lag * noise + std::sqrt(1 - truth_.lag * truth_.lag) * truth_.noise * tail();
      out.push_back({block + noise_[0], block + truth_.code + truth_.place + noise_[1],
                     block + layout + truth_.unshared_sd * normal() + noise_[2],
                     block + layout + truth_.code + truth_.unshared_sd * normal() + noise_[3]});
    }
    return out;
  }

 private:
  double normal() {
    return std::sqrt(-2 * std::log(1 - rng_.uniform())) * std::cos(2 * 3.14159265358979323846 * rng_.uniform());
  }
  // Of variance 1: two normals of different widths, whose mixture has the kurtosis.
  double tail() {
    if (!truth_.heavy) return normal();
    // A share q with w times the variance of the others: kurtosis 3 (1 + q (w^2 - 1)) / (1 + q (w - 1))^2 = 8 at q 0.1, w 9.5.
    constexpr double kShare = 0.1, kWider = 9.5;
    const double unit = std::sqrt(1 / (1 + kShare * (kWider - 1)));
    return normal() * unit * (rng_.uniform() < kShare ? std::sqrt(kWider) : 1);
  }

  Rng rng_;
  MadeCause truth_;
  double noise_[4] = {};
};

// What each look may err by; a table of thousands of answers computes it once.
inline std::vector<double> nominals_of(const CauseSettings& settings) {
  std::vector<double> out;
  const std::span<const uint32_t> looks = settings.looks;
  for (size_t look = 0; look < looks.size(); ++look)
    out.push_back(*nominal_alpha(settings, looks.first(look), looks[look], look + 1 == looks.size()));
  return out;
}

// What is answered in the end, look by look, and after how many blocks.
inline CauseAnswer answer_of(uint64_t seed, const MadeCause& truth, const CauseSettings& settings,
                             const std::vector<double>& nominals) {
  CauseMaker maker(seed, truth);
  std::vector<CauseBlock> blocks;
  CauseAnswer answer;
  for (size_t look = 0; look < settings.looks.size(); ++look) {
    for (const CauseBlock& block : maker.blocks(settings.looks[look] - blocks.size())) blocks.push_back(block);
    answer = *decide_cause(blocks, settings, nominals[look]);
    if (answer.verdict != CauseVerdict::kUnresolved) break;
  }
  return answer;
}

// What the answer to a case is to be. Where the truth is smaller than the margin, that it is nothing is right as well, but
// never of code of half the margin and more.
inline bool is_wrong(const MadeCause& truth, const CauseSettings& settings, CauseVerdict verdict) {
  const bool code = truth.code != 0, place = truth.place != 0;
  const auto below = [&](double effect, double share) { return std::abs(effect) < share * std::log1p(settings.margin); };
  switch (verdict) {
    case CauseVerdict::kCode: return !code || (place && !below(truth.place, 1));
    case CauseVerdict::kPlace: return !place || (code && !below(truth.code, 0.5));
    case CauseVerdict::kBoth: return !code || !place;
    case CauseVerdict::kNothing: return !below(truth.code, 0.5) || !below(truth.place, 1);
    case CauseVerdict::kUnresolved: break;
  }
  return false;
}

}  // namespace stab::statistics
