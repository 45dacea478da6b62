// Residuals of one design aren't independent: taking off a block's mean leaves c cells of it correlated by -1 / (c - 1), with
// two cells each the other's mirror image, and links that come back make several cells alike. A test for independent values is
// wrong on them. So each check looks at values that are independent, or compares with what the design's own randomization
// makes of them:
//
//   shapiro-wilk      contrasts of a block's cells (recursive residuals), which are independent where the cells are
//   brown-forsythe    distances compared within blocks; where links come back, one distance for each link
//   drift             the blocks' means in order of time, or rows within their cells
//   lag-1             against all orders that a block's trials could have been run in; of sliced blocks, whose trials have no
//                     order, their contrasts against all orders of the blocks
#include "analysis/report/conditions/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/report/experiment/draws.h"
#include "analysis/statistics/diagnostics/normality.h"
#include "analysis/statistics/diagnostics/sequence.h"
#include "analysis/statistics/diagnostics/variance_tests.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/statistics/two_samples/descriptive.h"
#include "base/rng.h"

namespace stab::report {
namespace {

using Groups = std::vector<std::vector<double>>;

// One trial or row in the order of the run, as a deviation from its cell.
struct Deviation {
  uint32_t order = 0;
  uint32_t block = 0;
  uint32_t cell = 0;
  uint64_t link = 0;  // of cells that are run as linked; else 0
  double value = 0;
};

std::vector<Deviation> deviations_of(const WorkloadUnits& units) {
  std::vector<Deviation> deviations;
  for (uint32_t c = 0; c < units.cells.size(); ++c) {
    const CellUnits& cell = units.cells[c];
    if (cell.trial_values.empty()) {
      for (size_t i = 0; i < cell.values.size(); ++i)
        deviations.push_back({cell.orders[i], 0, c, 0, cell.values[i] - cell.moments.mean});
      continue;
    }
    const double centre = statistics::moments(cell.trial_values).mean;
    for (size_t i = 0; i < cell.trial_values.size(); ++i)
      deviations.push_back({cell.trial_orders[i], cell.trial_blocks[i], c, is_linked(cell) ? cell.trial_links[i] : 0,
                            cell.trial_values[i] - centre});
  }
  std::sort(deviations.begin(), deviations.end(), [](const Deviation& a, const Deviation& b) { return a.order < b.order; });
  return deviations;
}

// A block's trials ran one after the other, before those of the next: blocks are a measure of time.
bool blocks_follow(const std::vector<Deviation>& deviations) {
  std::set<uint32_t> done;
  for (size_t i = 0; i < deviations.size(); ++i)
    if ((i == 0 || deviations[i].block != deviations[i - 1].block) && !done.insert(deviations[i].block).second) return false;
  return done.size() > 1;
}

// Takes off each block's mean, then, where a link ran a cell several times, that link's: what it adds lasts, but says nothing
// about the order.
void remove_blocks_and_links(std::vector<Deviation>& deviations) {
  const auto centre = [&](const auto& key_of) {
    std::map<decltype(key_of(deviations[0])), statistics::Moments> groups;
    for (const Deviation& deviation : deviations)
      groups[key_of(deviation)] = statistics::merge(groups[key_of(deviation)], statistics::Moments{1, deviation.value, 0});
    for (Deviation& deviation : deviations)
      if (const statistics::Moments& group = groups[key_of(deviation)]; group.n > 1) deviation.value -= group.mean;
  };
  centre([](const Deviation& deviation) { return deviation.block; });
  if (std::any_of(deviations.begin(), deviations.end(), [](const Deviation& deviation) { return deviation.link != 0; }))
    // Deviations of other cells are groups of one, which stay as they are.
    centre([](const Deviation& deviation) {
      return std::tuple(deviation.cell, deviation.link, deviation.link ? 0 : deviation.order + 1);
    });
}

// The order of what may change places: a block's trials, whose order was drawn; elsewhere the rows of a cell.
Result<statistics::SequenceTest> autocorrelation(std::vector<Deviation> deviations, bool blocked) {
  std::set<uint32_t> blocks;
  for (const Deviation& deviation : deviations) blocks.insert(deviation.block);
  const bool by_block = blocked && deviations.size() >= 2 * blocks.size();
  if (by_block) remove_blocks_and_links(deviations);
  std::vector<double> values;
  std::vector<uint32_t> groups;
  for (const Deviation& deviation : deviations) {
    values.push_back(deviation.value);
    groups.push_back(by_block ? deviation.block : deviation.cell);
  }
  return statistics::lag1_within(values, groups);
}

// Of sliced blocks: the trials of a block ran at the same time, so what one may have left to the next is between blocks, and it
// is the blocks' contrasts whose independence intervals rest on. No drawn order protects them: which side a block favoured, its
// neighbour may favour, too. Each contrast against all orders of the blocks.
Result<statistics::SequenceTest> autocorrelation_of_blocks(const Groups& contrasts, uint64_t* n) {
  std::vector<double> values;
  std::vector<uint32_t> groups;
  for (uint32_t k = 0; k < contrasts.size(); ++k) {
    values.insert(values.end(), contrasts[k].begin(), contrasts[k].end());
    groups.insert(groups.end(), contrasts[k].size(), k);
  }
  *n = values.size();
  return statistics::lag1_within(values, groups);
}

Result<statistics::SequenceTest> drift_of(const std::vector<Deviation>& deviations, bool blocked, uint64_t* n) {
  std::vector<double> values;
  std::vector<uint32_t> groups;
  if (blocked && blocks_follow(deviations)) {
    std::vector<std::pair<double, double>> blocks;  // sum and count, in order of time
    for (size_t i = 0; i < deviations.size(); ++i) {
      if (i == 0 || deviations[i].block != deviations[i - 1].block) blocks.emplace_back();
      blocks.back().first += deviations[i].value;
      blocks.back().second += 1;
    }
    for (const auto& [sum, count] : blocks) values.push_back(sum / count);
    groups.assign(values.size(), 0);
  } else {
    for (const Deviation& deviation : deviations) {
      values.push_back(deviation.value);
      groups.push_back(deviation.cell);
    }
  }
  *n = values.size();
  return statistics::drift_within(values, groups);
}

// ---- draws that are independent -------------------------------------------------------------------------

// Rows are blocks (or links) that hold each cell once; the others are left out.
Groups complete_rows(const std::map<uint64_t, std::map<size_t, double>>& rows, size_t cells) {
  Groups complete;
  for (const auto& [key, row] : rows) {
    if (row.size() != cells) continue;
    complete.emplace_back();
    for (const auto& [cell, value] : row) complete.back().push_back(value);
  }
  return complete;
}

// Contrasts of each block's cells: each cell against the mean of those before it, scaled to keep its variance (Helmert; of
// equally spread cells the recursive residuals of Brown, Durbin & Evans 1975). Group k holds all blocks' k-th.
Groups contrasts_of_blocks(const Groups& blocks) {
  Groups contrasts(blocks[0].size() - 1);
  for (const std::vector<double>& block : blocks) {
    double sum = block[0];
    for (size_t k = 1; k < block.size(); ++k) {
      const auto before = static_cast<double>(k);
      contrasts[k - 1].push_back((block[k] - sum / before) * std::sqrt(before / (before + 1)));
      sum += block[k];
    }
  }
  return contrasts;
}

// Which draws a workload has.
struct Draws {
  // [block][cell]: blocks that hold each cell, as long as no link comes back in its cell; or [link][cell], where all cells run
  // the same links. Empty: blocks don't hold.
  Groups blocks;
  Groups groups;           // independent values of each cell, or of cells that run the same links
  bool recurring = false;  // links come back, so that blocks are the first ones only
};

// By cell: the first cell that ran one of its layouts, so that cells of the same binaries have the same number.
std::vector<size_t> cells_of_binaries(const WorkloadUnits& units) {
  std::map<uint64_t, size_t> first_of;
  std::vector<size_t> out;
  for (size_t c = 0; c < units.cells.size(); ++c) {
    size_t first = c;
    if (is_linked(units.cells[c]))
      for (const uint64_t layout : units.cells[c].trial_layouts)
        first = std::min(first, first_of.try_emplace(layout, c).first->second);
    out.push_back(first == c ? c : out[first]);
  }
  return out;
}

Draws draws_of(const Samples& samples, const WorkloadUnits& units) {
  Draws draws;
  if (samples.unit != Unit::kLayout && !units.rows_in_blocks) {
    for (const CellUnits& cell : units.cells) draws.groups.push_back(cell.values);
    return draws;
  }
  const LinkFit fit = fit_links(units);
  std::map<uint32_t, std::vector<const LinkFit::Row*>> by_block;
  bool all_linked = true;
  for (const LinkFit::Row& row : fit.rows) {
    by_block[row.block].push_back(&row);
    all_linked &= row.link.has_value();
  }
  std::map<uint64_t, std::map<size_t, double>> first_blocks;
  std::set<std::pair<size_t, uint64_t>> seen;
  for (const auto& [block, rows] : by_block) {
    for (const LinkFit::Row* row : rows)
      if (row->link) draws.recurring |= !seen.insert({row->cell, *row->link}).second;
    if (draws.recurring) break;
    for (const LinkFit::Row* row : rows) first_blocks[block][row->cell] = row->measured;
  }
  draws.blocks = complete_rows(first_blocks, units.cells.size());
  const bool too_few = 2 * draws.blocks.size() < first_blocks.size() && !samples.is_sliced;
  if (units.cells.size() < 2 || too_few || draws.blocks.size() < 3) draws.blocks.clear();
  if (!draws.recurring) {
    for (const CellUnits& cell : units.cells) draws.groups.push_back(cell.values);
    return draws;
  }
  // Cells that run the same links see the same draws: a link's mean over them is one. `value` has the block's effect off.
  const std::vector<size_t> binaries = cells_of_binaries(units);
  std::map<size_t, std::map<uint64_t, std::map<size_t, std::pair<double, double>>>> of_links;
  std::map<size_t, std::vector<double>> shuffled;
  for (const LinkFit::Row& row : fit.rows) {
    if (!row.link) {
      shuffled[row.cell].push_back(row.value);
      continue;
    }
    auto& [sum, count] = of_links[binaries[row.cell]][*row.link][row.cell];
    sum += row.value;
    count += 1;
  }
  for (const auto& [binary, links] : of_links) {
    std::map<uint64_t, std::map<size_t, double>> by_link;
    for (const auto& [link, cells] : links)
      for (const auto& [cell, part] : cells) by_link[link][cell] = part.first / part.second;
    const Groups complete = complete_rows(by_link, links.begin()->second.size());
    if (all_linked && of_links.size() == 1 && complete.size() >= 3 && complete[0].size() > 1) draws.blocks = complete;
    std::vector<double> means;
    for (const std::vector<double>& row : complete) means.push_back(statistics::mean(row));
    if (!means.empty()) draws.groups.push_back(std::move(means));
  }
  for (auto& [cell, values] : shuffled) draws.groups.push_back(std::move(values));
  return draws;
}

// Each group's deviations divided by its spread: cells differ in it by design, and a mixture of normals would look
// heavy-tailed. Groups of fewer than 3 have no shape.
std::vector<double> standardized(const Groups& groups) {
  std::vector<double> residuals;
  for (const std::vector<double>& group : groups) {
    if (group.size() < 3) continue;
    const statistics::Moments spread = statistics::moments(group);
    const double sd = spread.m2 > 0 ? spread.sd() : 0;
    for (double value : group) residuals.push_back(sd > 0 ? (value - spread.mean) / sd : 0);
  }
  return residuals;
}

// log(1 - W) of normal values in groups of these sizes, standardized group by group.
statistics::Moments simulated_normality(const std::vector<size_t>& sizes) {
  constexpr int kSimulations = 200;  // 5 % of error in a spread moves a p of 5 % by half a percent
  Rng rng = Rng::stream(1, "shapiro-wilk of groups");
  std::vector<double> logs;
  for (int i = 0; i < kSimulations; ++i) {
    Groups normal;
    for (size_t size : sizes) {
      normal.emplace_back(size);
      for (double& value : normal.back())
        value = statistics::normal_quantile((static_cast<double>(rng.next() >> 12) + 0.5) * 0x1p-52);
    }
    if (const auto test = statistics::shapiro_wilk(standardized(normal))) logs.push_back(std::log1p(-test->statistic));
  }
  return statistics::moments(logs);
}

// Shapiro and Wilk's test of what groups' residuals have in common. A value divided by a spread that it is part of can't be far
// out, and of many small groups that shows: there W is compared with what normal values in groups of the same sizes give, by
// the mean and spread of log(1 - W), which is close to normal (Royston 1995).
Result<statistics::NormalityTest> normality_of(const Groups& groups) {
  constexpr size_t kSmall = 60;  // from here on Royston's own p has its level
  std::vector<size_t> sizes;
  const std::vector<double>* last = nullptr;
  for (const std::vector<double>& group : groups) {
    if (group.size() < 3) continue;
    sizes.push_back(group.size());
    last = &group;
  }
  if (sizes.empty()) return bad_input("shapiro-wilk takes at least 3 values of a cell");
  if (sizes.size() == 1) return statistics::shapiro_wilk(*last);  // the test doesn't depend on a spread
  STAB_TRY(statistics::NormalityTest test, statistics::shapiro_wilk(standardized(groups)));
  std::sort(sizes.begin(), sizes.end());
  if (sizes[0] >= kSmall) return test;
  // Kept because each response and program asks for the same sizes again.
  thread_local std::map<std::vector<size_t>, statistics::Moments> simulated;
  auto [known, fresh] = simulated.try_emplace(sizes);
  if (fresh) known->second = simulated_normality(sizes);
  test.p_value =
      statistics::normal_upper((std::log(std::max(1 - test.statistic, 1e-300)) - known->second.mean) / known->second.sd());
  return test;
}

template <typename Test>
void add(Diagnostic diagnostic, const Result<Test>& test, double Test::*statistic, std::vector<Diagnostic>& out) {
  if (test) {
    diagnostic.statistic = (*test).*statistic;
    diagnostic.p_value = test->p_value;
  }
  if (!test) diagnostic.refused = test.error().message;
  out.push_back(std::move(diagnostic));
}

}  // namespace

void diagnose(const Samples& samples, size_t response, uint32_t workload, const WorkloadUnits& units,
              std::vector<Diagnostic>& out) {
  const bool blocked = samples.unit == Unit::kLayout || units.rows_in_blocks;
  const std::vector<Deviation> deviations = deviations_of(units);
  const auto named = [&](std::string name, std::string statistic, uint64_t n) {
    Diagnostic diagnostic;
    diagnostic.response = samples.responses[response].name;
    diagnostic.workload = samples.workloads[workload];
    diagnostic.name = std::move(name);
    diagnostic.statistic_name = std::move(statistic);
    diagnostic.n = n;
    return diagnostic;
  };
  // At a hundred thousand values each test finds the smallest departure, and ranking them takes longer than all
  // the rest of the report.
  constexpr size_t kMostValues = 100'000;
  if (deviations.size() > kMostValues) {
    for (const char* test : {"normality", "brown-forsythe", "drift"}) {
      Diagnostic diagnostic = named(test, "", deviations.size());
      diagnostic.refused = "not tested beyond 100000 values: any departure would show; look at the figures";
      out.push_back(std::move(diagnostic));
    }
    std::vector<double> sequence;
    for (const Deviation& deviation : deviations) sequence.push_back(deviation.value);
    add(named("lag-1 autocorrelation", "r", deviations.size()), statistics::lag1_autocorrelation(sequence),
        &statistics::SequenceTest::statistic, out);
    return;
  }
  const Draws draws = draws_of(samples, units);
  const Groups independent = draws.blocks.empty() || draws.recurring ? draws.groups : contrasts_of_blocks(draws.blocks);
  uint64_t residuals = 0;
  for (const std::vector<double>& group : independent) residuals += group.size() < 3 ? 0 : group.size();
  if (residuals <= 5000)
    add(named("shapiro-wilk", "W", residuals), normality_of(independent), &statistics::NormalityTest::statistic, out);
  else
    add(named("anderson-darling", "A2", residuals), statistics::anderson_darling(standardized(independent)),
        &statistics::NormalityTest::statistic, out);
  if (draws.blocks.empty()) {
    uint64_t n = 0;
    Groups several;
    for (const std::vector<double>& group : draws.groups) {
      if (group.size() < 2) continue;
      several.push_back(group);
      n += group.size();
    }
    add(named("brown-forsythe", "F", n), statistics::levene(several, statistics::Centre::kMedian), &statistics::OneWay::f, out);
  } else {
    add(named("brown-forsythe", "F", draws.blocks.size() * draws.blocks[0].size()), statistics::levene_in_blocks(draws.blocks),
        &statistics::OneWay::f, out);
  }
  uint64_t n = 0;
  const auto drift = drift_of(deviations, blocked, &n);
  add(named("drift", "rho", n), drift, &statistics::SequenceTest::statistic, out);
  if (samples.is_sliced) {
    const bool in_order = !draws.blocks.empty() && !draws.recurring;  // and not by link
    const auto memory = in_order ? autocorrelation_of_blocks(contrasts_of_blocks(draws.blocks), &n)
                                 : Result<statistics::SequenceTest>(bad_input(
                                       draws.recurring ? "links come back in several blocks" : "too few complete blocks"));
    add(named("lag-1 autocorrelation", "r", n), memory, &statistics::SequenceTest::statistic, out);
    return;
  }
  add(named("lag-1 autocorrelation", "r", deviations.size()), autocorrelation(deviations, blocked),
      &statistics::SequenceTest::statistic, out);
}

}  // namespace stab::report
