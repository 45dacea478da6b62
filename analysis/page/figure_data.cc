// One function a figure. Values are in people's units: ratios and geometric means on the log scale, as in the report.
#include "analysis/page/figure_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/page/distribution.h"
#include "analysis/page/looks_data.h"
#include "analysis/page/luck.h"
#include "analysis/report/contrasts/cell_pairs.h"
#include "analysis/report/experiment/level_summaries.h"
#include "analysis/report/rendering/first_screen.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/distributions/distributions.h"
#include "analysis/text/json_writer.h"

namespace stab::page {
namespace {

constexpr size_t kMostQuantiles = 201, kFewerQuantiles = 51, kMostPairs = 300, kMostBlocks = 1000;

// A half width of an interval as people read differences: a share on the log scale.
double as_difference(report::Scale scale, double x) { return scale == report::Scale::kLog ? std::expm1(x) : x; }

void levels(text::JsonWriter& json, std::string_view key, const std::vector<uint32_t>& indexes) {
  std::vector<double> numbers(indexes.begin(), indexes.end());
  json.numbers(key, numbers);
}

std::vector<double> all_to_people(report::Scale scale, std::vector<double> values) {
  for (double& value : values) value = to_people(scale, value);
  return values;
}

void answers(text::JsonWriter& json, const report::Report& report) {
  const report::ScreenAnswers screen = report::screen_answers(report);
  json.begin_object("answer").value("population", name(report::answers_of(report).population));
  json.value("extend_blocks", screen.extend_blocks).value("extend_note", screen.extend_note).begin_array("sentences");
  for (const report::ScreenAnswer& one : screen.answers) {
    json.begin_object().value("response", one.contrast->response);
    json.value("factor", one.contrast->factor).value("level", one.contrast->level);
    json.value("verdict", one.contrast->refused.empty() ? name(one.contrast->verdict) : "refused");
    json.value("section", one.section).value("text", one.text).value("before", one.before).value("after", one.after).end();
  }
  json.end().begin_array("measured");
  for (const std::string& one : screen.measured) json.element(one);
  json.end().end();
}

void distribution(text::JsonWriter& json, const report::Response& response, const report::CellUnits& cell) {
  const report::Scale scale = response.scale;
  const size_t most = response.declared ? kMostQuantiles : kFewerQuantiles;
  std::vector<double> sorted(cell.values);
  std::sort(sorted.begin(), sorted.end());
  json.begin_object();
  levels(json, "levels", cell.levels);
  json.value("units", sorted.size());
  const Density density = density_of(sorted);
  if (!density.height.empty()) {
    json.begin_object("density").value("from", density.from).value("to", density.to).value("bandwidth", density.bandwidth);
    json.numbers("height", density.height, 4).end();
  }
  // Their probabilities follow: i / n of all n values from i = 1, else evenly from 0 to 1.
  json.begin_object("quantiles").value("exact", sorted.size() <= most);
  json.numbers("value", all_to_people(scale, quantiles_of(sorted, most))).end();
  if (!sorted.empty()) {
    const double five[] = {sorted.front(), statistics::quantile_sorted(sorted, 0.25), statistics::quantile_sorted(sorted, 0.5),
                           statistics::quantile_sorted(sorted, 0.75), sorted.back()};
    json.numbers("five", all_to_people(scale, {std::begin(five), std::end(five)}));
  }
  json.end();
}

void residuals(text::JsonWriter& json, const report::WorkloadUnits& workload) {
  std::vector<double> sorted;
  for (const report::CellUnits& cell : workload.cells) {
    if (cell.moments.n < 2 || cell.moments.m2 <= 0) continue;
    for (const double value : cell.values) sorted.push_back((value - cell.moments.mean) / cell.moments.sd());
  }
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() < 3) return;
  const NormalPairs pairs = normal_pairs(sorted, kMostPairs);
  json.begin_object("normal").value("n", sorted.size()).numbers("quantile", pairs.normal).numbers("residual", pairs.value).end();
}

// Means over the other factors, cells weighing alike. Cells of a block share what the machine did to it, so intervals are by
// blocks.
void interactions(text::JsonWriter& json, const report::Samples& samples, report::Scale scale,
                  const report::WorkloadUnits& workload) {
  json.begin_array("interactions");
  for (size_t a = 0; a < samples.factors.size(); ++a) {
    for (size_t b = a + 1; b < samples.factors.size(); ++b) {
      if (samples.factors[a].levels.size() < 2 || samples.factors[b].levels.size() < 2) continue;
      json.begin_object().value("along", a).value("lines", b).begin_array("means");
      for (uint32_t line = 0; line < samples.factors[b].levels.size(); ++line) {
        for (uint32_t x = 0; x < samples.factors[a].levels.size(); ++x) {
          std::vector<const report::CellUnits*> cells;
          for (const report::CellUnits& cell : workload.cells)
            if (cell.levels[a] == x && cell.levels[b] == line) cells.push_back(&cell);
          if (cells.empty()) continue;
          const report::LevelSummary mean =
              report::mean_of_cells(cells, samples, samples.unit == report::Unit::kLayout || workload.rows_in_blocks, scale);
          json.begin_object().value("x", x).value("line", line).value("mean", mean.mean);
          if (mean.interval) json.value("low", mean.interval->first).value("high", mean.interval->second);
          json.end();
        }
      }
      json.end().end();
    }
  }
  json.end();
}

// Each block's mean of one level against its mean of the baseline.
void block_pairs(text::JsonWriter& json, const report::Samples& samples, report::Scale scale,
                 const report::WorkloadUnits& workload) {
  json.begin_array("pairs");
  for (size_t f = 0; f < samples.factors.size(); ++f) {
    const report::Factor& factor = samples.factors[f];
    for (uint32_t level = 0; level < factor.levels.size(); ++level) {
      if (level == factor.baseline) continue;
      std::map<uint32_t, std::array<statistics::Moments, 2>> blocks;
      for (const report::CellUnits& cell : workload.cells) {
        if (cell.levels[f] != level && cell.levels[f] != factor.baseline) continue;
        for (size_t i = 0; i < cell.values.size(); ++i) {
          statistics::Moments& side = blocks[cell.blocks[i]][cell.levels[f] == level];
          side = statistics::merge(side, {1, cell.values[i], 0});
        }
      }
      std::vector<double> baseline, other, numbers;
      for (const auto& [block, sides] : blocks) {
        if (sides[0].n == 0 || sides[1].n == 0) continue;
        numbers.push_back(block);
        baseline.push_back(to_people(scale, sides[0].mean));
        other.push_back(to_people(scale, sides[1].mean));
        if (numbers.size() == kMostBlocks) break;
      }
      if (numbers.size() < 2) continue;
      json.begin_object().value("factor", f).value("level", level).numbers("block", numbers);
      json.numbers("baseline", baseline).numbers("other", other).end();
    }
  }
  json.end();
}

// The spread of each cell against the layouts its trials ran in.
void doses(text::JsonWriter& json, const report::Samples& samples, uint32_t w, const report::WorkloadUnits& workload) {
  if (!report::has_code_factor(samples)) return;
  std::map<std::vector<uint32_t>, std::vector<double>> layouts;
  for (const report::Trial& trial : samples.trials)
    if (trial.workload == w && answers(samples, trial) && trial.dose && trial.dose->code_layouts_executed > 0)
      layouts[{trial.levels.begin(), trial.levels.end()}].push_back(static_cast<double>(trial.dose->code_layouts_executed));
  json.begin_array("spread_by_dose");
  for (const report::CellUnits& cell : workload.cells) {
    const auto at = layouts.find(cell.levels);
    if (at == layouts.end() || cell.moments.n < 2 || cell.moments.m2 <= 0) continue;
    json.begin_object();
    levels(json, "levels", cell.levels);
    json.value("layouts", statistics::median(at->second)).value("sd", cell.moments.sd()).value("units", cell.moments.n).end();
  }
  json.end();
}

void luck(text::JsonWriter& json, const report::Samples& samples, size_t response, const std::string& name,
          const report::WorkloadUnits& workload) {
  const report::Response& facts = samples.responses[response];
  const double margin = facts.scale == report::Scale::kLog ? std::log1p(facts.margin) : facts.margin;
  json.begin_array("luck");
  for (const LuckOfLinks& luck : luck_of(samples, name, workload, margin)) {
    json.begin_object();
    levels(json, "level", luck.level);
    levels(json, "baseline", luck.baseline);
    json.value("links", luck.links).value("pairs", luck.pairs).value("fewest_runs", luck.fewest_runs);
    json.value("truth", to_people(facts.scale, luck.truth)).value("wrong", luck.wrong);
    if (facts.scale == report::Scale::kLog) json.value("beyond_margin", luck.beyond_margin);
    json.numbers("differences", all_to_people(facts.scale, luck.differences)).end();
  }
  json.end();
}

// Any two cells: for each family the cells by their levels, then columns with an element for each pair.
void pairs_of_cells(text::JsonWriter& json, const report::Samples& samples, size_t response,
                    const std::vector<report::WorkloadUnits>& units, const report::Report& report) {
  const report::PairsOfResponse all = report::cell_pairs(samples, response, units, report.interval_level);
  json.begin_object("cell_pairs").value("asked", all.asked).value("too_many", all.too_many).begin_array("families");
  for (const report::CellPairs& family : all.families) {
    json.begin_object().value("workload", family.workload).begin_array("cells");
    for (const std::vector<uint32_t>& cell : family.cells) levels(json, {}, cell);
    json.end();
    const auto column = [&](std::string_view key, auto&& of) {
      std::vector<double> numbers;
      for (const report::CellPair& pair : family.pairs)
        numbers.push_back(pair.refused.empty() ? static_cast<double>(of(pair)) : std::numeric_limits<double>::quiet_NaN());
      json.numbers(key, numbers);
    };
    std::vector<double> a, b;
    for (const report::CellPair& pair : family.pairs) {
      a.push_back(static_cast<double>(pair.a));
      b.push_back(static_cast<double>(pair.b));
    }
    json.numbers("a", a).numbers("b", b);
    column("estimate", [](const report::CellPair& pair) { return pair.one.estimate; });
    column("conf_low", [](const report::CellPair& pair) { return pair.one.low; });
    column("conf_high", [](const report::CellPair& pair) { return pair.one.high; });
    column("all_low", [](const report::CellPair& pair) { return pair.all.low; });
    column("all_high", [](const report::CellPair& pair) { return pair.all.high; });
    column("n", [](const report::CellPair& pair) { return pair.n; });
    // Many pairs share one reason, and it may name a workload whose name is long.
    std::vector<std::string> reasons;
    std::vector<double> reason;
    for (const report::CellPair& pair : family.pairs) {
      auto at = std::find(reasons.begin(), reasons.end(), pair.refused);
      if (!pair.refused.empty() && at == reasons.end()) at = reasons.insert(at, pair.refused);
      reason.push_back(pair.refused.empty() ? std::numeric_limits<double>::quiet_NaN()
                                            : static_cast<double>(at - reasons.begin()));
    }
    json.numbers("reason", reason).begin_array("reasons");
    for (const std::string& text : reasons) json.element(text);
    json.end().end();
  }
  json.end().end();
}

// Half widths that more replicates would give, were the spread to stay: t on as many more degrees of freedom.
void more_replicates(text::JsonWriter& json, const report::Report& report) {
  constexpr double kTimes[] = {0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11.3, 16};
  json.begin_array("precision");
  for (size_t i = 0; i < report.contrasts.size(); ++i) {
    const report::Contrast& contrast = report.contrasts[i];
    if (!contrast.refused.empty() || !report::response_of(report, contrast.response).declared || contrast.standard_error <= 0)
      continue;
    std::vector<double> n, half;
    for (const double times : kTimes) {
      const double replicates = times * static_cast<double>(contrast.n), df = contrast.df * times;
      if (replicates < 3 || df < 1) continue;
      n.push_back(replicates);
      half.push_back(as_difference(contrast.scale, statistics::t_quantile(1 - report.interval_level / 2, df) *
                                                       contrast.standard_error / std::sqrt(times)));
    }
    json.begin_object().value("contrast", i).value("margin", as_difference(contrast.scale, contrast.margin));
    json.numbers("n", n).numbers("half_width", half).end();
  }
  json.end();
}

// The same for layouts and runs of each, from the components: a difference of two cells whose means have variance
// (layout + run / runs) / layouts each.
void more_layouts(text::JsonWriter& json, const report::Report& report) {
  constexpr double kLayouts[] = {5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160};
  constexpr double kRuns[] = {1, 2, 4, 8};
  json.begin_array("layouts_and_runs");
  for (const report::SpreadComponents& part : report.components) {
    const report::Response& response = report::response_of(report, part.response);
    if (!part.run || !response.declared) continue;
    for (const double runs : kRuns) {
      std::vector<double> half;
      for (const double layouts : kLayouts) {
        const double variance = 2 * (std::max(part.layout, 0.0) + *part.run / runs) / layouts;
        half.push_back(as_difference(
            response.scale, statistics::t_quantile(1 - report.interval_level / 2, 2 * (layouts - 1)) * std::sqrt(variance)));
      }
      json.begin_object().value("response", part.response).value("workload", part.workload).value("runs", runs);
      json.numbers("layouts", kLayouts).numbers("half_width", half).end();
    }
  }
  json.end();
}

// Where the next program's own difference would lie: the interval of the mean widened by the spread between programs.
void predictions(text::JsonWriter& json, const report::Report& report) {
  json.begin_array("predictions");
  for (size_t i = 0; i < report.contrasts.size(); ++i) {
    const report::Contrast& contrast = report.contrasts[i];
    if (contrast.population != report::Population::kLikeThese || !contrast.refused.empty()) continue;
    const bool log_scale = contrast.scale == report::Scale::kLog;
    const double estimate = log_scale ? std::log(contrast.interval.estimate) : contrast.interval.estimate;
    const double half = statistics::t_quantile(1 - report.interval_level / 2, contrast.df) * contrast.standard_error *
                        std::sqrt(static_cast<double>(contrast.n) + 1);
    json.begin_object().value("contrast", i).value("conf_low", to_people(contrast.scale, estimate - half));
    json.value("conf_high", to_people(contrast.scale, estimate + half)).end();
  }
  json.end();
}

// Absolute t of all effects against half-normal quantiles (Daniel 1959): those of noise alone lie on a line.
void half_normal(text::JsonWriter& json, const report::Report& report) {
  std::vector<std::pair<double, size_t>> effects;
  for (size_t i = 0; i < report.contrasts.size(); ++i) {
    const report::Contrast& contrast = report.contrasts[i];
    if (!contrast.refused.empty() || contrast.response != report.responses[0].name || contrast.standard_error <= 0) continue;
    if (contrast.workload.empty() && report.workloads.size() > 1) continue;
    const double estimate = report::on_scale(contrast.scale, contrast.interval.estimate);
    effects.emplace_back(std::fabs(estimate / contrast.standard_error), i);
  }
  std::sort(effects.begin(), effects.end());
  std::vector<double> quantile, size, which;
  for (size_t i = 0; i < effects.size(); ++i) {
    quantile.push_back(
        statistics::normal_quantile(0.5 + 0.5 * (static_cast<double>(i) + 0.5) / static_cast<double>(effects.size())));
    size.push_back(effects[i].first);
    which.push_back(static_cast<double>(effects[i].second));
  }
  json.begin_object("half_normal").numbers("quantile", quantile).numbers("size", size).numbers("contrast", which).end();
}

}  // namespace

