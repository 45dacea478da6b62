// A gate of made-up blocks as `stabctl bisect` asks it: a look after the other, and its answer. It has a gate's own boundaries,
// tests and rule, without the rest of a report, so thousands of searches take minutes. made_gates_test.cc holds it against whole
// gates.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "analysis/commands/bisect/bisect.h"
#include "analysis/report/contrasts/judged_estimate.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/report_data/worse.h"
#include "tests/unit/analysis/lab_samples.h"

namespace stab::analysis {

// What is asked of a gate.
struct MadeGate {
  std::vector<uint32_t> looks;
  double margin = 0.01, alpha = 0.05;
};

// `draw`: the logarithm of the next block's ratio, head by base.
template <class Draw>
commands::BisectStep made_gate(const MadeGate& gate, const Draw& draw) {
  const report::Response time{.name = "cpu_time", .unit = "s", .scale = report::Scale::kLog, .margin = gate.margin};
  std::vector<double> fractions;
  for (const uint32_t look : gate.looks) fractions.push_back(static_cast<double>(look) / gate.looks.back());
  commands::BisectStep step;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < gate.looks.size(); ++i) {
    for (; step.blocks < gate.looks[i]; ++step.blocks) {
      const double value = draw(), away = value - mean;
      mean += away / static_cast<double>(step.blocks + 1);
      squares += away * (value - mean);
    }
    const auto n = static_cast<double>(step.blocks);
    statistics::TTest test;
    test.estimate = mean;
    test.df = n - 1;
    test.standard_error = std::sqrt(squares / (n - 1) / n);
    test.p_value = statistics::t_two_sided(mean / test.standard_error, test.df);
    const report::LookLevels levels =
        gate.looks.size() > 1 ? *report::LookLevels::at_look(statistics::Spending::kPocock, fractions, i, gate.alpha)
                              : report::LookLevels(gate.alpha);
    const report::JudgedEstimate judged(levels, test, {});
    report::Contrast contrast;
    contrast.scale = report::Scale::kLog;
    contrast.verdict = report::Verdict::kUnsure;
    contrast.interval = {std::exp(mean), std::exp(judged.interval().low), std::exp(judged.interval().high)};
    contrast.p_not_above = judged.p_below(std::log1p(gate.margin));
    const report::Worse answer = report::worse_by(time, contrast, gate.alpha, judged.p());
    step.finding = answer == report::Worse::kNo    ? commands::CommitFinding::kNotSlower
                   : answer == report::Worse::kYes ? commands::CommitFinding::kSlower
                                                   : commands::CommitFinding::kUnsure;
    step.cost = contrast.interval.estimate - 1;
    step.cost_low = contrast.interval.low - 1;
    step.cost_high = contrast.interval.high - 1;
    step.standard_error = test.standard_error;
    step.margin = gate.margin;
    step.change = step.interval = "-";
    if (answer != report::Worse::kUnsure) break;
  }
  return step;
}

}  // namespace stab::analysis
