// changes_table [ROUNDS]: how often E-divisive speaks in series without a change and with one, as a Markdown table of
// docs/evaluation/records/calibration.md. Segments of 5 values at least, 199 permutations, 5 %.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "analysis/statistics/diagnostics/e_divisive.h"
#include "analysis/statistics/distributions/distributions.h"
#include "base/rng.h"

namespace {

using namespace stab;
using namespace stab::statistics;

struct Kind {
  const char* name;
  double rise;       // in standard deviations, of what lies behind the change
  double times;      // the spread there
  double remembers;  // AR(1): the share that a value has of the one before
  int heavy = 0;     // t with 3 degrees of freedom
};

// Any change found, and one within two places of the true one.
void row(const Kind& kind, size_t n, int rounds) {
  Rng rng = Rng::stream(n, kind.name);
  const auto normal = [&] { return normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52); };
  int any = 0, close = 0;
  const size_t at = n / 2;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> series(n);
    double last = normal();
    for (size_t i = 0; i < n; ++i) {
      double error = normal();
      if (kind.heavy) {
        const double a = normal(), b = normal(), c = normal();
        error /= std::sqrt(a * a + b * b + c * c);
      }
      last = kind.remembers * last + std::sqrt(1 - kind.remembers * kind.remembers) * error;
      series[i] = i < at ? last : kind.rise + kind.times * last;
    }
    const auto changes = e_divisive(series, 5, 0.05, 199, static_cast<uint64_t>(round));
    if (!changes) std::abort();
    any += !changes->found.empty();
    bool near = false;
    for (const ChangePoint& point : changes->found) near |= point.first + 2 >= at && point.first <= at + 2;
    close += near;
  }
  std::printf("| %s | %zu | %.1f | ", kind.name, n, 100.0 * any / rounds);
  if (kind.rise == 0 && kind.times == 1) std::printf("|\n");
  else std::printf("%.1f |\n", 100.0 * close / rounds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 4000;
  if (rounds < 1) {
    std::fputs("usage: changes_table [ROUNDS]\n", stderr);
    return 2;
  }
  std::printf("| series | values | any change | one within two places |\n|---|---:|---:|---:|\n");
  const Kind kinds[] = {{"normal", 0, 1, 0},
                        {"t with 3 df", 0, 1, 0, 1},
                        {"normal, AR(1) of 0.5", 0, 1, 0.5},
                        {"rises by 1 sd in the middle", 1, 1, 0},
                        {"rises by 2 sd", 2, 1, 0},
                        {"t with 3 df, rises by 2", 2, 1, 0, 1},
                        {"twice the spread", 0, 2, 0}};
  for (const Kind& kind : kinds)
    for (const size_t n : {20, 40, 80}) row(kind, n, n == 80 ? rounds / 4 + 1 : rounds);
  return 0;
}
