// session_table [ROUNDS]: Markdown tables of what gates of many sessions answer where the truth is known. What lies between
// sessions is drawn anew for each session, also for the A/A controls that a logbook has; blocks differ by 1.5 % (sd), 10, 20 or
// 40 of them.
//
// 1. How often a gate's 95 % interval leaves the truth out, as it is and widened, by the number of sessions that are known.
// 2. e-values of a commit that is not slower: their mean, and how often they are large.
// 3. Whole streams of pull requests, of which one in twenty is 2 % slower; a doubtful one is gated in a second session, and in a
// third.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/looks/online_discoveries.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/rng.h"
#include "tests/unit/analysis/lab_samples.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::statistics;

constexpr double kBlockSd = 0.015, kMargin = 0.02;

// What a session of so many blocks finds.
SessionDifference session(Rng& rng, double truth, double between, int blocks) {
  std::vector<double> values;
  const double shift = truth + between * standard_normal(rng);
  for (int i = 0; i < blocks; ++i) values.push_back(shift + kBlockSd * standard_normal(rng));
  const Moments seen = moments(values);
  return {seen.mean, std::sqrt(seen.variance() / blocks), static_cast<double>(blocks - 1)};
}

std::vector<SessionDifference> controls_of(Rng& rng, double between, int sessions) {
  std::vector<SessionDifference> out;
  for (int i = 0; i < sessions; ++i) out.push_back(session(rng, 0, between, 40));
  return out;
}

void intervals(int rounds) {
  std::puts(
      "| sessions known | between them (sd) | blocks of the gate | left out: blocks alone | widened | half width | widened |");
  std::puts("|---:|---:|---:|---:|---:|---:|---:|");
  for (const int sessions : {3, 5, 10, 30})
    for (const double between : {0.0, 0.002, 0.005})
      for (const int blocks : {10, 40}) {
        Rng rng = Rng::stream(71, "intervals",
                              static_cast<uint64_t>(sessions * 100000 + blocks * 1000) + static_cast<uint64_t>(between * 1e4));
        int plain = 0, widened = 0;
        double width = 0, wide_width = 0;
        for (int round = 0; round < rounds; ++round) {
          const auto controls = controls_of(rng, between, sessions);
          const SessionDifference gate = session(rng, 0, between, blocks);
          const double half = t_quantile(0.975, gate.df) * gate.standard_error;
          const WidenedError error = widened_error(controls, gate.standard_error, gate.df);
          const double wide = t_quantile(0.975, error.df) * error.scale;
          plain += std::fabs(gate.difference) > half;
          widened += std::fabs(gate.difference) > wide;
          width += half;
          wide_width += wide;
        }
        std::printf("| %d | %.1f %% | %d | %.1f %% | %.1f %% | %.2f %% | %.2f %% |\n", sessions, 100 * between, blocks,
                    100.0 * plain / rounds, 100.0 * widened / rounds, 100 * width / rounds, 100 * wide_width / rounds);
        std::fflush(stdout);
      }
}

