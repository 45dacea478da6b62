// Windows of a made-up program, whose truth is known: what tests and calibrations of causal reports are made from.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "analysis/causal_report/causal_data.h"
#include "base/rng.h"

namespace stab::analysis {

inline double normal_of(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(6.283185307179586 * rng.uniform());
}

struct MadeProgram {
  // By line: share of the program's time that it saves for each unit of its speedup, where nothing else limits; and the most it
  // saves.
  std::vector<double> slopes{0};
  std::vector<double> most{};        // empty: no limit
  std::vector<double> alive{};       // share of the blocks in which a line runs at all; empty: 1
  std::vector<double> speedups{0.25, 0.5};
  uint32_t trials = 5, blocks = 6, baselines = 4, nulls = 1;
  bool slowdowns = false;
  double window_spread = 0.015;      // of a window's logarithm
  double trial_spread = 0.01;        // of a trial's level
  double arm_spread = 0;             // of what an arm does in a trial: its effects differ from trial to trial
  double drift = 0.02;               // of the level, over a trial
  double null_bias = 0;              // of null windows, and of everything that pauses
  double line_share = 1;             // of it, in windows of a sped-up line: 0 where they do not pause, as on one CPU
  bool controls_only = false;        // control trials: null and baseline windows, no line sped up
  uint32_t cut_after = 0;            // windows of a trial, which then ends in the middle of a block; 0: it has all of its blocks
  double visits = 400;               // of a baseline window
  double foreign = 0;                // share of the windows that other programs disturb
  causal_report::CausalClock clock = causal_report::CausalClock::kWall;
  uint32_t cell = 0;
};

inline double true_saving(const MadeProgram& program, size_t line, double speedup) {
  const double saved = program.slopes[line] * speedup;
  return program.most.empty() ? saved : std::min(saved, program.most[line]);
}

inline causal_report::CausalData made_data(const MadeProgram& program) {
  causal_report::CausalData data;
  data.experiment = "made";
  data.program = "made";
  data.points = {{"blocks", causal_report::PointKind::kProgress}};
  data.cells = {{{}, 1}};
  data.speedups = program.speedups;
  for (size_t line = 0; line < program.slopes.size(); ++line)
    data.lines.push_back({"made.c:" + std::to_string(10 * (line + 1)), "made.c", static_cast<uint32_t>(10 * (line + 1)),
                          "work" + std::to_string(line), 1000, true});
  return data;
}

// Adds trials of the program to the data.
inline void add_trials(causal_report::CausalData& data, const MadeProgram& program, uint64_t seed) {
  constexpr double kWindow = 250e6, kSample = 1e6;
  Rng rng(seed);
  const size_t lines = program.slopes.size();
  for (uint32_t t = 0; t < program.trials; ++t) {
    const auto trial_index = static_cast<uint32_t>(data.trials.size());
    causal_report::CausalTrial trial;
    trial.id = trial_index + 1;
    trial.cell = program.cell;
    trial.clock = program.clock;
    trial.run_samples.assign(lines, 0);
    const double level = program.trial_spread * normal_of(rng);
    struct Arm {
      causal_report::CausalWindow window;
      double effect = 0, own = 0;
    };
    std::vector<Arm> arms;
    const auto add = [&](causal_report::ArmKind kind, std::optional<uint32_t> line, double speedup, double effect, bool pauses) {
      Arm arm;
      arm.window.kind = kind;
      arm.window.line = line;
      arm.window.speedup = speedup;
      arm.effect = effect + (pauses ? program.null_bias * (kind == causal_report::ArmKind::kNull ? 1 : program.line_share) : 0);
      arm.own = kind == causal_report::ArmKind::kBaseline ? 0 : program.arm_spread * normal_of(rng);
      arms.push_back(arm);
    };
    for (uint32_t i = 0; i < program.baselines; ++i) add(causal_report::ArmKind::kBaseline, std::nullopt, 0, 0, false);
    for (uint32_t i = 0; i < program.nulls; ++i)
      add(causal_report::ArmKind::kNull, static_cast<uint32_t>(rng.below(lines)), program.speedups.back(), 0, true);
    for (uint32_t line = 0; line < lines && !program.controls_only; ++line) {
      for (const double speedup : program.speedups)
        add(causal_report::ArmKind::kSpeedup, line, speedup, -std::log1p(-true_saving(program, line, speedup)), true);
      if (program.slowdowns)
        add(causal_report::ArmKind::kSlowdown, line, program.speedups[0], -std::log1p(program.slopes[line] * program.speedups[0]),
            false);
    }
    uint32_t order = 0;
    for (uint32_t block = 0; block < program.blocks; ++block) {
      const double block_level = level + program.drift * block / program.blocks + 0.01 * normal_of(rng);
      rng.shuffle(arms);
      for (const Arm& arm : arms) {
        if (program.cut_after != 0 && order >= program.cut_after) break;
        causal_report::CausalWindow window = arm.window;
        window.trial = trial_index;
        window.block = block;
        window.order = order++;
        window.layout = rng.next() | 1;
        window.pay_ratio = 1;
        window.start_ns = static_cast<uint64_t>(order * kWindow);
        // Lines are alive in the first blocks, each sampled in proportion to its slope while it is.
        const auto alive = [&](uint32_t line) {
          return program.alive.empty() || block < program.alive[line] * program.blocks;
        };
        trial.run_ns += static_cast<uint64_t>(kWindow);
        for (uint32_t line = 0; line < lines; ++line)
          if (alive(line))
            trial.run_samples[line] += static_cast<uint64_t>(program.slopes[line] * kWindow / kSample + rng.uniform());
        if (window.line && window.kind != causal_report::ArmKind::kNull && !alive(*window.line)) {
          window.flags = causal_report::bit(causal_report::WindowFlag::kSkipped);
          data.windows.push_back(window);
          continue;
        }
        // The window is cut at its effective length: pauses are there and subtracted again.
        const double paused = window.kind == causal_report::ArmKind::kBaseline || window.kind == causal_report::ArmKind::kSlowdown
                                  ? 0
                                  : 0.2 * kWindow * rng.uniform();
        window.credited_ns = static_cast<uint64_t>(paused);
        if (program.clock == causal_report::CausalClock::kCpu) window.cpu_ns = static_cast<uint64_t>(kWindow + paused);
        window.wall_ns = static_cast<uint64_t>(kWindow + paused);
        const double y = block_level + arm.effect + arm.own + program.window_spread * normal_of(rng);
        window.visits = {static_cast<uint64_t>(program.visits * std::exp(y) + rng.uniform())};
        if (window.line)
          window.line_samples =
              static_cast<uint64_t>(program.slopes[*window.line] * std::exp(arm.effect) * kWindow / kSample + rng.uniform());
        window.foreign_share = rng.uniform() < program.foreign ? 0.1 : 0.001;
        data.windows.push_back(std::move(window));
      }
    }
    data.trials.push_back(std::move(trial));
  }
}

inline causal_report::CausalData made_windows(const MadeProgram& program, uint64_t seed) {
  causal_report::CausalData data = made_data(program);
  add_trials(data, program, seed);
  return data;
}

// As `stabctl stats causal` reads them.
inline std::string windows_csv(const causal_report::CausalData& data) {
  std::string out =
      "trial,block,kind,line,speedup,clock,wall_ns,cpu_ns,credited_ns,line_samples,foreign_share,layout,skipped,run_ns,run_"
      "samples";
  for (const std::string& factor : data.factors) out += ",cell:" + factor;
  for (const causal_report::CausalPoint& point : data.points) {
    if (point.kind == causal_report::PointKind::kLatency) out += ",departures:" + point.name + ",inside_ns:" + point.name;
    else out += (point.kind == causal_report::PointKind::kArrival ? ",arrivals:" : ",visits:") + point.name;
  }
  out += "\n";
  for (const causal_report::CausalWindow& window : data.windows) {
    const causal_report::CausalTrial& trial = data.trials[window.trial];
    char speedup[32];
    std::snprintf(speedup, sizeof speedup, "%.17g", window.speedup);
    const auto number = [](uint64_t value) { return "," + std::to_string(value); };
    out += std::to_string(trial.id) + number(window.block) + "," +
           (window.kind == causal_report::ArmKind::kNull ? "null-control" : std::string(name(window.kind))) + "," +
           (window.line ? data.lines[*window.line].name : "-") + "," + speedup + "," + std::string(name(trial.clock)) +
           number(window.wall_ns) + number(window.cpu_ns) + number(window.credited_ns) + number(window.line_samples) + "," +
           std::to_string(window.foreign_share) + number(window.layout >> 32) +
           number(window.flags & causal_report::bit(causal_report::WindowFlag::kSkipped) ? 1 : 0) + number(trial.run_ns) +
           number(window.line && !trial.run_samples.empty() ? trial.run_samples[*window.line] : 0);
    for (const std::string& level : data.cells[trial.cell].levels) out += "," + level;
    for (size_t p = 0; p < data.points.size(); ++p) {
      out += number(window.visits.empty() ? 0 : window.visits[p]);
      if (data.points[p].kind == causal_report::PointKind::kLatency)
        out += number(window.latencies.empty() ? 0 : static_cast<uint64_t>(window.latencies[p].inside_ns));
    }
    out += "\n";
  }
  return out;
}

}  // namespace stab::analysis
