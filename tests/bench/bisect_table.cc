// bisect_table [ROUNDS]: a Markdown table of what `stabctl bisect` ends with, where it is known which commits made it slower.
// Whole searches are simulated with normal errors: the ends, the search between them, the last commit against the one before it.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>

#include "tests/unit/analysis/made_bisections.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::commands;

constexpr double kMargin = 0.01;

void row(const char* name, int rounds, BisectTally& all, const std::function<MadeHistory(Rng&)>& made) {
  Rng rng = Rng::stream(47, name);
  BisectTally tally;
  for (int round = 0; round < rounds; ++round) {
    const MadeHistory history = made(rng);
    const Bisection search = made_bisection(history, kMargin, rng);
    count(tally, history, search);
    count_said(all, history, kMargin, search);
  }
  const auto share = [&](int number) { return 100.0 * number / rounds; };
  std::printf("| %s | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name, share(tally.right),
              share(tally.complete), share(tally.any_wrong), share(tally.range), share(tally.held), share(tally.none),
              share(tally.unsure), static_cast<double>(tally.comparisons) / rounds);
}

// What the model has said of the answers, over all histories of so many commits.
void said_rows(size_t commits, const BisectTally& all) {
  const char* const answers[] = {"a commit: it did it", "a range: one of it did it", "nothing: no commit did it by the margin",
                                 "unsure: no commit did it by the margin"};
  for (size_t i = 0; i < std::size(answers); ++i) {
    const SaidOfAnswers& of = all.by_end[i];
    if (of.answers == 0) continue;
    std::printf("| %zu | %s | %d | %.1f | %.1f |\n", commits, answers[i], of.answers, 100 * of.said / of.answers,
                100.0 * of.held / of.answers);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10'000;
  if (rounds < 1) {
    std::fprintf(stderr, "bisect_table: '%s' is no number of rounds\n", argv[1]);
    return 2;
  }
  std::puts("| history | right commit | all of them | a wrong one | range | that has one | nothing | unsure | comparisons |");
  std::puts("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
  std::map<size_t, BisectTally> all;
  for (const size_t commits : {8, 64, 512}) {
    const std::string of = std::to_string(commits) + " commits, ";
    for (const double by : {0.01, 0.02, 0.03})
      row((of + "one of +" + std::to_string(static_cast<int>(100 * by + 0.5)) + " %").c_str(), rounds, all[commits],
          [&](Rng& rng) { return with_one_step(commits, by, rng); });
    row((of + "none").c_str(), rounds, all[commits], [&](Rng&) {
      MadeHistory history;
      history.costs.assign(commits + 1, 0);
      return history;
    });
    for (const auto& [name, steps] : {std::pair{"+3 % and +2 %", std::vector<double>{0.03, 0.02}},
                                      std::pair{"+4 % and -2 %", std::vector<double>{0.04, -0.02}}})
      row((of + name).c_str(), rounds, all[commits], [&](Rng& rng) { return with_these_steps(commits, steps, rng); });
    row((of + "four of either sign, sd 2 %").c_str(), rounds, all[commits],
        [&](Rng& rng) { return with_steps(commits, 4, 0.02, rng); });
    row((of + "one of +3 %, a third doesn't build").c_str(), rounds, all[commits], [&](Rng& rng) {
      MadeHistory history = with_one_step(commits, 0.03, rng);
      history.unbuilt = 1.0 / 3;
      return history;
    });
  }
  std::puts("\n| commits | answer, and what has a probability | answers | said, mean | held |");
  std::puts("|---:|---|---:|---:|---:|");
  for (const auto& [commits, tally] : all) said_rows(commits, tally);
}
