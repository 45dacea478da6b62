// history_table [ROUNDS [WORDS]]: a Markdown table of whole searches for a commit among 256, where it is known which ones made
// the program slower. Each comparison of `stabctl bisect` is a gate: blocks, its looks, its answer (made_gates.h). Beside it
// stands what people do today, `git bisect run` with a t-test of ten runs of either build. Its builds have a place each, which a
// quarter of the commits changes; over random layouts that is part of the noise of blocks. And as if no place mattered. With
// WORDS only the rows whose first column has them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/commands/bisect/comparison_looks.h"
#include "analysis/statistics/distributions/distributions.h"
#include "tests/unit/analysis/made_bisections.h"
#include "tests/unit/analysis/made_gates.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::commands;

constexpr size_t kCommits = 256;
constexpr double kMargin = 0.01, kAlpha = 0.01, kTestAlpha = 0.05, kPlaceSd = 0.03, kMoves = 0.25;
constexpr int kRuns = 10;  // of either build in a t-test

struct Machine {
  const char* name;
  double sd;  // of the logarithm of a block's ratio
  std::vector<uint32_t> looks;
};

struct Truth {
  std::vector<double> costs, places;  // logarithms, of each position
  std::vector<bool> builds;
};

struct Tally {
  int right = 0, wrong = 0, range = 0, none = 0, unsure = 0;
  int complete = 0;  // names each commit that did something, and no other one
  std::vector<size_t> first_gates, gates, blocks;  // up to the first commit, and in all
};

[[noreturn]] void stop(const Error& error) {
  std::fprintf(stderr, "history_table: %s\n", error.message.c_str());
  std::exit(1);
}

// A gate of a commit against another one, as stabctl runs and reads it.
BisectStep gate(Rng& rng, const Machine& machine, double difference, double margin, double alpha, uint32_t blocks) {
  return made_gate({looks_of_comparison(blocks, machine.looks), margin, alpha},
                   [&] { return difference + machine.sd * standard_normal(rng); });
}

Bisection search_of(Rng& rng, const Machine& machine, const Truth& truth, size_t& blocks) {
  Bisection search;
  search.alpha = kAlpha;
  for (size_t i = 0; i <= kCommits; ++i) search.commits.push_back({std::to_string(i), "commit"});
  const auto compare = [&](const BisectQuestion& asked) -> Result<std::optional<BisectStep>> {
    if (!truth.builds[asked.position] || !truth.builds[asked.against]) {
      BisectStep step;
      step.finding = CommitFinding::kNotBuilt;
      return std::optional(step);
    }
    const double change = truth.costs[asked.position] - truth.costs[asked.against];
    const BisectStep step =
        gate(rng, machine, asked.faster ? -change : change, asked.margin.value_or(kMargin), asked.alpha, asked.blocks);
    blocks += step.blocks;
    return std::optional(step);
  };
  if (const Status done = run_bisection(search, compare); !done) stop(done.error());
  return search;
}

// Whether a t-test (Welch, one-sided) calls a build slower than the good one.
bool is_slower(Rng& rng, const Machine& machine, double difference) {
  double mean[2] = {0, difference}, squares[2] = {};
  for (int side = 0; side < 2; ++side) {
    double sum = 0, sum_of_squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double value = machine.sd / std::sqrt(2.0) * standard_normal(rng);
      sum += value;
      sum_of_squares += value * value;
    }
    mean[side] += sum / kRuns;
    squares[side] = (sum_of_squares - sum * sum / kRuns) / (kRuns - 1) / kRuns;
  }
  const double variance = squares[0] + squares[1];
  const double df = variance * variance / ((squares[0] * squares[0] + squares[1] * squares[1]) / (kRuns - 1));
  return (mean[1] - mean[0]) / std::sqrt(variance) > statistics::t_quantile(1 - kTestAlpha, df);
}

// git bisect run: the ends are not asked about; what doesn't build is skipped, to the next that does.
size_t plain_search(Rng& rng, const Machine& machine, const Truth& truth, bool with_places, size_t& asked) {
  size_t good = 0, bad = kCommits;
  while (bad - good > 1) {
    size_t at = good + (bad - good) / 2;
    while (at < bad && !truth.builds[at]) ++at;
    if (at == bad) {
      for (at = good + (bad - good) / 2; at > good && !truth.builds[at];) --at;
      if (at == good) break;
    }
    ++asked;
    const double place = with_places ? truth.places[at] - truth.places[0] : 0;
    (is_slower(rng, machine, truth.costs[at] - truth.costs[0] + place) ? bad : good) = at;
  }
  return bad;
}

