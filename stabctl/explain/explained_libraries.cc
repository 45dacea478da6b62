#include "stabctl/explain/explained_libraries.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/own_libraries.h"
#include "stabctl/sides/same_bytes.h"
#include "stabd/engine/build/expand.h"

namespace stab::ctl {
namespace {

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename(); }

// Where a run finds what its program looks for from the folder in which it is started: the folder that the first input is copied
// from, as inputs are all that a run's own folder begins with.
std::string folder_of_inputs(const engine::ExpandedPlan& expanded, const plan::Cell& cell) {
  const std::vector<std::string>& inputs = expanded.program_of(0).inputs;
  if (inputs.empty()) return "/";
  const std::filesystem::path first = plan::substitute(inputs.front(), expanded.plan, cell, 0);
  return first.is_absolute() ? first.parent_path().string() : "/";
}

}  // namespace

Result<LibrariesOfSides> libraries_of_sides(store::Store& store, const store::ExperimentRow& row) {
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(row));
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(row.id));
  const std::map<std::string, std::string>& env = expanded.workload_of(0).env;
  const auto path = env.find("LD_LIBRARY_PATH");
  const int program = expanded.subjects.at(0).program;
  const std::array<const plan::Cell*, 2> cells = {&expanded.design.cells.front(), &expanded.design.cells.back()};
  LibrariesOfSides out;
  for (size_t side = 0; side < out.size(); ++side) {
    const plan::Cell& cell = *cells.at(side);
    const std::string search_path = path == env.end() ? "" : plan::substitute(path->second, expanded.plan, cell, 0);
    const int index = expanded.builds.of(program, cell.index, 0);
    const auto build = std::find_if(builds.begin(), builds.end(), [&](const auto& one) { return one.index == index; });
    if (build == builds.end()) continue;
    auto found = own_libraries(build->binary_path, search_path, folder_of_inputs(expanded, cell));
    if (found) out.at(side) = *std::move(found);
  }
  return out;
}

bool are_same_files(const LibrariesOfSides& libraries) {
  const auto& [older, newer] = libraries;
  return older.size() == newer.size() && std::all_of(older.begin(), older.end(), [&newer = newer](const std::string& one) {
    const auto same = std::find_if(newer.begin(), newer.end(), [&](const std::string& other) {
      return name_of(other) == name_of(one);
    });
    return same != newer.end() && have_same_bytes(one, *same);
  });
}

}  // namespace stab::ctl
