// How often a report of a sliced experiment errs, in one shape: for the bench that prints the tables of
// docs/evaluation/records/calibration.md, and for the tests that hold a part of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "analysis/report/conditions/run_changes.h"
#include "analysis/report/report_data/report.h"
#include "tests/unit/analysis/made_sliced.h"

namespace stab::analysis {

// Shares of rounds, 0 to 1.
struct SlicedRates {
  // Equal cells.
  double p = 0;            // p of the first contrast below 5 %, which is also how often its interval leaves the truth out
  double rank = 0;         // the rank answer's
  double median = 0;       // Hodges-Lehmann's interval leaves the truth out
  double changed = 0;      // any answer "changed", after Holm, whichever blocks gave it
  double bias = 0;         // the bias's interval leaves out 0, of the first contrast
  double switched = 0;     // any answer taken from the blocks alone
  std::map<std::string, double> diagnostics;  // speak at 5 %
  double run_changed = 0;  // a change within the run is found
  // Cells that differ by exactly the margin.
  double equivalent = 0;   // any answer "equivalent"
};

inline report::Report analysed(const report::Samples& samples, report::Depth depth) {
  auto report = report::analyse(samples, depth);
  if (!report) throw std::logic_error(report.error().message);
  return *std::move(report);
}

inline SlicedRates sliced_rates(SlicedShape shape, int rounds) {
  SlicedRates out;
  const double one = 1.0 / rounds;
  Rng rng = Rng::stream(shape.cells * 1000 + shape.blocks, shape.name);
  for (int round = 0; round < rounds; ++round) {
    shape.effect = 0;
    report::Samples samples = sliced_blocks(rng, shape);
    samples.responses[0].margin = 1e-6;  // any difference matters: with a margin of 1 % hardly any false one would be shown
    samples.estimators = {{report::Estimator::Kind::kHodgesLehmann}};
    const report::Report report = analysed(samples, report::Depth::kVerdicts);
    const report::Contrast& first = report.contrasts.at(0);
    bool changed = false, switched = false;
    for (const report::Contrast& contrast : report.contrasts) {
      changed |= contrast.verdict == report::Verdict::kChanged;
      switched |= contrast.by_alone;
    }
    out.changed += one * changed;
    out.switched += one * switched;
    if (!first.by_alone) {
      out.rank += one * (first.p_rank && *first.p_rank < 0.05);
      const report::Interval& median = report.estimators.at(0).interval;
      out.median += one * (report.estimators[0].refused.empty() && (median.low > 1 || median.high < 1));
    }
    const report::Report whole = [&] {  // the sliced answer also where the blocks alone took its place
      report::Samples only = samples;
      std::erase_if(only.trials, [](const report::Trial& trial) { return trial.ran_alone; });
      return first.by_alone ? analysed(only, report::Depth::kVerdicts) : report;
    }();
    out.p += one * (whole.contrasts.at(0).p_value < 0.05);
    if (!report.slicing->biases.empty()) out.bias += one * (report.slicing->biases[0].p_value < 0.05);
    for (const report::Diagnostic& diagnostic : report.diagnostics)
      out.diagnostics[diagnostic.name] += one * (diagnostic.p_value && *diagnostic.p_value < 0.05);
    for (const report::RunChanges& run : report::search_run(samples).runs) out.run_changed += one * !run.changes.empty();
    shape.effect = std::log1p(0.01);
    bool equivalent = false;
    for (const report::Contrast& contrast : analysed(sliced_blocks(rng, shape), report::Depth::kVerdicts).contrasts)
      equivalent |= contrast.verdict == report::Verdict::kEquivalent;
    out.equivalent += one * equivalent;
  }
  return out;
}

// Slicing moves the difference, and nothing differs alone; or it hides one that is there.
struct BiasedRates {
  double switched = 0;  // the answer is that of the blocks alone
  double changed = 0;   // the first answer is "changed"
  double covered = 0;   // the bias's interval holds the bias
};

inline BiasedRates biased_rates(const SlicedShape& shape, int rounds) {
  BiasedRates out;
  const double one = 1.0 / rounds;
  Rng rng = Rng::stream(shape.cells * 1000 + shape.blocks, std::string(shape.name) + ", biased");
  for (int round = 0; round < rounds; ++round) {
    const report::Report report = analysed(sliced_blocks(rng, shape), report::Depth::kVerdicts);
    const report::Contrast& first = report.contrasts.at(0);
    const report::Interval& bias = report.slicing->biases.at(0).bias;
    out.switched += one * first.by_alone;
    out.changed += one * (first.verdict == report::Verdict::kChanged);
    out.covered += one * (bias.low <= std::exp(shape.bias) && std::exp(shape.bias) <= bias.high);
  }
  return out;
}

inline constexpr SlicedShape kSlicedShapes[] = {
    {.name = "normal", .heavy = false, .drift = 0, .memory = 0},
    {.name = "as measured", .drift = 0},
    {.name = "as measured, blocks drift by 20 %"},
    {.name = "lengths 1 and 2, overlap half", .half_overlap = true},
    {.name = "one side's own randomness, 4 times the spread", .own_spread = 4},
    {.name = "ten links crossed with blocks", .links = 10},
    {.name = "one trial in ten left out", .excluded = 0.1},
};

}  // namespace stab::analysis
