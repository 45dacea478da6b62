// Progress: what a run shows while it goes on. A bar that rewrites itself on a terminal, a line now and then
// elsewhere.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "stabd/engine/experiment/engine.h"
#include "stabd/engine/results/precision.h"

namespace stab::ctl {

enum class ProgressStyle { kBar, kLines, kQuiet };

// What a command has shown. One that runs its experiments in several goes, as explain does from look to look, shows each note
// once, and each step of an experiment once.
struct ToldNotes {
  std::set<std::string, std::less<>> notes;
  std::set<std::string, std::less<>> phases;  // of this experiment; the next one's may have the same words
};
// The error without the note that it begins or ends with, such as what a build has printed.
Error without_told(Error error, const ToldNotes& told);

// Trials done, trials a second and the time left, over what this run has seen itself.
class Pace {
 public:
  explicit Pace(const Clock& clock) : clock_(&clock) {}
  void trial_done(int64_t done, int64_t planned);
  double per_second() const;
  // Nothing while one trial is all that was seen: it has no pace.
  std::optional<std::chrono::seconds> left() const;
  int64_t done() const { return done_; }
  int64_t planned() const { return planned_; }

 private:
  const Clock* clock_;
  std::chrono::nanoseconds start_{0};
  int64_t first_ = -1, done_ = 0, planned_ = 0;
};

// "[#####-----] 120/240  3.1/s  0:00:38 left  ±0.8%  lua/fib code=shuffle", at most `width` characters. `widest` is the
// half width of the cell whose mean is known least. What isn't known yet is not there.
std::string progress_bar(const Pace& pace, std::optional<double> widest, const std::string& what, int width);

// Shows an engine's run on stderr.
class ProgressDisplay final : public engine::Observer {
 public:
  ProgressDisplay(ProgressStyle style, const Clock& clock, ToldNotes* told = nullptr)
      : style_(style), clock_(&clock), told_(told), pace_(clock) {}
  void phase(std::string_view text) override;
  void note(std::string_view text) override;
  void trial_done(const engine::TrialNews& news) override;
  void trial_progress(const engine::ProgressNews& news) override;
  // Cells as they were before this display began.
  void begin_with(engine::Precision precision) { precision_ = std::move(precision); }
  // Ends the bar's line.
  void finish();

 private:
  void show_note(std::string_view text);
  void show_bar(const std::string& what);
  void clear_bar();
  ProgressStyle style_;
  const Clock* clock_;
  ToldNotes* told_;  // absent: all is shown
  Pace pace_;
  engine::Precision precision_;
  bool bar_shown_ = false;
  std::chrono::nanoseconds last_shown_{0};
};

}  // namespace stab::ctl
