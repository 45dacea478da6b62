#include "stabctl/side_differences.h"

#include <optional>

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

}  // namespace

Result<std::map<std::string, commands::SideDifferences>> side_differences(store::Store& store, store::Id experiment) {
  STAB_TRY(const std::vector<store::SubjectRow> subjects, store.subjects(experiment));
  STAB_TRY(const std::vector<store::DoneRow> done, store.done(experiment));
  std::map<std::string, commands::SideDifferences> out;
  for (const store::SubjectRow& subject : subjects) {
    Side sides[2];
    for (const store::DoneRow& row : done)
      if (row.subject == subject.index && (row.cell == 0 || row.cell == 1)) take(row, sides[row.cell]);
    if (sides[0].runs < 2 || sides[1].runs < 2) continue;
    commands::SideDifferences differ;
    if (sides[0].sha256 && sides[1].sha256 && sides[0].sha256 != sides[1].sha256)
      differ.outputs = printed(sides[0]) + " against " + printed(sides[1]);
    if (sides[0].exit_status && sides[1].exit_status && sides[0].exit_status != sides[1].exit_status)
      differ.ends = std::to_string(*sides[0].exit_status) + " against " + std::to_string(*sides[1].exit_status);
    if (!differ.outputs.empty() || !differ.ends.empty()) out[subject.name] = std::move(differ);
  }
  return out;
}

}  // namespace stab::ctl
