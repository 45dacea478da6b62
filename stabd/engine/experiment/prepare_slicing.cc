// What a preflight says of sliced blocks (slicing.h). A run that goes on after a crash finds the same preflight, and thus slices
// of the same length.
#include "stabd/engine/experiment/prepare_slicing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/slicing.h"
#include "stabd/engine/experiment/preflight.h"
#include "stabd/engine/machine/time_slices.h"

namespace stab::engine {
namespace {

using std::chrono::nanoseconds;

// A kind of log lines.
constexpr char kSlices[] = "slices";

// Below this share of its time on a CPU a program waits for something, and above the other it has several.
constexpr double kLeastBusy = 0.9, kMostBusy = 1.1;
// Of a shorter trial much is its start, which waits for the helper.
constexpr std::chrono::milliseconds kShort{50};
// What a machine needs beside its trials.
constexpr int64_t kMemoryLeftKib = 256 << 10;

// Of the workload whose trials need most together.
int64_t memory_of_a_block(const std::vector<PreflightTrial>& seen) {
  std::map<int, int64_t> by_subject;
  int64_t most = 0;
  for (const PreflightTrial& one : seen) most = std::max(most, by_subject[one.trial.subject] += one.max_rss_kib);
  return most;
}

std::string per_cent(double share) { return std::to_string(static_cast<int>(share * 100 + 0.5)) + " %"; }

// Said once for each workload, of the trial that is farthest off.
Status say_how_busy(LiveExperiment& experiment, const std::vector<PreflightTrial>& seen) {
  std::map<int, std::pair<double, const PreflightTrial*>> farthest;
  for (const PreflightTrial& one : seen) {
    const nanoseconds had = one.wall - one.delay;
    if (one.cpu < kShort || had.count() <= 0 || (!one.waited && one.cpu < one.wall)) continue;
    const double busy = std::max(static_cast<double>(one.cpu.count()) / static_cast<double>(one.wall.count()),
                                 std::min(1.0, static_cast<double>(one.cpu.count()) / static_cast<double>(had.count())));
    const auto [at, is_new] = farthest.try_emplace(one.trial.subject, busy, &one);
    if (!is_new && std::abs(busy - 1) > std::abs(at->second.first - 1)) at->second = {busy, &one};
  }
  for (const auto& [subject, found] : farthest) {
    const auto& [busy, one] = found;
    if (busy >= kLeastBusy && busy <= kMostBusy) continue;
    const std::string what = busy < kLeastBusy ? "it waits for something else the rest of the time" : "it uses several CPUs";
    STAB_CHECK_OK(experiment.note_and_log(
        kSlices, experiment.name_of(one->trial) + " was on a CPU for " + per_cent(busy) + " of its time alone: " + what +
                     ", so CPU time is not all that it costs; blocks = \"in turn\" with response = \"wall_time\" measures that"));
  }
  return {};
}

}  // namespace

Status prepare_slicing(LiveExperiment& experiment, HeldMachine& machine, TrialRunner& runner) {
  const plan::Plan& plan = experiment.plan();
  if (plan.experiment.blocks != plan::BlockMode::kSliced) return {};
  STAB_TRY(const std::vector<PreflightTrial> seen, passed_preflight(experiment));
  const int64_t needed = memory_of_a_block(seen) + kMemoryLeftKib;
  const std::optional<int64_t> available = available_memory_kib(experiment.options().roots);
  if (available && needed > *available)
    return Error{ErrorCode::kUnavailable,
                 "the trials of a block need " + std::to_string(needed >> 10) + " MiB together, and " +
                     std::to_string(*available >> 10) + " MiB are available; write blocks = \"in turn\", or use a smaller input",
                 {}};
  STAB_CHECK_OK(say_how_busy(experiment, seen));

  nanoseconds slice = plan.experiment.slice;
  std::string why = "as the plan says";
  if (slice.count() == 0) {
    const auto shortest =
        std::min_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.cpu < b.cpu; });
    slice = plan::slice_for(shortest == seen.end() ? nanoseconds::max() : shortest->cpu);
    why = shortest == seen.end() ? "as there is no preflight"
                                 : "the shortest trial took " + std::to_string(shortest->cpu.count() / 1'000'000) + " ms";
  }
  const std::string kernel = why_no_slices(experiment.options().roots);
  if (!kernel.empty()) why = "but " + kernel;
  STAB_CHECK_OK(experiment.note_and_log(kSlices, "time slices of " + std::to_string(slice.count() / 1000) + " us, " + why));
  runner.slice_with(slice);
  return machine.enclose(experiment.expanded().design.cells.size());
}

}  // namespace stab::engine
