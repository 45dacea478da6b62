// cause_table [ROUNDS]: Markdown tables of what is answered where code and place are known: a confusion matrix for each spread
// of a trial within its block. Blocks are made as sliced ones are: what a block shares is large, tails are heavy. The looks
// and the margin are those of `stabctl explain`.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/unit/analysis/made_causes.h"

namespace {

using namespace stab::statistics;

constexpr CauseVerdict kVerdicts[] = {CauseVerdict::kCode, CauseVerdict::kPlace, CauseVerdict::kBoth, CauseVerdict::kNothing,
                                      CauseVerdict::kUnresolved};

struct Totals {
  double wrong = 0, excused = 0, real = 0, all = 0;
};

void print_row(const MadeCause& truth, int rounds, uint64_t seed, Totals& totals) {
  const CauseSettings settings;
  static const std::vector<double> nominals = nominals_of(settings);
  double count[5] = {}, wrong = 0, blocks = 0;
  for (int i = 0; i < rounds; ++i) {
    const CauseAnswer answer = answer_of(seed + static_cast<uint64_t>(i), truth, settings, nominals);
    ++count[static_cast<int>(answer.verdict)];
    wrong += is_wrong(truth, settings, answer.verdict);
    blocks += answer.blocks;
  }
  std::printf("| %+.1f | %+.1f |", 100 * truth.code, 100 * truth.place);
  for (const CauseVerdict verdict : kVerdicts) std::printf(" %.1f |", 100 * count[static_cast<int>(verdict)] / rounds);
  std::printf(" %.1f | %.0f |\n", 100 * wrong / rounds, blocks / rounds);
  totals.wrong += wrong;
  totals.all += rounds;
  if (truth.code != 0) {
    totals.real += rounds;
    totals.excused += count[static_cast<int>(CauseVerdict::kPlace)];
  }
}

void print_table(const char* words, MadeCause truth, int rounds) {
  std::printf("\n%s\n\n| code %% | place %% | code | place | both | nothing | unresolved | wrong | blocks |\n"
              "|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n", words);
  Totals totals;
  uint64_t seed = 1;
  for (const double code : {0.0, 0.005, 0.01, 0.02, 0.05})
    for (const double place : {0.0, 0.01, 0.03, -0.03}) {
      truth.code = code;
      truth.place = place;
      print_row(truth, rounds, seed, totals);
      seed += 1'000'000;
    }
  std::printf("\nwrong %.2f %%; a change of code called place %.2f %%\n", 100 * totals.wrong / totals.all,
              100 * totals.excused / totals.real);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  print_table("spread of a trial 0.3 %", {.noise = 0.003}, rounds);
  print_table("spread 0.6 %", {.noise = 0.006}, rounds);
  print_table("spread 1.5 %", {.noise = 0.015}, rounds);
  print_table("spread 0.6 %, layouts differ by 1 % in one build alone", {.noise = 0.006, .unshared_sd = 0.01}, rounds);
  print_table("spread 0.6 %, neighbouring blocks correlated by 0.08", {.noise = 0.006, .lag = 0.08}, rounds);
  print_table("spread 0.6 %, normal", {.noise = 0.006, .heavy = false}, rounds);
}
