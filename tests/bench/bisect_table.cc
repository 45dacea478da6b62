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

// The same by tenths of what was said, over all numbers of commits.
void tenth_rows(const std::map<size_t, BisectTally>& all, size_t kind, const char* answer) {
  for (int tenth = 0; tenth < 10; ++tenth) {
    SaidOfAnswers of;
    for (const auto& [commits, tally] : all) {
      const SaidOfAnswers& one = tally.by_tenth[kind][tenth];
      of.answers += one.answers;
      of.said += one.said;
      of.held += one.held;
    }
    if (of.answers > 0)
      std::printf("| %s | %d to %d | %d | %.1f | %.1f |\n", answer, 10 * tenth, 10 * tenth + 10, of.answers,
                  100 * of.said / of.answers, 100.0 * of.held / of.answers);
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
  for (const size_t commits : {8, 64, 512})
    for (const auto& [name, made] : table_histories(commits)) row(name.c_str(), rounds, all[commits], made);
  std::puts("\n| commits | answer, and what has a probability | answers | said, mean | held |");
  std::puts("|---:|---|---:|---:|---:|");
  for (const auto& [commits, tally] : all) said_rows(commits, tally);
  std::puts("\n| answer | said, % | answers | said, mean | held |\n|---|---|---:|---:|---:|");
  tenth_rows(all, 0, "a commit or a range: it did it, or one of it");
  tenth_rows(all, 1, "nothing or unsure: no commit did it by the margin");
}