void evidence(int rounds) {
  std::puts(
      "\n| sessions known | between them (sd) | mean of e, one gate | 20 or more | mean of e, two sessions | 20 or more at "
      "either | "
      "median e of +2 %, one gate | two |");
  std::puts("|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const int sessions : {5, 10, 30})
    for (const double between : {0.0, 0.002, 0.005}) {
      Rng rng = Rng::stream(72, "evidence", static_cast<uint64_t>(sessions * 1000) + static_cast<uint64_t>(between * 1e4));
      double one = 0, two = 0;
      int large = 0, ever = 0;
      std::vector<double> slow_one, slow_two;
      for (int round = 0; round < rounds; ++round) {
        const auto controls = controls_of(rng, between, sessions);
        for (const double truth : {0.0, std::log1p(0.02)}) {
          std::vector<SessionDifference> gates = {session(rng, truth, between, 40)};
          const double first = log_e_value(gates, controls, kMargin);
          gates.push_back(session(rng, truth, between, 40));
          const double both = log_e_value(gates, controls, kMargin);
          if (truth > 0) {
            slow_one.push_back(first);
            slow_two.push_back(both);
            continue;
          }
          one += std::exp(first);
          two += std::exp(both);
          large += first >= std::log(20);
          ever += std::max(first, both) >= std::log(20);
        }
      }
      const auto median = [](std::vector<double>& of) {
        std::nth_element(of.begin(), of.begin() + static_cast<long>(of.size() / 2), of.end());
        return std::exp(of[of.size() / 2]);
      };
      std::printf("| %d | %.1f %% | %.2f | %.2f %% | %.2f | %.2f %% | %.2g | %.2g |\n", sessions, 100 * between, one / rounds,
                  100.0 * large / rounds, two / rounds, 100.0 * ever / rounds, median(slow_one), median(slow_two));
      std::fflush(stdout);
    }
}

struct Request {
  double truth = 0;
  std::vector<SessionDifference> gates;
  bool called = false;
};

void streams(int rounds) {
  constexpr int kRequests = 500, kOneSlowIn = 20, kMostSessions = 3;
  std::puts(
      "\n| sessions known | between them (sd) | one test each, +0 %: worse | widened: worse | stream: false of those called "
      "worse | "
      "+0 %: called worse | +2 %: called at once | within two sessions | within three |");
  std::puts("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const int sessions : {5, 10, 30})
    for (const double between : {0.0, 0.002, 0.005}) {
      Rng rng = Rng::stream(73, "streams", static_cast<uint64_t>(sessions * 1000) + static_cast<uint64_t>(between * 1e4));
      double false_share = 0;
      int slow = 0, same = 0, found[kMostSessions] = {}, wrong = 0, plain_wrong = 0, widened_wrong = 0;
      for (int round = 0; round < rounds; ++round) {
        const auto controls = controls_of(rng, between, sessions);
        Stream stream;
        uint64_t called = 0, falsely = 0;
        for (uint64_t number = 1; number <= kRequests; ++number) {
          const bool is_slow = rng.below(kOneSlowIn) == 0;
          const double truth = is_slow ? std::log1p(0.02) : 0;
          (is_slow ? slow : same) += 1;
          std::vector<SessionDifference> gates;
          for (int asked = 0; asked < kMostSessions; ++asked) {
            gates.push_back(session(rng, truth, between, 40));
            const SessionDifference& one = gates.back();
            const bool plain = one.difference > t_quantile(0.975, one.df) * one.standard_error;
            if (!is_slow && asked == 0 && plain) {
              const WidenedError error = widened_error(controls, one.standard_error, one.df);
              ++plain_wrong;
              widened_wrong += one.difference > t_quantile(0.975, error.df) * error.scale;
            }
            if (log_e_value(gates, controls, kMargin) >= log_e_needed(stream, number, called)) {
              ++called;
              falsely += !is_slow;
              if (is_slow) for (int k = asked; k < kMostSessions; ++k) ++found[k];
              else ++wrong;
              break;
            }
            // It is asked again where its own interval lies above 0.
            if (!plain) break;
          }
        }
        false_share += called > 0 ? static_cast<double>(falsely) / static_cast<double>(called) : 0;
      }
      const auto percent = [](int part, int of) { return 100.0 * part / of; };
      std::printf("| %d | %.1f %% | %.2f %% | %.2f %% | %.2f %% | %.3f %% | %.1f %% | %.1f %% | %.1f %% |\n", sessions,
                  100 * between, percent(plain_wrong, same), percent(widened_wrong, same), 100 * false_share / rounds,
                  percent(wrong, same), percent(found[0], slow), percent(found[1], slow), percent(found[2], slow));
      std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (rounds < 1) {
    std::fprintf(stderr, "session_table: '%s' is no number of rounds\n", argv[1]);
    return 2;
  }
  intervals(rounds);
  evidence(rounds);
  streams(std::max(rounds / 100, 1));
}
