// A million trials take half a minute to store, and whoever submits or cancels waits for the store meanwhile: so they are
// stored a few thousand at a time. Which ones are next is read off the store, so nothing has to survive a crash.
//
// A schedule in random order is one shuffle of a stretch of blocks, and is made as a whole; one in blocks is made as needed.
#include "stabd/engine/experiment/planning.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "plan/limits.h"
#include "plan/size.h"
#include "stabd/engine/build/gate_open.h"

namespace stab::engine {
namespace {

// A slice should take no longer than whoever waits behind it notices; how much that is depends on the machine.
constexpr std::chrono::milliseconds kSliceTime{20};
constexpr size_t kSmallestSlice = 250, kLargestSlice = 16000;

// How many places the next slice has.
class SliceSize {
 public:
  size_t get() const { return size_; }
  void took(std::chrono::steady_clock::duration time) {
    if (time > kSliceTime) size_ = std::max(size_ / 2, kSmallestSlice);
    if (time * 2 < kSliceTime) size_ = std::min(size_ * 2, kLargestSlice);
  }

 private:
  size_t size_ = 1000;
};

// The part of a schedule that has some place in it, made anew only if the last one made does not have it.
class Parts {
 public:
  explicit Parts(const ExpandedPlan& expanded)
      : expanded_(&expanded), block_trials_(static_cast<int64_t>(plan::block_trials(expanded.plan, expanded.design))) {}

  int64_t block_trials() const { return block_trials_; }

  // Up to `size` places from `position` on. pre: the stretch has it
  plan::Schedule slice(int64_t position, const std::pair<int64_t, int64_t>& stretch, size_t size) {
    if (position < first_ || position >= first_ + static_cast<int64_t>(made_.trials.size())) make(position, stretch);
    const auto begin = made_.trials.begin() + (position - first_);
    return {{begin, begin + std::min<int64_t>(static_cast<int64_t>(size), made_.trials.end() - begin)}};
  }

 private:
  void make(int64_t position, const std::pair<int64_t, int64_t>& stretch) {
    int64_t block = stretch.first, blocks = stretch.second;
    if (expanded_->plan.experiment.order == plan::Order::kBlocks) {
      block = position / block_trials_;
      blocks =
          std::clamp<int64_t>(static_cast<int64_t>(kLargestSlice) / block_trials_, 1, stretch.first + stretch.second - block);
    }
    made_ = plan::make_schedule(expanded_->plan, expanded_->design, static_cast<int>(block), static_cast<int>(blocks));
    first_ = block * block_trials_;
  }

  const ExpandedPlan* expanded_;
  int64_t block_trials_;
  plan::Schedule made_;
  int64_t first_ = 0;
};

// Where the schedule goes on, and in which stretch of promised blocks that is; none: all that is promised is stored.
struct NextPlace {
  int64_t position = 0;
  std::optional<std::pair<int64_t, int64_t>> stretch;
};

Result<NextPlace> next_place(store::Store& store, store::Id experiment, int64_t block_trials) {
  NextPlace next;
  STAB_TRY(next.position, store.places(experiment, store::TrialKind::kMain));
  STAB_TRY(const auto stretches, store.stretches(experiment));
  const int64_t block = next.position / block_trials;
  const auto found = std::find_if(stretches.begin(), stretches.end(), [&](const auto& one) {
    return block >= one.first && block < one.first + one.second;
  });
  if (found != stretches.end()) next.stretch = *found;
  return next;
}

Status plan_preflight(Engine& engine, store::Id experiment, const ExpandedPlan& expanded, const StopSignal& stop) {
  store::Store& store = engine.store();
  STAB_TRY(int64_t stored, store.places(experiment, store::TrialKind::kPreflight));
  const int64_t all = static_cast<int64_t>(expanded.design.cells.size() * expanded.subjects.size());
  if (!expanded.plan.experiment.preflight || stored >= all) return {};
  const std::vector<store::NewTrial> rows = rows_of(expanded, plan::make_preflight(expanded.plan, expanded.design));
  SliceSize size;
  while (stored < all && !stop.asked()) {
    const auto begin = rows.begin() + stored;
    const std::vector<store::NewTrial> slice(begin, begin + std::min<int64_t>(static_cast<int64_t>(size.get()), all - stored));
    const auto began = std::chrono::steady_clock::now();
    STAB_CHECK_OK(store.plan_more(experiment, store::TrialKind::kPreflight, slice));
    size.took(std::chrono::steady_clock::now() - began);
    stored += static_cast<int64_t>(slice.size());
    const GateOpen open(engine.gate());
  }
  return {};
}

}  // namespace

uint64_t fingerprint_of(const ExpandedPlan& expanded) {
  const int64_t replicates = expanded.plan.experiment.replicates;
  Parts parts(expanded);
  uint64_t fingerprint = plan::fingerprint({});
  for (int64_t position = 0; position < replicates * parts.block_trials();) {
    const plan::Schedule slice = parts.slice(position, {0, replicates}, kLargestSlice);
    fingerprint = plan::fingerprint(slice, fingerprint);
    position += static_cast<int64_t>(slice.trials.size());
  }
  return fingerprint;
}

Status plan_ahead(Engine& engine, store::Id experiment, const ExpandedPlan& expanded, const StopSignal& stop) {
  store::Store& store = engine.store();
  STAB_TRY(const store::ExperimentSummary before, store.summary(experiment));
  if (before.state == store::ExperimentState::kSubmitted) {
    store::Store::Expansion rows = rows_of(expanded);
    {
      const GateOpen open(engine.gate());
      rows.schedule_fingerprint = fingerprint_of(expanded);
    }
    STAB_TRY(const store::ExperimentSummary now, store.summary(experiment));
    if (now.state != store::ExperimentState::kSubmitted) return {};  // cancelled or paused meanwhile
    STAB_CHECK_OK(store.expand(experiment, rows));
  }
  STAB_CHECK_OK(plan_preflight(engine, experiment, expanded, stop));
  Parts parts(expanded);
  SliceSize size;
  while (!stop.asked()) {
    STAB_TRY(const NextPlace next, next_place(store, experiment, parts.block_trials()));
    const auto& stretch = next.stretch;
    if (!stretch) return {};
    // A bundle may have been made by anybody.
    if (stretch->second < 0 || stretch->first < 0 ||
        plan::times(static_cast<uint64_t>(stretch->first) + static_cast<uint64_t>(stretch->second),
                    static_cast<uint64_t>(parts.block_trials())) > plan::kMaxTrials)
      return Error{ErrorCode::kCorrupt, "the experiment promises more trials than a plan may have", {}};
    const std::vector<store::NewTrial> rows = rows_of(expanded, parts.slice(next.position, *stretch, size.get()));
    const auto began = std::chrono::steady_clock::now();
    STAB_CHECK_OK(store.plan_more(experiment, store::TrialKind::kMain, rows));
    size.took(std::chrono::steady_clock::now() - began);
    const GateOpen open(engine.gate());
  }
  return {};
}

Result<bool> is_over(store::Store& store, store::Id experiment, const ExpandedPlan& expanded) {
  STAB_TRY(const std::optional<store::TrialRow> waits, store.next_trial(experiment));
  if (waits) return false;
  const auto block_trials = static_cast<int64_t>(plan::block_trials(expanded.plan, expanded.design));
  STAB_TRY(const NextPlace next, next_place(store, experiment, block_trials));
  return !next.stretch;
}

}  // namespace stab::engine
