// TrialGap: the moments between two trials, kept for browsers.
//
// Under [web] during_trials = "quiet" nothing is sent to a browser, and nothing that one asks is computed, while trials follow
// each other. Between two trials, every so often, the engine's thread opens a gap and waits until the loop has caught up: so
// what watching costs lengthens the time between trials, which nobody measures, and no trial. The wait is bounded: an answer
// that takes longer, a report of very many trials, goes on beside the next trial.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace stab::daemon {

class TrialGap {
 public:
  // So that people who ask without end take at most a fifth of the machine's time.
  static constexpr std::chrono::milliseconds kLongest{500}, kEvery{2000};

  // From the engine's thread. Trials follow each other from now on, or don't. That they do is known when an experiment's first
  // trial is over: before it come builds, during which there is nothing to disturb.
  void trials_begin();
  void trials_end();
  // Between two trials; `wake` has the loop look. Back when it has caught up, at the latest after kLongest; at once where nothing
  // waits or the last gap was less than kEvery ago.
  void between_trials(const std::function<void()>& wake);

  // From the loop. Whether what browsers want has to wait.
  bool closed() const;
  // Something waits, or nothing does: all that waited is done.
  void waits(bool something);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool trials_ = false, open_ = false, waits_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace stab::daemon
