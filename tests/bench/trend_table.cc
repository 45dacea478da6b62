// trend_table [ROUNDS [NIGHTS [BENCHMARKS]]]: a Markdown table of how often a trend errs where nights differ by more than
// their blocks say. Each night has eight blocks, a session of its own, and three levels (the anchor, the night before's, its
// own) or, in a chain, the last two. A block's runs vary by 1 % (sd), and each level of a night errs by a part that all its
// blocks share, so that two equal levels differ by the sd that the row names. "Blocks alone" is a trend that knows nothing of
// sessions.
//
// Of nights in which nothing changed: how often any lasting change was found, any step was called changed, and the last level's
// interval against the first leaves out 0. Of nights that are 3 % slower from the middle on: how often that was found within one
// level of it.
//
// trend_table time [NIGHTS [BENCHMARKS]]: the CPU seconds of one such trend, 60 nights of 10 benchmarks by default.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "analysis/report/contrasts/trend.h"
#include "base/rng.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_series.h"

namespace {

using namespace stab;
using namespace stab::analysis;

constexpr double kBlockSd = 0.02, kRunSd = 0.01, kShift = 0.03;
constexpr uint32_t kBlocks = 8;

struct Shape {
  bool chain = false;
  size_t nights = 0, benchmarks = 1;
  double between = 0;
};

std::vector<report::SeriesPart> nights_of(const Shape& shape, double shift, Rng& rng) {
  std::vector<report::SeriesPart> parts;
  for (size_t night = 1; night <= shape.nights; ++night) {
    std::vector<size_t> versions{night - 1, night};
    if (!shape.chain && night > 1) versions.insert(versions.begin(), 0);
    report::SeriesPart part = empty_part(night);
    part.samples.workloads.clear();
    for (const size_t version : versions) part.samples.factors[1].levels.push_back("v" + std::to_string(version));
    for (uint32_t benchmark = 0; benchmark < shape.benchmarks; ++benchmark) {
      part.samples.workloads.push_back("b" + std::to_string(benchmark));
      std::vector<double> levels;
      for (const size_t version : versions)
        levels.push_back((2 * version > shape.nights ? shift : 0) + shape.between / std::sqrt(2) * standard_normal(rng));
      for (uint32_t block = 0; block < kBlocks; ++block) {
        const double mood = kBlockSd * standard_normal(rng);
        for (size_t level = 0; level < levels.size(); ++level) {
          const double log_time = levels[level] + mood + kRunSd * standard_normal(rng);
          add_trial(part, part.samples.factors[1].levels[level], block, std::exp(log_time));
          part.samples.trials.back().workload = benchmark;
        }
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

struct Seen {
  int changes = 0, steps = 0, missed = 0, found = 0;
};

bool any_change(const report::Trend& trend) {
  for (const report::TrendLine& line : trend.lines)
    if (!line.changes.found.empty()) return true;
  return false;
}

bool any_step(const report::Trend& trend) {
  for (const report::TrendLine& line : trend.lines)
    for (const report::TrendPoint& point : line.points)
      if (point.verdict == report::Verdict::kChanged) return true;
  return false;
}

bool is_found(const report::Trend& trend, size_t nights) {
  for (const report::TrendChange& change : trend.lines[0].changes.found)
    if (std::llabs(static_cast<long long>(change.point) - static_cast<long long>(nights / 2 + 1)) <= 1) return true;
  return false;
}

void row(const Shape& shape, int rounds) {
  Rng rng = Rng::stream(81, shape.chain ? "chain" : "anchor",
                        shape.nights * 1000 + shape.benchmarks * 100 + static_cast<uint64_t>(shape.between * 1e4));
  Seen seen[2];
  for (int round = 0; round < rounds; ++round)
    for (const double shift : {0.0, kShift}) {
      const std::vector<report::SeriesPart> parts = nights_of(shape, shift, rng);
      for (const bool alone : {true, false}) {
        const Result<report::Trend> trend = report::trend_of(parts, {"", "v0", {}, alone});
        if (!trend) {
          std::fprintf(stderr, "%s\n", trend.error().message.c_str());
          std::exit(1);
        }
        Seen& to = seen[alone ? 0 : 1];
        if (shift > 0) {
          to.found += is_found(*trend, shape.nights);
          continue;
        }
        const report::Interval& last = *trend->lines[0].points.back().against_anchor;
        to.changes += any_change(*trend);
        to.steps += any_step(*trend);
        to.missed += last.low > 1 || last.high < 1;
      }
    }
  std::printf("| %s | %zu | %zu | %.2f %% |", shape.chain ? "chain" : "anchor", shape.nights, shape.benchmarks,
              100 * shape.between);
  for (int Seen::*of : {&Seen::changes, &Seen::steps, &Seen::missed, &Seen::found})
    std::printf(" %.1f | %.1f |", 100.0 * (seen[0].*of) / rounds, 100.0 * (seen[1].*of) / rounds);
  std::puts("");
  std::fflush(stdout);
}

void time_of(size_t nights, size_t benchmarks) {
  std::puts("| nights | number | benchmarks | +3 % from the middle on | blocks alone | with sessions |");
  std::puts("|---|---:|---:|---|---:|---:|");
  for (const bool chain : {false, true})
    for (const double shift : {0.0, kShift}) {
      Rng rng = Rng::stream(82, "time");
      const std::vector<report::SeriesPart> parts = nights_of({chain, nights, benchmarks, 0.01}, shift, rng);
      std::printf("| %s | %zu | %zu | %s |", chain ? "chain" : "anchor", nights, benchmarks, shift > 0 ? "yes" : "no");
      for (const bool alone : {true, false}) {
        const std::clock_t start = std::clock();
        const Result<report::Trend> trend = report::trend_of(parts, {"", "v0", {}, alone});
        if (!trend) {
          std::fprintf(stderr, "%s\n", trend.error().message.c_str());
          std::exit(1);
        }
        std::printf(" %.2f s |", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
      }
      std::puts("");
    }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "time") == 0) {
    time_of(argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 60, argc > 3 ? static_cast<size_t>(std::atoi(argv[3])) : 10);
    return 0;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  const size_t nights = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 0;  // 0: all of them
  const size_t benchmarks = argc > 3 ? static_cast<size_t>(std::atoi(argv[3])) : 0;
  if (rounds < 1) {
    std::fprintf(stderr, "trend_table: '%s' is no number of rounds\n", argv[1]);
    return 2;
  }
  std::puts("| nights | number | benchmarks | between them (sd) | a change, blocks alone | with sessions | a step, blocks alone "
            "| with sessions | interval, blocks alone | with sessions | +3 % found, blocks alone | with sessions |");
  std::puts("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const size_t count : {size_t{5}, size_t{10}, size_t{30}, size_t{60}})
    for (const bool chain : {false, true})
      for (const size_t of : {size_t{1}, size_t{10}})
        for (const double between : {0.0, 0.005, 0.01}) {
          if ((nights > 0 && count != nights) || (benchmarks > 0 && of != benchmarks)) continue;
          row({chain, count, of, between}, rounds);
        }
  return 0;
}
