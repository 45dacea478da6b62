#include "stabd/engine/results/equal_builds.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/wording.h"
#include "stabd/engine/build/builds.h"

namespace stab::engine {
namespace {

bool are_asked_alike(const plan::Build& a, const plan::Build& b) {
  return a.command.argv == b.command.argv && a.source.dir == b.source.dir && a.source.revision == b.source.revision &&
         a.source.patches == b.source.patches;
}

// Whether its file lies where the build made it (build_directory).
bool is_made(const store::BuildRow& row) {
  return !row.command.empty() && !row.binary_sha256.empty() && !row.input_hash.empty() &&
         row.binary_path.find("/" + build_directory_name(row.input_hash) + "/") != std::string::npos;
}

// A build's hash is that of what its program's first workload starts: with others it is no more than a part of the build.
bool starts_one_file(const plan::Program& program) {
  return std::all_of(program.workloads.begin(), program.workloads.end(), [&](const plan::Workload& workload) {
    return !workload.run.argv.empty() && workload.run.argv[0] == program.workloads[0].run.argv[0];
  });
}

}  // namespace

Result<std::vector<std::string>> equal_builds(store::Store& store, store::Id experiment, const ExpandedPlan& expanded) {
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  const std::vector<plan::Build>& asked = expanded.builds.all();
  std::vector<bool> start_one_file;  // by program
  for (const plan::Program& program : expanded.plan.programs) start_one_file.push_back(starts_one_file(program));
  const auto asked_for = [&](const store::BuildRow& row) -> const plan::Build* {
    if (row.index < 0 || static_cast<size_t>(row.index) >= asked.size()) return nullptr;
    const plan::Build& build = asked[static_cast<size_t>(row.index)];
    return start_one_file[static_cast<size_t>(build.program)] ? &build : nullptr;
  };
  // Of builds that are one file: the first, and the first that was asked for in another way.
  struct Known {
    const store::BuildRow *first = nullptr, *another = nullptr;
  };
  std::map<std::tuple<std::string_view, int, std::string_view>, Known> of_file;
  std::vector<std::string> out;
  for (const store::BuildRow& one : builds) {
    if (!is_made(one) || asked_for(one) == nullptr) continue;
    Known& known = of_file[{one.program, one.link, one.binary_sha256}];
    if (known.first == nullptr) {
      known.first = &one;
      continue;
    }
    const bool is_like_first = are_asked_alike(*asked_for(*known.first), *asked_for(one));
    if (!is_like_first && known.another == nullptr) known.another = &one;
    const store::BuildRow* const other = is_like_first ? known.another : known.first;
    if (other != nullptr) out.push_back(in_quotes(other->name) + " and " + in_quotes(one.name));
  }
  return out;
}

}  // namespace stab::engine
