// A map knows functions; a file is of an executable on a machine. What ties them is in the store: the plan's command, the facts
// of the host, the hash of the code that was mapped.
#include "stabd/engine/results/advice_of.h"

#include <algorithm>

#include "stabd/engine/build/expand.h"

namespace stab::engine {
namespace {

constexpr size_t kMostMeasuredBytes = 900;  // of a line for people; names of templates are longer

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string executable_of(const ExpandedPlan& expanded, const MappedExperiment::Build& of) {
  const plan::Build& build = expanded.builds.all()[static_cast<size_t>(of.build)];
  const plan::Cell& cell = expanded.design.cells[static_cast<size_t>(build.cell)];
  const plan::Command run = plan::substitute(expanded.workload_of(of.subject).run, expanded.plan, cell, build.link);
  return file_name(run.argv[0]);
}

Result<size_t> choose_map(const MappedExperiment& mapped, const std::string& workload) {
  std::string names;
  std::vector<size_t> confirmed;
  for (size_t i = 0; i < mapped.maps.size(); ++i) {
    const layout_report::LayoutMap& map = mapped.maps[i];
    names += (names.empty() ? "'" : ", '") + map.workload + "'";
    if (workload.empty() ? map.confirmation.has_value() : map.workload == workload) confirmed.push_back(i);
  }
  const auto is_of = [&](const layout_report::LayoutMap& map) { return map.workload == mapped.maps[confirmed[0]].workload; };
  // Of one build, too, where the others' maps have found nothing: a verification would build another one with its file.
  const auto is_refused_of = [&](const RefusedMap& one) { return one.workload == mapped.maps[confirmed[0]].workload; };
  if (confirmed.size() == 1 && std::count_if(mapped.maps.begin(), mapped.maps.end(), is_of) == 1 &&
      std::none_of(mapped.refused.begin(), mapped.refused.end(), is_refused_of))
    return confirmed[0];
  if (!workload.empty() && confirmed.empty())
    return bad_input("the experiment has no map of workload '" + workload + "'; it has those of " + names);
  if (confirmed.empty())
    return bad_input(
        "no place was confirmed by fresh trials, so there is nothing to advise; 'stabctl layout map' says what the map "
        "has found, and map = true under [layout] confirms it");
  const bool one_workload = std::all_of(confirmed.begin(), confirmed.end(), [&](size_t i) { return is_of(mapped.maps[i]); });
  if (one_workload)
    return bad_input("several builds of '" + mapped.maps[confirmed[0]].workload +
                     "' were mapped, and a layout file is of one: map it by a plan without other treatments");
  return bad_input("the experiment has several maps; say which by --workload: " + names);
}

}  // namespace

Result<EmittedLayout> emit_layout(store::Store& store, const MappedExperiment& mapped, const std::string& workload,
                                  layout_report::Wanted wanted) {
  STAB_TRY(const size_t which, choose_map(mapped, workload));
  const layout_report::LayoutMap& map = mapped.maps[which];
  if (!map.confirmation)
    return bad_input("the places of '" + map.workload +
                     "' were not confirmed by fresh trials; map = true under [layout] does that");
  STAB_TRY(const store::ExperimentRow row, store.experiment(mapped.screened));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  STAB_TRY(const auto facts, store.host_facts(mapped.screened));
  const layout_report::LayoutAdvice advice = layout_report::advise(map, wanted);
  EmittedLayout out;
  out.left_out = advice.left_out;
  if (advice.places.empty()) {
    std::string why = "no place of '" + map.workload + "' was confirmed that a build can choose: there is nothing to advise";
    for (const std::string& line : advice.left_out) why += "; " + line;
    return bad_input(why);
  }
  advice::LayoutFile& file = out.file;
  file.program = executable_of(expanded, mapped.builds[which]);
  file.experiment = row.name;
  file.workload = map.workload;
  file.binary = mapped.builds[which].text_hash;
  const auto cpu = facts.find("cpu.model");
  if (cpu == facts.end() || cpu->second.empty())
    return bad_input("the experiment recorded no CPU model, so it is unknown where its advice holds");
  file.cpu = cpu->second;
  if (wanted == layout_report::Wanted::kSlowest)
    file.measured.push_back("the slow place of each function: a control, not advice");
  for (const std::string& line : advice.measured) file.measured.push_back(line.substr(0, kMostMeasuredBytes));
  for (const layout_report::AdvisedPlace& place : advice.places)
    file.places.push_back({place.function, place.modulus, place.remainder, place.bytes});
  // What its own reader refuses must not be written, such as a name that no linker takes in a list.
  STAB_TRY(const advice::LayoutFile again, advice::parse_layout_file(advice::text_of(file), row.name + ".layout"));
  if (!(again == file)) return Error{ErrorCode::kInternal, "the layout file would be read otherwise than it was meant", {}};
  return out;
}

}  // namespace stab::engine
