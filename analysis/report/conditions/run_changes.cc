#include "analysis/report/conditions/run_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/diagnostics/e_divisive.h"
#include "analysis/statistics/two_samples/descriptive.h"

namespace stab::report {
namespace {

constexpr size_t kMostChunks = 120, kLeastChunks = 20, kLeastOfSegment = 5;
constexpr double kMostSteps = 1e9;  // of one pass over all series, a few seconds: chunks squared for each permutation
constexpr uint64_t kSeed = 1;

// The trials of one layout within a cell and a block, which are alike and so no order of their own: usually one. Those of a
// sliced block ran at the same time, so all of them are one step.
struct Step {
  double order = 0;  // in the run, the mean of its trials
  uint32_t block = 0;
  double deviation = 0;  // on the response's scale, from the mean of its cell
  double standard = 0;   // the same in sds of the cell
  uint32_t position() const { return static_cast<uint32_t>(std::lround(order)); }
};

using Key = std::tuple<uint32_t, uint32_t, std::vector<uint16_t>>;  // machine, workload, levels

// The steps of a sliced block as one: the mean of its cells.
std::vector<Step> joined_by_block(const std::map<std::pair<uint32_t, uint32_t>, std::vector<Step>>& blocks) {
  std::vector<Step> out;
  for (const auto& [where, steps] : blocks) {
    const auto count = static_cast<double>(steps.size());
    Step joined{0, where.second};
    for (const Step& step : steps) {
      joined.order += step.order / count;
      joined.deviation += step.deviation / count;
      joined.standard += step.standard / count;
    }
    out.push_back(joined);
  }
  return out;
}

// One for each machine, in the order of its run.
std::vector<std::vector<Step>> steps_of(const Samples& samples, size_t response, size_t machines) {
  const bool log_scale = samples.responses[response].scale == Scale::kLog;
  struct Sum {
    double values = 0, orders = 0, count = 0;
  };
  std::map<Key, std::map<std::pair<uint32_t, uint64_t>, Sum>> cells;  // of each: by block and layout
  for (const Trial& trial : samples.trials) {
    if (!answers(samples, trial) || !trial.values[response]) continue;
    const uint32_t machine = samples.machines.empty() ? 0 : trial.machine;
    Sum& sum = cells[{machine, trial.workload, trial.levels}][{trial.block, trial.layout}];
    sum.values += log_scale ? std::log(*trial.values[response]) : *trial.values[response];
    sum.orders += trial.order;
    sum.count += 1;
  }
  constexpr size_t kLeastOfCell = 3;  // of two values each is as far from their mean as the other
  std::vector<std::vector<Step>> steps(machines);
  std::vector<std::map<std::pair<uint32_t, uint32_t>, std::vector<Step>>> blocks(machines);  // by workload and block
  for (const auto& [key, sums] : cells) {
    if (sums.size() < kLeastOfCell) continue;
    std::vector<double> values;
    for (const auto& [where, sum] : sums) values.push_back(sum.values / sum.count);
    const statistics::Moments cell = statistics::moments(values);
    if (!(cell.m2 > 0)) continue;
    for (const auto& [where, sum] : sums) {
      const double deviation = sum.values / sum.count - cell.mean;
      const Step step{sum.orders / sum.count, where.first, deviation, deviation / cell.sd()};
      if (samples.is_sliced) blocks[std::get<0>(key)][{std::get<1>(key), where.first}].push_back(step);
      else steps[std::get<0>(key)].push_back(step);
    }
  }
  if (samples.is_sliced)
    for (size_t machine = 0; machine < machines; ++machine) steps[machine] = joined_by_block(blocks[machine]);
  for (std::vector<Step>& run : steps)
    std::stable_sort(run.begin(), run.end(), [](const Step& a, const Step& b) { return a.order < b.order; });
  return steps;
}

RunChanges::Segment segment_of(Scale scale, std::span<const Step> steps) {
  std::vector<double> deviations, standard;
  for (const Step& step : steps) {
    deviations.push_back(step.deviation);
    standard.push_back(step.standard);
  }
  RunChanges::Segment segment;
  segment.first = steps.front().position();
  segment.last = steps.back().position();
  segment.first_block = steps.front().block;
  segment.trials = steps.size();
  const statistics::Moments all = statistics::moments(standard);
  segment.level_sds = all.mean;
  segment.spread_sds = all.n >= 2 ? all.sd() : 0;
  // Cells of one response on a linear scale may differ in size by orders of magnitude: there is no common unit.
  if (scale == Scale::kLog) segment.level = std::exp(statistics::mean(deviations));
  return segment;
}

// What is looked at as one value: steps that follow each other, of one block unless there are more blocks than chunks.
struct Chunk {
  size_t from = 0, size = 0;  // steps
  uint32_t group = 0;         // chunks of one block have the same
};

// pre: at_most > 0
std::vector<Chunk> chunks_of(std::span<const Step> steps, size_t at_most) {
  std::vector<Chunk> blocks;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i == 0 || steps[i].block != steps[i - 1].block) blocks.push_back({i, 0, static_cast<uint32_t>(blocks.size())});
    ++blocks.back().size;
  }
  std::vector<Chunk> out;
  const size_t together = (blocks.size() + at_most - 1) / at_most, of_each = std::max<size_t>(1, at_most / blocks.size());
  if (together > 1) {  // what is left over at the end goes to the last one
    const size_t whole = blocks.size() / together;
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (b % together == 0 && b / together < whole) out.push_back({blocks[b].from, 0, static_cast<uint32_t>(out.size())});
      out.back().size += blocks[b].size;
    }
    return out;
  }
  for (const Chunk& block : blocks) {
    const size_t parts = std::min(of_each, block.size);
    for (size_t part = 0; part < parts; ++part) {
      const size_t from = part * block.size / parts, to = (part + 1) * block.size / parts;
      out.push_back({block.from + from, to - from, block.group});
    }
  }
  return out;
}

