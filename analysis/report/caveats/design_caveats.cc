// What the experiment, as it was designed, can say little about: others than its programs, other layouts than the one it ran
// in, effects that share their cells with others, one build under two names, small cells, short runs, and times where there are
// only counts.
#include "analysis/report/caveats/caveat_checks.h"

#include <algorithm>
#include <set>
#include <string>

#include "analysis/report/caveats/caveats.h"
#include "analysis/report/experiment/replication_units.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::report {

void check_few_workloads(const Samples& samples, const Report& report, Caveats& out) {
  if (samples.unit == Unit::kRow && report.workloads.size() == 1) return;  // plain data: nobody asked about others
  constexpr size_t kEnough = 6;
  const size_t n = program_count(samples);
  if (n >= kEnough || n == 0) return;
  out.push_back({CaveatCode::kFewWorkloads,
                 n == 1 ? "one " + report.program_word + ": the answer does not cover others"
                        : plural(n, report.program_word) + ": too few to say much about others like them",
                 "add " + report.program_word + "s; replicates don't help here"});
}

bool asks_about_binaries(const Report& report) {
  return std::any_of(report.factors.begin(), report.factors.end(), [](const Factor& factor) { return factor.of_binaries; });
}

void check_one_layout(const Report& report, Caveats& out) {
  uint64_t cells = 0;
  for (const Cell& cell : report.cells) cells += cell.one_layout && cell.response == report.responses[0].name;
  if (cells == 0) return;
  out.push_back({CaveatCode::kOneLayout,
                 plural(cells, "cell") + " ran in one code layout each: their values are repeats of one layout, and "
                                        "differences from them hold for this link only",
                 asks_about_binaries(report)
                     ? "as about = \"binaries\" asks; another link may change the difference, often by 1 to 3 %"
                     : "vary the link in cells where code is off: link = { seeds = 10 }"});
}

void check_aliased(const Report& report, Caveats& out) {
  std::set<std::string> named;
  std::string list;
  for (const Contrast& contrast : report.contrasts) {
    if (contrast.response != report.responses[0].name || named.contains(contrast.factor)) continue;
    for (const std::string& alias : contrast.aliases) {
      if (std::count(alias.begin(), alias.end(), ':') != 1) continue;
      if (named.insert(contrast.factor).second) list += (list.empty() ? "" : ", ") + contrast.factor;
      list += " = " + alias;
    }
  }
  if (list.empty()) return;
  out.push_back({CaveatCode::kAliased, "some effects cannot be separated from interactions of two factors: " + list,
                 "read each as its factor's effect only if the interaction is small; running the missing cells separates them"});
}

namespace {

// Blocks of the first response that take no part in a contrast, since they lack one of its cells: the most of any.
uint64_t blocks_left_out(const Report& report) {
  uint64_t most = 0;
  for (const Contrast& contrast : report.contrasts)
    if (contrast.response == report.responses[0].name) most = std::max(most, contrast.blocks_left_out);
  return most;
}

}  // namespace

void check_sizes(const Report& report, Caveats& out) {
  uint64_t smallest = UINT64_MAX, largest = 0;
  const Cell* fewest = nullptr;
  for (const Cell& cell : report.cells) {
    if (cell.response != report.responses[0].name) continue;
    if (cell.n < smallest) fewest = &cell;
    smallest = std::min(smallest, cell.n);
    largest = std::max(largest, cell.n);
  }
  if (!fewest) return;
  constexpr uint64_t kSmall = 10;
  const bool repeated = report.workloads.size() > 1 && largest == 1;  // one value for each subject and cell: by design
  if (smallest < kSmall && !repeated)
    out.push_back({CaveatCode::kSmallSample,
                   "as few as " + plural(smallest, report.trial_word) + " in a cell of " + fewest->workload,
                   "intervals rest on the normal assumption there; use 20 or more"});
  const uint64_t left_out = blocks_left_out(report);
  if (smallest != largest || left_out > 0)
    out.push_back({CaveatCode::kUnbalanced,
                   (smallest != largest
                        ? "cells hold between " + std::to_string(smallest) + " and " + plural(largest, report.trial_word)
                        : "blocks lack cells") +
                       (left_out > 0 ? "; of a comparison within blocks " + plural(left_out, "block") +
                                           " that lack" + (left_out == 1 ? "s" : "") + " a cell took no part"
                                     : ""),
                   "sums of squares of type II and III allow for it; see why some are missing"});
  // What a process takes from its start to its end. A benchmark's operation has no start-up in it, nor has a region.
  const Response& primary = report.responses[0];
  const bool is_of_the_process = primary.name == "wall_time" || primary.name == "user_time" || primary.name == "system_time";
  if (!is_of_the_process || primary.unit != "s") return;
  constexpr double kShortSeconds = 0.05;
  std::set<std::string> tiny;
  for (const Cell& cell : report.cells)
    if (cell.response == primary.name && cell.median < kShortSeconds) tiny.insert(cell.workload);
  if (!tiny.empty())
    out.push_back({CaveatCode::kTiny,
                   *tiny.begin() + (tiny.size() > 1 ? " and " + std::to_string(tiny.size() - 1) + " more run" : " runs") +
                       " less than 50 ms: start-up is a large part of what is measured",
                   "give it more work"});
}

void check_simulated(const Samples& samples, Caveats& out) {
  if (samples.simulated.empty()) return;
  std::string models;
  for (const std::string& model : samples.simulated) models += (models.empty() ? "" : "; and ") + model;
  out.push_back({CaveatCode::kSimulated, (samples.simulated.size() > 1
                                             ? "the numbers are counts of different simulators, not times: "
                                             : "the numbers are counts of a simulator, not times: ") + models,
                 "a difference says that layouts or code differ, not that users wait longer; measure wall_time in a plan without "
                 "simulate"});
}

void check_equal_builds(const Samples& samples, Caveats& out) {
  if (samples.equal_builds.empty()) return;
  const size_t more = samples.equal_builds.size() - 1;
  out.push_back({CaveatCode::kSameBuild,
                 "the builds " + samples.equal_builds.front() +
                     (more > 0 ? ", and of " + plural(more, "more pair") + " both," : "") +
                     " are the same file, byte for byte: if what it reads is the same, too, a difference is chance",
                 "'stabctl logs' has what the builds printed; a make that finds its program up to date needs -B"});
}

}  // namespace stab::report
