// verdict_times ROUNDS LINK_SECONDS [drawn] < programs: how much machine time passes until an answer, and how often it is
// wrong, by five ways to compare two builds; simulated from recorded times (tests/bench/time_to_verdict makes input and tables).
//
// A program is four lines: its name, seconds of a run, the factor that randomization costs, and standard deviations of logarithms
// of its links and of what links keep where layouts are random; then the deviations of plain runs from their link's mean; then
// those of the two sides' differences within blocks of randomized runs. Deviations are drawn from those recorded; with `drawn`
// those of blocks with a sign that is drawn, too, since the sides of a block are exchangeable. Without it far ones stay on
// the side where they were recorded, as if one build alone had a path that is slow now and then.
//
//   single      two builds, 10 runs each, Welch's t test at 5 %
//   links       as many links a side as find 1 % in 80 % of cases, a run each, the same test
//   fixed       two randomized builds in as many blocks as find 1 % in 80 % of cases; changed or equivalent within 1 %
//   looks       the same with O'Brien and Fleming's looks after each quarter
//   sequence    the same watched after each block from the eighth on, up to twice as many
//
// Output: a line each for program, way and difference: median seconds, and shares right, without an answer, and wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/report/contrasts/judged_contrast.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/bets.h"
#include "analysis/statistics/two_samples/t_tests.h"
#include "base/rng.h"

namespace {

using namespace stab;
using namespace stab::report;
using namespace stab::statistics;

constexpr double kAlpha = 0.05, kPower = 0.8, kMargin = 0.01;
constexpr uint32_t kFirst = 8, kMost = 4000;

struct Program {
  std::string name;
  double seconds = 0, factor = 1, link_sd = 0, kept_sd = 0;
  std::vector<double> plain, differences;
};

enum class Said { kNothing, kHigher, kLower, kEquivalent };

// What the blocks seen so far say of the bets on three means: none, and the margin on either side. Grows by a block at a time.
struct WatchedBets {
  explicit WatchedBets(double g) : none(0, g), low(-std::log1p(kMargin), g), high(std::log1p(kMargin), g) {}
  void add(double value) {
    none.add(value);
    low.add(value);
    high.add(value);
  }
  Bets none, low, high;
};

// As judged_contrast.cc judges a contrast that is alone in its family. An interval leaves out what its p says: half of alpha a
// side.
Said judge(const Moments& values, const LookLevels& levels, const WatchedBets* bets = nullptr) {
  if (!levels.bounded()) return Said::kNothing;
  const double margin = std::log1p(kMargin), error = values.standard_error(), df = static_cast<double>(values.n - 1);
  const double half = t_quantile_upper(levels.interval() / 2, df) * error;
  const auto one_sided = [&](double t, double log_bet) {
    const double p = t_upper(t, df), of_t = p >= 0.5 ? p : levels.p(2 * p) / 2;
    return bets == nullptr ? of_t : std::max(of_t, std::exp(-log_bet));
  };
  const double above = one_sided((values.mean + margin) / error, bets ? bets->low.log_above() : 0);
  const double below = one_sided((margin - values.mean) / error, bets ? bets->high.log_below() : 0);
  double p = levels.p(t_two_sided(values.mean / error, df));
  double low = values.mean - half, high = values.mean + half;
  if (bets != nullptr) {
    p = std::max(p, 2 * std::exp(-std::max(bets->none.log_above(), bets->none.log_below())));
    // Only where it lies with respect to 0 and the margins is asked of the interval.
    if (2 * std::exp(-bets->none.log_above()) >= kAlpha) low = std::min(low, 0.0);
    if (2 * std::exp(-bets->none.log_below()) >= kAlpha) high = std::max(high, 0.0);
    if (2 * above >= kAlpha) low = std::min(low, -margin);
    if (2 * below >= kAlpha) high = std::max(high, margin);
  }
  const Verdict verdict = verdict_of(low, high, margin, std::max(above, below) < kAlpha, p < kAlpha);
  if (verdict == Verdict::kEquivalent) return Said::kEquivalent;
  if (verdict == Verdict::kChanged) return values.mean > 0 ? Said::kHigher : Said::kLower;
  return Said::kNothing;
}

// Values a side at which a difference of 1 % is found: the smallest n with sd sqrt(k / n) (t + t) <= margin.
uint32_t needed(double sd, double k) {
  for (uint32_t n = kFirst; n < kMost; ++n) {
    const double df = n - 1;
    if (sd * std::sqrt(k / n) * (t_quantile(1 - kAlpha / 2, df) + t_quantile(kPower, df)) <= std::log1p(kMargin)) return n;
  }
  return kMost;
}

double sd_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

class Simulation {
 public:
  Simulation(const Program& program, double link_seconds, bool draw_signs)
      : program_(program), link_seconds_(link_seconds), draw_signs_(draw_signs), rng_(Rng::stream(51, program.name)) {
    links_ = needed(std::hypot(program.link_sd, sd_of(program.plain)), 2);
    blocks_ = needed(sd_of(program.differences), 1);
    for (uint32_t n = 0; n <= 2 * blocks_; ++n)
      sequence_.push_back(LookLevels::in_sequence(std::max(n, 2u), std::sqrt(2.0 * kFirst * blocks_), kAlpha));
    const std::vector<double> fractions{0.25, 0.5, 0.75, 1};
    for (size_t k = 0; k < 4; ++k) looks_.push_back(*LookLevels::at_look(Spending::kObrienFleming, fractions, k, kAlpha));
  }

