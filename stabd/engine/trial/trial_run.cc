// A trial is made ready and run by itself; live_trial.cc has what happens in between, sliced_block.cc several at the same time.
#include "stabd/engine/trial/trial_run.h"

#include <memory>
#include <utility>

#include "stabd/engine/trial/live_trial.h"

namespace stab::engine {

uint64_t stack_top_bytes(const host::LaunchRequest& launch) {
  uint64_t bytes = launch.exec_path.size() + 1;
  for (const auto* list : {&launch.argv, &launch.env})
    for (const std::string& text : *list) bytes += text.size() + 1 + sizeof(char*);
  return bytes;
}

ReadyTrial::ReadyTrial(const Laboratory& laboratory, TrialRequest request)
    : run_(std::make_unique<LiveTrial>(laboratory, std::move(request))) {}
ReadyTrial::ReadyTrial(ReadyTrial&&) noexcept = default;
ReadyTrial::~ReadyTrial() = default;

Result<store::Outcome> ReadyTrial::run() { return run_->to_outcome(); }
bool ReadyTrial::has_run() const { return run_->has_run(); }

Result<std::vector<store::Outcome>> ReadyTrial::run_all(std::vector<ReadyTrial>& trials) {
  if (trials.size() > 1) return run_together(trials);
  STAB_TRY(store::Outcome outcome, trials.front().run());
  return std::vector{std::move(outcome)};
}

Result<store::Outcome> run_trial(const Laboratory& laboratory, const TrialRequest& request) {
  return ReadyTrial(laboratory, request).run();
}

}  // namespace stab::engine
