// Windows of a made-up program whose parts differ: in each a line has another share of the time, and a piece of work takes
// another time. Windows are opened one after the other as the program runs, as the runtime does, so that a part has as many as it
// is long; what the line is worth in the whole run is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analysis/causal_report/causal_data.h"
#include "base/rng.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {

struct Part {
  double seconds = 0;  // that it takes of the program's own time, nothing sped up
  double share = 0;    // of it, in the line
  double rate = 400;   // visits a second
};

struct PhasedProgram {
  std::vector<Part> parts;
  std::vector<double> speedups{0.5, 1};
  uint32_t trials = 6, threads = 1;  // threads do the same each; one of them: on one CPU, by CPU time
  uint32_t baselines = 3, nulls = 1;
  double window_spread = 0.02;
  double trial_spread = 0.02;        // of a trial's speed
  double window_s = 0.25;
};

inline double true_saving(const PhasedProgram& program, double speedup) {
  double saved = 0, all = 0;
  for (const Part& part : program.parts) saved += part.seconds * part.share * speedup, all += part.seconds;
  return saved / all;
}

inline causal_report::CausalData made_phases(const PhasedProgram& program, uint64_t seed) {
  constexpr double kSample_s = 1e-3;
  causal_report::CausalData data;
  data.experiment = data.program = "phases";
  data.points = {{"steps", causal_report::PointKind::kProgress}};
  data.cells = {{{}, 1}};
  data.speedups = program.speedups;
  data.lines = {{"made.c:10", "made.c", 10, "work", 1000, true}};
  data.margin = 0.02;
  Rng rng(seed);
  const double others = static_cast<double>(program.threads) - 1;
  for (uint32_t t = 0; t < program.trials; ++t) {
    causal_report::CausalTrial trial;
    trial.id = t + 1;
    trial.clock = program.threads > 1 ? causal_report::CausalClock::kWall : causal_report::CausalClock::kCpu;
    trial.run_samples.assign(1, 0);
    const double slower = std::exp(program.trial_spread * normal_of(rng));
    double at = 0, end = 0, run = 0, samples = 0;
    for (const Part& part : program.parts) end += part.seconds;
    std::vector<std::pair<causal_report::ArmKind, double>> arms;
    for (uint32_t i = 0; i < program.baselines; ++i) arms.emplace_back(causal_report::ArmKind::kBaseline, 0);
    for (uint32_t i = 0; i < program.nulls; ++i) arms.emplace_back(causal_report::ArmKind::kNull, program.speedups.back());
    for (const double speedup : program.speedups) arms.emplace_back(causal_report::ArmKind::kSpeedup, speedup);
    const auto part_at = [&](double seconds) -> const Part& {
      size_t part = 0;
      for (double begins = 0; part + 1 < program.parts.size() && seconds >= begins + program.parts[part].seconds; ++part)
        begins += program.parts[part].seconds;
      return program.parts[part];
    };
    uint32_t order = 0;
    for (uint32_t block = 0; at < end; ++block) {
      rng.shuffle(arms);
      for (const auto& [kind, speedup] : arms) {
        if (at >= end) break;
        causal_report::CausalWindow window;
        window.trial = t, window.block = block, window.order = order++;
        window.kind = kind, window.speedup = speedup;
        if (kind != causal_report::ArmKind::kBaseline) window.line = 0;
        if (kind == causal_report::ArmKind::kSpeedup && part_at(at).share == 0) {
          window.flags = causal_report::bit(causal_report::WindowFlag::kSkipped);
          data.windows.push_back(window);
          continue;
        }
        // Of its own time what a window of this length holds: where others pause for the line, they do less.
        double own = 0, visits = 0, in_line = 0, wall = 0;
        constexpr double kStep = 0.005;
        while (wall < program.window_s - 1e-9 && at < end) {
          const Part& part = part_at(at);
          const double slows = kind == causal_report::ArmKind::kSpeedup ? 1 + others * part.share * speedup : 1;
          const double step = std::min(kStep, program.window_s - wall) / slows;
          own += step, wall += step * slows, visits += step * part.rate, in_line += step * part.share, at += step / slower;
        }
        run += wall, samples += in_line / kSample_s * program.threads;
        // Each thread is sampled once in each of its milliseconds, at its own moment: off by one sample at most.
        const double seen = std::floor(in_line / kSample_s * program.threads + rng.uniform());
        const double credited = kind == causal_report::ArmKind::kSpeedup ? seen * kSample_s * speedup
                                : kind == causal_report::ArmKind::kNull  ? 0.2 * wall
                                                                  : 0;
        const double held =
            kind == causal_report::ArmKind::kNull ? wall + credited : wall;  // a null window's pauses are not of its length
        window.line_samples = static_cast<uint64_t>(seen);
        window.credited_ns = static_cast<uint64_t>(1e9 * credited);
        window.wall_ns = window.cpu_ns = static_cast<uint64_t>(1e9 * held);
        window.visits = {
            static_cast<uint64_t>(visits * std::exp(program.window_spread * normal_of(rng)) / slower + rng.uniform())};
        window.foreign_share = 0.001;
        if (at >= end) window.flags |= causal_report::bit(causal_report::WindowFlag::kCut);
        data.windows.push_back(std::move(window));
      }
    }
    trial.run_ns = static_cast<uint64_t>(1e9 * run);
    trial.run_samples[0] = static_cast<uint64_t>(samples);
    data.trials.push_back(std::move(trial));
  }
  return data;
}

}  // namespace stab::analysis
