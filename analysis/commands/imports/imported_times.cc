// A benchmark becomes a response, a side a level of the one factor, a process a row: benchmarks of one process share what
// disturbed it, so they are never averaged as if each had seen a process of its own. The questions are one family.
#include "analysis/commands/imports/imported_times.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/commands/answers/render.h"
#include "analysis/commands/imports/imported_factors.h"

namespace stab::commands {
namespace {

constexpr size_t kFewest = 2;   // processes of a side: fewer say nothing of what another would take
constexpr size_t kMostShown = 5;
constexpr char kWarning[] =
    "imported: each process counts once, however often it repeated. The files don't show that the sides ran in turns, or in more "
    "layouts than one each: a difference may come from the machine or from link order; 'stabctl run' removes both\n";

// How many processes of each side have a benchmark, in the order in which benchmarks come.
struct Counted {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::set<size_t>>> processes;
  std::set<std::string> counts;  // those that aren't times
};

Counted count(const std::vector<ImportedSide>& sides) {
  Counted counted;
  for (size_t side = 0; side < sides.size(); ++side) {
    for (const ImportedTime& time : sides[side].times) {
      const auto [at, fresh] = counted.processes.try_emplace(time.benchmark, sides.size());
      if (fresh) counted.names.push_back(time.benchmark);
      at->second[side].insert(time.process);
      if (time.is_count) counted.counts.insert(time.benchmark);
    }
  }
  return counted;
}

// What failed, and why, in the order in which it comes; its times elsewhere are taken out of the sides.
std::vector<std::string> take_failed(std::vector<ImportedSide>& sides) {
  std::vector<std::string> lines;
  std::set<std::string> failed;
  for (const ImportedSide& side : sides)
    for (const ImportedTime& time : side.times)
      if (!time.failure.empty() && failed.insert(time.benchmark).second)
        lines.push_back("'" + time.benchmark + "': '" + side.name + "' has no time of it: " + time.failure);
  const auto has_failed = [&](const ImportedTime& time) { return failed.contains(time.benchmark); };
  for (ImportedSide& side : sides) std::erase_if(side.times, has_failed);
  return lines;
}

// Why this benchmark can't be judged; empty: it can.
std::string why_not(const std::vector<ImportedSide>& sides, const std::vector<std::set<size_t>>& processes) {
  for (size_t side = 0; side < sides.size(); ++side) {
    if (processes[side].empty()) return "'" + sides[side].name + "' has none of it";
    if (processes[side].size() < kFewest)
      return "'" + sides[side].name + "' has it from one process, whose repetitions are repeats of one layout";
  }
  return {};
}

bool any_in_common(const Counted& counted) {
  return std::any_of(counted.processes.begin(), counted.processes.end(), [](const auto& benchmark) {
    const auto& sides = benchmark.second;
    return std::count_if(sides.begin(), sides.end(), [](const std::set<size_t>& side) { return !side.empty(); }) > 1;
  });
}

std::string listed(const std::vector<std::string>& lines) {
  std::string out;
  for (size_t i = 0; i < std::min(lines.size(), kMostShown); ++i) out += "  " + lines[i] + "\n";
  if (lines.size() > kMostShown) out += "  and " + std::to_string(lines.size() - kMostShown) + " more\n";
  return out;
}

}  // namespace

CommandOutput run_import(std::vector<ImportedSide> sides, double margin, const ReportOptions& options) {
  std::vector<std::string> left_out = take_failed(sides);
  if (const auto factors = factors_of(sides)) {
    CommandOutput output = run_with_factors(sides, *factors, margin, options);
    if (output.exit_code == 0 && !left_out.empty()) output.err += "not judged:\n" + listed(left_out);
    if (output.exit_code == 0) output.err += kWarning;
    return output;
  }
  if (sides.size() < 2)
    return refused(Error{ErrorCode::kBadInput, "one side, and nothing to compare it with: give a second SIDE=FILE", {}});
  const Counted counted = count(sides);
  report::Samples samples;
  samples.experiment = "imported times";
  samples.unit = report::Unit::kRow;
  samples.row_word = "run";
  samples.workload_word = samples.program_word = "suite";
  samples.workloads = {"all processes"};
  report::Factor factor{.name = "side", .levels = {}, .layout = false, .baseline = 0};
  for (const ImportedSide& side : sides) factor.levels.push_back(side.name);
  samples.factors = {factor};
  std::map<std::string, size_t> at;
  for (const std::string& name : counted.names) {
    const std::string why = why_not(sides, counted.processes.at(name));
    if (!why.empty()) {
      left_out.push_back("'" + name + "': " + why);
      continue;
    }
    at.emplace(name, samples.responses.size());
    const std::string unit = counted.counts.contains(name) ? "" : "s";
    samples.responses.push_back({.name = name, .unit = unit, .scale = report::Scale::kLog, .margin = margin});
  }
  if (at.empty())
    return refused(
        Error{ErrorCode::kBadInput,
              "no benchmark can be judged:\n" + listed(left_out) +
                  (counted.names.empty() ? "repair what failed, and measure again"
                   : any_in_common(counted)
                       ? "run each side in at least 2 processes, better 10, and give a file of each: a=1.json a=2.json "
                         "b=3.json b=4.json"
                       : "the sides have no benchmark in common: give what is to be compared one name in both"),
              {}});
  for (size_t side = 0; side < sides.size(); ++side) {
    std::map<size_t, report::Trial> processes;
    for (const ImportedTime& time : sides[side].times) {
      const auto response = at.find(time.benchmark);
      if (response == at.end()) continue;
      report::Trial& trial = processes[time.process];
      trial.levels = {static_cast<uint16_t>(side)};
      trial.values.resize(samples.responses.size());
      trial.values[response->second] = time.seconds;
    }
    for (auto& [number, trial] : processes) {
      trial.order = static_cast<uint32_t>(samples.trials.size());
      trial.seed = number;
      samples.trials.push_back(std::move(trial));
    }
  }
  samples.planned = static_cast<uint32_t>(samples.trials.size());
  CommandOutput output = run_report(samples, options);
  if (!left_out.empty()) output.err += "not judged:\n" + listed(left_out);
  output.err += kWarning;
  return output;
}

}  // namespace stab::commands
