// dip_quantiles [SAMPLES]: prints analysis/statistics/diagnostics/dip_quantiles.h, quantiles of the dip of uniform samples, from
// so many of them for each size up to 500 and a fifth of that beyond. Some ten minutes for 400,000.
//
//   build/release/bin/dip_quantiles 400000 > analysis/statistics/diagnostics/dip_quantiles.h
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "analysis/statistics/diagnostics/unimodality.h"
#include "base/rng.h"

namespace {

using namespace stab;
using namespace stab::statistics;

constexpr int kSizes[] = {4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000};
constexpr double kTails[] = {0.99, 0.95, 0.9,   0.8,   0.7,   0.5,    0.3,    0.2,   0.1,
                             0.05, 0.02, 0.01,  0.005, 0.002, 0.001,  0.0005, 0.0002, 0.0001};

}  // namespace

int main(int argc, char** argv) {
  const int samples = argc > 1 ? std::atoi(argv[1]) : 400'000;
  if (samples < 20'000) {
    std::fputs("usage: dip_quantiles [SAMPLES], at least 20000\n", stderr);
    return 2;
  }
  std::printf(
      "// Quantiles of sqrt(n) times the dip of n uniform values. Made by tests/bench/dip_quantiles.cc from %d samples of\n"
      "// each size up to 500 and %d of each beyond; tests/reference/analysis/generate_dip.R holds p-values of R's\n"
      "// diptest against them.\n#pragma once\n\n#include <cstddef>\n\nnamespace stab::statistics {\n\n",
      samples, samples / 5);
  std::printf("inline constexpr size_t kDipSizeCount = %zu, kDipTailCount = %zu;\n", std::size(kSizes), std::size(kTails));
  std::printf("inline constexpr double kDipSizes[kDipSizeCount] = {");
  for (size_t i = 0; i < std::size(kSizes); ++i) std::printf("%s%d", i ? ", " : "", kSizes[i]);
  std::printf("};\n// The share of samples whose dip is larger than the quantile below it.\n"
              "inline constexpr double kDipTails[kDipTailCount] = {");
  for (size_t i = 0; i < std::size(kTails); ++i) std::printf("%s%g", i == 0 ? "" : i == 10 ? ",\n    " : ", ", kTails[i]);
  std::printf("};\ninline constexpr double kDipQuantiles[kDipSizeCount][kDipTailCount] = {\n");
  for (const int n : kSizes) {
    Rng rng = Rng::stream(static_cast<uint64_t>(n), "dip of uniform values");
    std::vector<double> dips(static_cast<size_t>(n > 500 ? samples / 5 : samples)), values(static_cast<size_t>(n));
    for (double& dip : dips) {
      for (double& value : values) value = rng.uniform();
      const auto test = dip_test(values);
      dip = test ? std::sqrt(static_cast<double>(n)) * test->dip : 0;
    }
    std::sort(dips.begin(), dips.end());
    std::printf("    {");
    for (size_t i = 0; i < std::size(kTails); ++i)
      std::printf("%s%.4f", i == 0 ? "" : i == 11 ? ",\n     " : ", ",
                  dips[static_cast<size_t>(std::ceil((1 - kTails[i]) * static_cast<double>(dips.size()))) - 1]);
    std::printf("},\n");
    std::fflush(stdout);
    std::fprintf(stderr, "%d\n", n);
  }
  std::printf("};\n\n}  // namespace stab::statistics\n");
  return 0;
}
