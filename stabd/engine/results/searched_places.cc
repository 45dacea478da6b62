// The layout script of the runs says of which functions which places were drawn, in which order; the rest is computed again as
// `stabctl explain` did.
#include "stabd/engine/results/searched_places.h"

#include <algorithm>
#include <cmath>

#include "analysis/report/report_data/report_pen.h"
#include "analysis/statistics/places/best_places.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/function_places.h"

namespace stab::engine {
namespace {

std::string change_text(const statistics::PlaceEffect& effect) {
  return report::ratio_interval_text({std::exp(effect.estimate), std::exp(effect.low), std::exp(effect.high)});
}

// Which of those that were found the file does not have.
std::vector<std::string> left_out(const std::vector<SharedFunction>& functions, const statistics::PlaceAnswer& answer,
                                  const statistics::BestPlaces* best) {
  std::vector<bool> is_found;
  for (const statistics::PlaceEffect& one : answer.functions) is_found.push_back(one.is_found);
  for (const statistics::PairEffect& pair : answer.pairs) is_found[pair.first] = is_found[pair.second] = true;
  std::vector<std::string> out;
  for (size_t f = 0; f < functions.size(); ++f) {
    const SharedFunction& one = functions[f];
    if (!is_found[f] || (one.library.empty() && best != nullptr && best->is_placed[f])) continue;
    std::string why = why_unplaced(one);
    if (why.empty()) why = "these runs don't say where it is fast whatever the others do";
    if (!one.library.empty()) why = "it needs a layout file of that library's build; 'stabctl explain' says its line";
    out.push_back(one.shown + ": " + why);
  }
  return out;
}

}  // namespace

bool is_search_of_places(const store::ExperimentRow& row) {
  const auto expanded = expand_stored(row);
  if (!expanded || expanded->plan.programs.size() != 1 || expanded->design.cells.empty()) return false;
  const std::string& script = expanded->plan.programs[0].layout_script;
  return expanded->plan.factor_index("run_of_block") >= 0 && script.starts_with("stab-script 1 ") &&
         script.find("\nrest still\n") != std::string::npos && script.find(" mod 4096 ") != std::string::npos;
}

Result<EmittedLayout> emit_searched_places(store::Store& store, const store::ExperimentRow& row, const Archive& archive,
                                           const LayoutTool& tool, layout_report::Wanted wanted) {
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  const plan::Program& program = expanded.plan.programs[0];
  const double alpha = expanded.plan.experiment.alpha;
  STAB_TRY(const SharedFunctions functions, functions_of_script(store, row, program.layout_script, archive, tool));
  STAB_TRY(const std::vector<statistics::PlacedRun> runs, placed_runs(store, row, functions, archive, tool));
  STAB_TRY(const statistics::PlaceAnswer answer, statistics::find_places(runs, {alpha, expanded.plan.experiment.margin, 0}));
  std::vector<bool> may_place;
  for (const SharedFunction& one : functions.moved) may_place.push_back(why_unplaced(one).empty());
  const bool is_slowest = wanted == layout_report::Wanted::kSlowest;
  const auto best = statistics::best_places(runs, answer, may_place, alpha, is_slowest);
  EmittedLayout out;
  out.left_out = left_out(functions.moved, answer, best ? &*best : nullptr);
  advice::LayoutFile& file = out.file;
  for (size_t f = 0; best && f < functions.moved.size(); ++f) {
    const SharedFunction& one = functions.moved[f];
    if (!best->is_placed[f] || !one.library.empty()) continue;
    file.places.push_back({one.name, 4096, best->as_new[f] ? one.new_place() : one.old_place(),
                           static_cast<uint32_t>(std::min<uint64_t>(one.bytes, INT32_MAX))});
    file.measured.push_back(one.name + ": as in the " + (best->as_new[f] ? "new" : "old") + " build; where the new one has it " +
                            change_text(answer.functions[f]) + " of time");
    file.measured.back().resize(std::min<size_t>(file.measured.back().size(), 900));
  }
  if (file.places.empty()) {
    std::string why = "these runs have found no function whose place matters and that a build can place";
    for (const std::string& line : out.left_out) why += "; " + line;
    return bad_input(why);
  }
  file.measured.push_back("all that was chosen: " + change_text(best->in_new) + " of the new build's time, " +
                          change_text(best->in_old) + " of the old one's, by '" + row.name + "'");
  if (is_slowest) file.measured.insert(file.measured.begin(), "the slow place of each function: a control, not advice");
  STAB_TRY(const auto facts, store.host_facts(row.id));
  const auto cpu = facts.find("cpu.model");
  if (cpu == facts.end() || cpu->second.empty())
    return bad_input("the experiment recorded no CPU model, so it is unknown where its advice holds");
  const plan::Command run = plan::substitute(program.workloads[0].run, expanded.plan, expanded.design.cells[0], 0);
  file.program = run.argv[0].substr(run.argv[0].rfind('/') + 1);
  const bool is_copied = program.build.argv.empty() || program.build.argv[0] == "cp";
  if (!is_copied) {
    file.experiment = row.name;
    file.workload = plan::subjects(expanded.plan)[0].name;
  }
  file.binary = functions.text_hash;
  file.cpu = cpu->second;
  STAB_TRY(const advice::LayoutFile again, advice::parse_layout_file(advice::text_of(file), row.name + ".layout"));
  if (!(again == file)) return Error{ErrorCode::kInternal, "the layout file would be read otherwise than it was meant", {}};
  return out;
}

}  // namespace stab::engine