  void row(int rounds, double difference) {
    const double d = std::log1p(difference);
    const auto by = [&](const char* way, const auto& once) {
      std::vector<double> seconds;
      int right = 0, wrong = 0;
      for (int round = 0; round < rounds; ++round) {
        const auto [said, took] = once();
        seconds.push_back(took);
        const bool is_wrong = said == Said::kLower || (said == Said::kHigher && difference == 0) ||
                              (said == Said::kEquivalent && difference >= kMargin);
        wrong += is_wrong;
        right += !is_wrong && said != Said::kNothing;
      }
      std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
      std::printf("%s %s %g %.3f %.4f %.4f\n", program_.name.c_str(), way, difference, seconds[static_cast<size_t>(rounds / 2)],
                  right / double(rounds), wrong / double(rounds));
    };
    struct Answer {
      Said said;
      double seconds;
    };
    by("single", [&] {
      constexpr int kRuns = 10;
      const double a = program_.link_sd * normal(), b = program_.link_sd * normal() + d;
      return Answer{welch(
                        kRuns, [&] { return a; }, [&] { return b; }),
                    2 * (link_seconds_ + kRuns * program_.seconds)};
    });
    by("links", [&] {
      const auto fresh = [&] { return program_.link_sd * normal(); };
      return Answer{welch(static_cast<int>(links_), fresh, [&] { return fresh() + d; }),
                    2 * links_ * (link_seconds_ + program_.seconds)};
    });
    const auto took = [&](uint32_t blocks) { return 2 * (link_seconds_ + blocks * program_.seconds * program_.factor); };
    by("fixed", [&] {
      const std::vector<double> values = differences(d, blocks_);
      return Answer{judge(moments(values), LookLevels(kAlpha)), took(blocks_)};
    });
    by("looks", [&] {
      const std::vector<double> values = differences(d, blocks_);
      for (uint32_t k = 0;; ++k) {
        const uint32_t at = std::max(2u, blocks_ * (k + 1) / 4);
        const Said said = judge(moments(std::span(values).first(at)), looks_[k]);
        if (said != Said::kNothing || k == 3) return Answer{said, took(at)};
      }
    });
    by("sequence", [&] {
      const uint32_t most = 2 * blocks_;
      const std::vector<double> values = differences(d, most);
      Moments seen = moments(std::span(values).first(kFirst));
      WatchedBets bets(sequence_[kFirst].mixture());
      for (uint32_t at = 0; at < kFirst; ++at) bets.add(values[at]);
      for (uint32_t at = kFirst;; ++at) {
        const Said said = judge(seen, sequence_[at], &bets);
        if (said != Said::kNothing || at == most) return Answer{said, took(at)};
        seen = merge(seen, Moments{1, values[at], 0});
        bets.add(values[at]);
      }
    });
    std::fflush(stdout);
  }

  void sizes() const { std::printf("# %s links %u blocks %u\n", program_.name.c_str(), links_, blocks_); }

 private:
  double normal() { return normal_quantile((static_cast<double>(rng_.next() >> 12) + 0.5) * 0x1p-52); }
  double drawn(const std::vector<double>& from) { return from[rng_.below(from.size())]; }
  std::vector<double> differences(double d, uint32_t blocks) {
    const double kept = std::sqrt(2.0) * program_.kept_sd * normal();
    std::vector<double> out(blocks);
    for (double& value : out) {
      const double deviation = drawn(program_.differences);
      value = d + kept + (draw_signs_ && rng_.below(2) == 0 ? -deviation : deviation);
    }
    return out;
  }
  template <typename A, typename B>
  Said welch(int runs, const A& a, const B& b) {
    std::vector<double> first, second;
    for (int run = 0; run < runs; ++run) {
      first.push_back(a() + drawn(program_.plain));
      second.push_back(b() + drawn(program_.plain));
    }
    const auto test = welch_t(moments(second), moments(first), 0, Alternative::kTwoSided, 1 - kAlpha);
    if (!test || test->p_value >= kAlpha) return Said::kNothing;
    return test->estimate > 0 ? Said::kHigher : Said::kLower;
  }

  Program program_;
  double link_seconds_;
  bool draw_signs_;
  Rng rng_;
  uint32_t links_ = 0, blocks_ = 0;
  std::vector<LookLevels> sequence_, looks_;
};

std::vector<double> numbers(const std::string& line) {
  std::istringstream words(line);
  std::vector<double> out;
  for (double number; words >> number;) out.push_back(number);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  const double link_seconds = argc > 2 ? std::atof(argv[2]) : -1;
  const bool draw_signs = argc > 3 && std::string(argv[3]) == "drawn";
  if (rounds < 1 || !(link_seconds >= 0) || argc > 4 || (argc > 3 && !draw_signs)) {
    std::fprintf(stderr, "usage: verdict_times ROUNDS LINK_SECONDS [drawn] < programs\n");
    return 2;
  }
  Program program;
  for (std::string line; std::getline(std::cin, program.name);) {
    std::getline(std::cin, line);
    const std::vector<double> facts = numbers(line);
    std::getline(std::cin, line);
    program.plain = numbers(line);
    std::getline(std::cin, line);
    program.differences = numbers(line);
    if (facts.size() != 4 || program.plain.size() < 8 || program.differences.size() < 8) {
      std::fprintf(stderr, "verdict_times: program '%s' lacks its four facts or has fewer than 8 deviations\n",
                   program.name.c_str());
      return 2;
    }
    program.seconds = facts[0], program.factor = facts[1], program.link_sd = facts[2], program.kept_sd = facts[3];
    Simulation simulation(program, link_seconds, draw_signs);
    simulation.sizes();
    for (const double difference : {0.0, 0.005, 0.01, 0.02, 0.05}) simulation.row(rounds, difference);
  }
  return 0;
}