// Steps at random commits that build; a quarter of all commits lays the code anew.
Truth history(Rng& rng, const std::vector<double>& steps, double unbuilt) {
  Truth truth;
  truth.costs.assign(kCommits + 1, 0);
  truth.builds.assign(kCommits + 1, true);
  double place = kPlaceSd * standard_normal(rng);
  for (size_t i = 0; i <= kCommits; ++i) {
    if (i > 0 && rng.uniform() < kMoves) place = kPlaceSd * standard_normal(rng);
    truth.places.push_back(place);
    if (i > 0 && i < kCommits) truth.builds[i] = rng.uniform() >= unbuilt;
  }
  for (const double step : steps) {
    const size_t at = 1 + rng.below(kCommits);
    for (size_t i = at; i <= kCommits; ++i) truth.costs[i] += std::log1p(step);
  }
  return truth;
}

// Commits that a search names, and those that there are to name.
struct Named {
  size_t right = 0, wrong = 0, culprits = 0;
};

Named named_in(const Bisection& search, const Truth& truth) {
  Named out;
  const auto take = [&](size_t at, bool faster) {
    const double change = truth.costs[at] - truth.costs[at - 1];
    ++((faster ? change < 0 : change > 0) ? out.right : out.wrong);
  };
  if (search.end == BisectEnd::kCommit) take(search.slower, search.faster);
  for (const BisectPart& part : search.further)
    if (part.end == BisectEnd::kCommit) take(part.slower, part.faster);
  for (size_t at = 1; at < truth.costs.size(); ++at) out.culprits += truth.costs[at] != truth.costs[at - 1];
  return out;
}

size_t median(std::vector<size_t> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void say(const std::string& name, const char* how, int rounds, const Tally& tally) {
  const auto share = [&](int number) { return 100.0 * number / rounds; };
  std::printf("| %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %zu | %zu | %zu |\n", name.c_str(), how,
              share(tally.right), share(tally.complete), share(tally.wrong), share(tally.range), share(tally.none),
              share(tally.unsure), median(tally.first_gates), median(tally.gates), median(tally.blocks));
  std::fflush(stdout);
}

void rows(const Machine& machine, const char* what, const std::vector<double>& steps, double unbuilt, int rounds,
          const std::string& wanted) {
  const std::string name = std::string(machine.name) + ", " + what;
  if (name.find(wanted) == std::string::npos) return;
  Rng rng = Rng::stream(53, name);
  Tally lab, plain[2];
  for (int round = 0; round < rounds; ++round) {
    const Truth truth = history(rng, steps, unbuilt);
    const auto is_culprit = [&](size_t at) { return truth.costs[at] > truth.costs[at - 1]; };
    size_t blocks = 0;
    const Bisection found = search_of(rng, machine, truth, blocks);
    const Named named = named_in(found, truth);
    lab.wrong += named.wrong > 0;
    lab.complete += named.wrong == 0 && named.right == named.culprits;
    switch (found.end) {
      case BisectEnd::kCommit: lab.right += is_culprit(found.slower); break;
      case BisectEnd::kRange: ++lab.range; break;
      case BisectEnd::kNone:
      case BisectEnd::kPlace: ++lab.none; break;
      case BisectEnd::kCannotTell: ++lab.unsure; break;
    }
    lab.first_gates.push_back(static_cast<size_t>(
        std::count_if(found.steps.begin(), found.steps.end(), [](const BisectStep& step) { return step.part == 0; })));
    lab.gates.push_back(found.steps.size());
    lab.blocks.push_back(blocks);
    for (const bool with_places : {true, false}) {
      size_t asked = 0;
      Tally& tally = plain[with_places ? 0 : 1];
      const bool is_right = is_culprit(plain_search(rng, machine, truth, with_places, asked));
      ++(is_right ? tally.right : tally.wrong);
      tally.complete += is_right && steps.size() == 1;
      tally.first_gates.push_back(asked);
      tally.gates.push_back(asked);
      tally.blocks.push_back(asked * kRuns);
    }
  }
  say(name, "stabctl bisect", rounds, lab);
  say(name, "git bisect run, t-test", rounds, plain[0]);
  say(name, "the same, no place matters", rounds, plain[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::string wanted = argc > 2 ? argv[2] : "";
  if (rounds < 1) {
    std::fprintf(stderr, "history_table: '%s' is no number of rounds\n", argv[1]);
    return 2;
  }
  std::puts("| blocks differ by (sd), 256 commits | search | right commit | all of them | a wrong one | range | nothing | unsure "
            "| comparisons up to the first | comparisons | blocks |");
  std::puts("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const Machine& machine : {Machine{"0.7 %", 0.007, {10, 20, 40}}, Machine{"6 %", 0.06, {10, 20, 40}}}) {
    rows(machine, "one of +1 %", {0.01}, 0, rounds, wanted);
    rows(machine, "one of +1 %, a tenth doesn't build", {0.01}, 0.1, rounds, wanted);
    rows(machine, "two of +1 %", {0.01, 0.01}, 0, rounds, wanted);
    rows(machine, "+2 % and -1 %", {0.02, -0.01}, 0, rounds, wanted);
    rows(machine, "+1 % and +2 %", {0.01, 0.02}, 0, rounds, wanted);
    rows(machine, "none", {}, 0, rounds, wanted);
  }
}
