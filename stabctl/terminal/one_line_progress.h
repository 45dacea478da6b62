// OneLineProgress: a run on one line of a terminal that rewrites itself; nothing where standard error is none.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "stabd/engine/experiment/engine.h"

namespace stab::ctl {

class OneLineProgress final : public engine::Observer {
 public:
  // `most`: how long it may take all together, since `start`.
  OneLineProgress(bool quiet, const Clock& clock, std::chrono::nanoseconds start, std::chrono::nanoseconds most);
  void phase(std::string_view text) override;
  void note(std::string_view) override {}  // what matters of them is in the answer
  void trial_done(const engine::TrialNews& news) override;
  // Clears the line.
  void finish();

  // Why the last trial that did not pass failed; empty: none did.
  const std::string& failure() const { return failure_; }

 private:
  void show(const std::string& what);
  bool is_shown_;  // on a terminal
  const Clock* clock_;
  std::chrono::nanoseconds start_, most_, last_{0};
  std::string failure_;
};

}  // namespace stab::ctl
