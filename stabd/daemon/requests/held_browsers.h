// HeldBrowsers: what browsers may do while trials follow each other ([web] during_trials), and what they have asked for
// meanwhile.
#pragma once

#include <deque>
#include <utility>

#include "stabd/daemon/requests/request_queue.h"
#include "stabd/daemon/requests/trial_gap.h"
#include "stabd/daemon/settings/config.h"

namespace stab::daemon {

// The daemon's loop only.
class HeldBrowsers {
 public:
  // Else trials and browsers know nothing of each other. `gap` outlives it.
  void obey(DuringTrials rule, TrialGap& gap) { rule_ = rule, gap_ = &gap; }
  DuringTrials rule() const { return rule_; }

  bool trials_run() const { return gap_ != nullptr && gap_->closed(); }
  // Whether a browser is told now of what happens.
  bool are_told() const { return rule_ == DuringTrials::kLive || !trials_run(); }
  // Whether what one asks for is refused now, or waits for a gap.
  bool rest() const { return rule_ == DuringTrials::kOff && trials_run(); }
  bool wait() const { return rule_ == DuringTrials::kQuiet && trials_run(); }

  // pre: they wait
  void hold(WaitingRequest request);
  // All that was held. pre: they are told
  std::deque<WaitingRequest> take() { return std::exchange(held_, {}); }

  // Under "quiet" the engine waits in a gap until nothing else does. `something`: besides what is held
  void settle(bool something);
  // Something happened that they were not told of.
  void miss_something();

 private:
  DuringTrials rule_ = DuringTrials::kLive;
  TrialGap* gap_ = nullptr;
  std::deque<WaitingRequest> held_;
};

}  // namespace stab::daemon
