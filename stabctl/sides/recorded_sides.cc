#include "stabctl/sides/recorded_sides.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/wording.h"
#include "stabd/engine/build/expand.h"

namespace stab::ctl {
namespace {

constexpr std::string_view kProgramsFailures[] = {"exit status ", "killed by signal ", "stdout ", "stderr ", "file "};

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
  return plural(side.bytes, "byte") + " (SHA-256 " + side.sha256->substr(0, kShown) +
         "...)";
}

// Whether each link of this program is one file on the first side and on the other one.
bool is_same_file(const std::vector<store::BuildRow>& builds, const std::string& program, size_t other, size_t sides) {
  std::map<int, std::vector<std::string>> by_link;
  for (const store::BuildRow& build : builds)
    if (build.program == program) by_link[build.link].push_back(build.binary_sha256);
  return !by_link.empty() && std::all_of(by_link.begin(), by_link.end(), [&](const auto& of_link) {
    const std::vector<std::string>& files = of_link.second;
    return files.size() == sides && !files[0].empty() && files[0] == files[other];
  });
}

// Whether this workload starts the file whose hash the builds have.
bool starts_what_is_known(const engine::ExpandedPlan& expanded, int subject) {
  const std::vector<std::string>& first = expanded.program_of(subject).workloads.front().run.argv;
  const std::vector<std::string>& own = expanded.workload_of(subject).run.argv;
  constexpr std::string_view kShell = "/bin/sh";
  return &first == &own || (!own.empty() && own.front() == first.front() && own.front() != kShell);
}

// By what its failure is said to be (stabd/engine/trial/expectation.cc).
bool is_the_programs(const store::TrialRow& row, const store::Outcome& outcome) {
  if (row.state == store::TrialState::kTimeout) return true;
  return std::any_of(std::begin(kProgramsFailures), std::end(kProgramsFailures),
                     [&](const std::string_view beginning) { return outcome.failure.starts_with(beginning); });
}

}  // namespace

Result<commands::FailedByWorkload> failed_runs(store::Store& store, store::Id experiment) {
  STAB_TRY(const std::vector<store::SubjectRow> subjects, store.subjects(experiment));
  STAB_TRY(const std::vector<store::DoneRow> done, store.done(experiment));
  commands::FailedByWorkload out;
  std::map<int, commands::FailedRuns*> of_subject;
  for (const store::SubjectRow& subject : subjects) of_subject[subject.index] = &out[subject.name];
  for (const store::DoneRow& row : done)
    if (const auto runs = of_subject.find(row.subject); runs != of_subject.end() && row.cell <= 1)
      (row.cell == 0 ? runs->second->base_runs : runs->second->head_runs) += static_cast<uint64_t>(row.trials);
  for (const store::TrialState state : {store::TrialState::kFailed, store::TrialState::kTimeout}) {
    STAB_TRY(const std::vector<store::TrialRow> rows,
             store.trials(experiment, {.kind = store::TrialKind::kMain, .state = state, .block = {}, .limit = -1}));
    for (const store::TrialRow& row : rows) {
      const auto runs = of_subject.find(row.subject);
      if (runs == of_subject.end() || row.cell > 1) continue;
      STAB_TRY(const store::Outcome outcome, store.outcome(row.id));
      if (!is_the_programs(row, outcome)) continue;
      commands::FailedRuns& of = *runs->second;
      ++(row.cell == 0 ? of.base_failed : of.head_failed);
      ++(row.cell == 0 ? of.base_runs : of.head_runs);
      if (row.cell == 1 && of.example.empty())
        of.example = one_line(outcome.failure.substr(0, outcome.failure.find(", expected")));
    }
  }
  return out;
}

Result<DifferencesByWorkload> side_differences(store::Store& store, store::Id experiment, size_t other, size_t sides) {
  STAB_TRY(const std::vector<store::SubjectRow> subjects, store.subjects(experiment));
  STAB_TRY(const std::vector<store::DoneRow> done, store.done(experiment));
  STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(experiment));
  DifferencesByWorkload out;
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(row));
  for (const store::SubjectRow& subject : subjects) {
    Side base, head;
    for (const store::DoneRow& one : done) {
      if (one.subject != subject.index) continue;
      if (one.cell == 0) take(one, base);
      if (one.cell == static_cast<int>(other)) take(one, head);
    }
    commands::SideDifferences differ;
    differ.same_file = starts_what_is_known(expanded, subject.index) && is_same_file(builds, subject.program, other, sides);
    const bool are_enough = base.runs >= 2 && head.runs >= 2;
    if (are_enough && base.sha256 && head.sha256 && base.sha256 != head.sha256)
      differ.outputs = printed(base) + " against " + printed(head);
    if (are_enough && base.exit_status && head.exit_status && base.exit_status != head.exit_status)
      differ.ends = std::to_string(*base.exit_status) + " against " + std::to_string(*head.exit_status);
    if (!differ.outputs.empty() || !differ.ends.empty() || differ.same_file) out[subject.name] = std::move(differ);
  }
  return out;
}

}  // namespace stab::ctl
