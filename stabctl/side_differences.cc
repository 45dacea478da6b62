#include "stabctl/side_differences.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace stab::ctl {
namespace {

// What all runs of one side have in common.
struct Side {
  int64_t runs = 0;
  std::optional<std::string> sha256;  // absent: they printed this and that
  std::optional<int> exit_status;
  int64_t bytes = 0;
};

void take(const store::DoneRow& row, Side& side) {
  const bool is_first = side.runs == 0;
  side.runs += row.trials;
  if (is_first) {
    side.sha256 = row.stdout_sha256;
    side.exit_status = row.exit_status;
    side.bytes = row.stdout_bytes;
    return;
  }
  if (side.sha256 != row.stdout_sha256) side.sha256.reset();
  if (side.exit_status != row.exit_status) side.exit_status.reset();
}

std::string printed(const Side& side) {
  constexpr size_t kShown = 8;
  if (side.bytes == 0) return "nothing";
  return std::to_string(side.bytes) + (side.bytes == 1 ? " byte" : " bytes") + " (SHA-256 " + side.sha256->substr(0, kShown) +
         "...)";
}

// Whether each link of this program is one file on both sides.
bool is_same_file(const std::vector<store::BuildRow>& builds, const std::string& program) {
  std::map<int, std::vector<std::string>> by_link;
  for (const store::BuildRow& build : builds)
    if (build.program == program) by_link[build.link].push_back(build.binary_sha256);
  return !by_link.empty() && std::all_of(by_link.begin(), by_link.end(), [](const auto& of_link) {
    const std::vector<std::string>& files = of_link.second;
    return files.size() == 2 && !files[0].empty() && files[0] == files[1];
  });
}

}  // namespace

Result<std::map<std::string, commands::SideDifferences>> side_differences(store::Store& store, store::Id experiment) {
  STAB_TRY(const std::vector<store::SubjectRow> subjects, store.subjects(experiment));
  STAB_TRY(const std::vector<store::DoneRow> done, store.done(experiment));
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  std::map<std::string, commands::SideDifferences> out;
  std::set<std::string> programs;  // whose first workload is behind us
  for (const store::SubjectRow& subject : subjects) {
    Side sides[2];
    for (const store::DoneRow& row : done)
      if (row.subject == subject.index && (row.cell == 0 || row.cell == 1)) take(row, sides[row.cell]);
    commands::SideDifferences differ;
    differ.same_file = programs.insert(subject.program).second && is_same_file(builds, subject.program);
    const bool are_enough = sides[0].runs >= 2 && sides[1].runs >= 2;
    if (are_enough && sides[0].sha256 && sides[1].sha256 && sides[0].sha256 != sides[1].sha256)
      differ.outputs = printed(sides[0]) + " against " + printed(sides[1]);
    if (are_enough && sides[0].exit_status && sides[1].exit_status && sides[0].exit_status != sides[1].exit_status)
      differ.ends = std::to_string(*sides[0].exit_status) + " against " + std::to_string(*sides[1].exit_status);
    if (!differ.outputs.empty() || !differ.ends.empty() || differ.same_file) out[subject.name] = std::move(differ);
  }
  return out;
}

}  // namespace stab::ctl