// What all series together are searched with.
struct Effort {
  size_t series = 0;       // that are searched
  size_t chunks = 0;       // of each, at most
  double level = 0;        // of each test: all series together keep alpha
  uint64_t permutations = 0;
};

// Permutations resolve a tenth of the level, so each series asks for as many more as there are others: many are searched in
// fewer chunks, and those that can't have kLeastChunks aren't searched.
Effort effort_for(size_t series, double alpha) {
  Effort effort;
  for (effort.series = series; effort.series > 0; --effort.series) {
    const auto count = static_cast<double>(effort.series);
    effort.level = alpha / count;
    const double permutations = std::ceil(10 / effort.level) - 1;
    const double chunks = std::floor(std::sqrt(kMostSteps / ((permutations + 1) * count)));
    if (chunks < kLeastChunks) continue;
    effort.chunks = static_cast<size_t>(std::min<double>(chunks, kMostChunks));
    effort.permutations = static_cast<uint64_t>(permutations);
    break;
  }
  return effort;
}

}  // namespace

RunSearch search_run(const Samples& samples) {
  RunSearch out;
  if (samples.unit != Unit::kLayout || samples.trials.empty()) return out;
  const size_t machines = std::max<size_t>(1, samples.machines.size());
  struct Series {
    size_t response, machine;
    std::vector<Step> steps;
  };
  std::vector<Series> all;
  for (size_t r = 0; r < samples.responses.size(); ++r) {
    if (!samples.responses[r].declared || samples.responses[r].is_benchmark()) continue;
    std::vector<std::vector<Step>> runs = steps_of(samples, r, machines);
    for (size_t machine = 0; machine < machines; ++machine)
      if (runs[machine].size() >= kLeastChunks) all.push_back({r, machine, std::move(runs[machine])});
  }
  const Effort effort = effort_for(all.size(), samples.alpha);
  out.not_searched = all.size() - effort.series;
  all.resize(effort.series);
  const bool in_blocks = has_blocks(samples);
  for (const Series& series : all) {
    const Response& response = samples.responses[series.response];
    const std::span<const Step> steps = series.steps;
    RunChanges run;
    run.response = response.name;
    if (samples.machines.size() > 1) run.machine = samples.machines[series.machine];
    run.has_blocks = in_blocks;
    run.trials = steps.size();
    run.level = effort.level;
    run.permutations = effort.permutations;
    const std::vector<Chunk> chunks = chunks_of(steps, effort.chunks);
    std::vector<double> values;
    std::vector<uint32_t> groups;
    for (const Chunk& chunk : chunks) {
      double sum = 0;
      for (const Step& step : steps.subspan(chunk.from, chunk.size)) sum += step.standard;
      values.push_back(sum / static_cast<double>(chunk.size));
      groups.push_back(chunk.group);
      run.chunk = std::max<uint64_t>(run.chunk, chunk.size);
    }
    const auto changes =
        statistics::e_divisive_in_groups(values, groups, kLeastOfSegment, run.level, run.permutations, kSeed);
    if (!changes) continue;  // nothing differs from anything
    std::vector<statistics::ChangePoint> found = changes->found;
    std::sort(found.begin(), found.end(),
              [](const statistics::ChangePoint& a, const statistics::ChangePoint& b) { return a.first < b.first; });
    size_t from = 0;
    for (const statistics::ChangePoint& point : found) {
      const size_t at = chunks[point.first].from;
      run.segments.push_back(segment_of(response.scale, steps.subspan(from, at - from)));
      run.changes.push_back({steps[at].position(), steps[at].block, point.statistic, point.p_value});
      from = at;
    }
    run.segments.push_back(segment_of(response.scale, steps.subspan(from)));
    if (!changes->rejected.empty()) run.p_of_next = changes->rejected[0].p_value;
    out.runs.push_back(std::move(run));
  }
  return out;
}

std::string run_change_text(const Response& response, const RunChanges& run, size_t i) {
  const RunChanges::Segment &before = run.segments[i], &after = run.segments[i + 1];
  const double shift = after.level_sds - before.level_sds;
  // Which of the two makes the change: the levels, if they differ by more than twice the error of their difference.
  const double error = std::sqrt(before.spread_sds * before.spread_sds / static_cast<double>(before.trials) +
                                 after.spread_sds * after.spread_sds / static_cast<double>(after.trials));
  std::string what;
  if (std::fabs(shift) > 2 * error && before.level && after.level) {
    what = difference_text(response, *after.level / *before.level) + " (" + change_word(response, *after.level / *before.level) +
           ")";
  } else if (std::fabs(shift) > 2 * error) {
    what = std::string(shift > 0 ? "+" : "-") + text::significant(std::fabs(shift), 2) + " sd of a cell";
  } else {
    what = "as high as before, but spread " + text::significant(after.spread_sds, 2) + " sd instead of " +
           text::significant(before.spread_sds, 2);
  }
  return what + " from position " + std::to_string(run.changes[i].position) + " of the run on (" +
         (run.has_blocks ? "block " + std::to_string(run.changes[i].block) + ", " : "") +
         "p = " + text::significant(run.changes[i].p_value, 2) + ")";
}

std::string runs_not_searched_text(uint64_t not_searched) {
  return std::to_string(not_searched) + (not_searched == 1 ? " more run of machines or responses was" :
                                                             " more runs of machines or responses were") +
         " not searched, since all together would take too long";
}

}  // namespace stab::report