std::string figures_json(const report::Samples& samples, const report::UnitsByResponse& units, const report::Report& report) {
  text::JsonWriter json;
  json.begin_object().value("format", "stab-figures").value("version", 1);
  answers(json, report);
  json.begin_array("responses");
  for (size_t r = 0; r < units.size(); ++r) {
    const report::Scale scale = samples.responses[r].scale;
    json.begin_object().value("name", samples.responses[r].name).begin_array("workloads");
    for (uint32_t w = 0; w < units[r].size(); ++w) {
      const report::WorkloadUnits& workload = units[r][w];
      json.begin_object().value("name", samples.workloads[w]).begin_array("cells");
      for (const report::CellUnits& cell : workload.cells) distribution(json, samples.responses[r], cell);
      json.end();
      residuals(json, workload);
      interactions(json, samples, scale, workload);
      if (samples.responses[r].declared) {
        block_pairs(json, samples, scale, workload);
        doses(json, samples, w, workload);
        luck(json, samples, r, samples.workloads[w], workload);
      }
      json.end();
    }
    json.end();
    if (samples.responses[r].declared) pairs_of_cells(json, samples, r, units[r], report);
    json.end();
  }
  json.end();
  more_replicates(json, report);
  more_layouts(json, report);
  predictions(json, report);
  half_normal(json, report);
  write_looks(json, samples);
  json.end();
  return json.take();
}

}  // namespace stab::page
