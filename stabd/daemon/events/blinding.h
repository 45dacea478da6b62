// Blinding: what may be told of an experiment's trials before its verdicts may. Verdicts are withheld until an experiment is
// over, since looking early makes false alarms (docs/explanation/verdicts.md, peeking); the time of each trial beside the
// name of its cell tells an eye the same.
//
// So until then cells go by names that say nothing, and times are told as logarithms plus a constant of their cell that
// nobody is told: how well each mean is known can be computed from them, which cell is faster can't. Whoever wants to know
// unmasks an experiment; its log keeps that, and its report says so.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "stabd/daemon/events/watch_events.h"
#include "stabd/engine/results/load_samples.h"
#include "store/store.h"

namespace stab::daemon {

// From any thread. Another secret with each daemon.
class Blinding {
 public:
  Blinding();
  explicit Blinding(uint64_t secret) : secret_(secret) {}

  // "cell 3fa92c01"
  std::string mask(store::Id experiment, const std::string& cell) const;
  // To be added to the logarithms of all times of this cell of this subject; from -2 to 2.
  double shift(store::Id experiment, const std::string& subject, const std::string& cell) const;

  // Both of them masked. A trial that gave no value keeps its cell's name, which compares nothing.
  ToldTrial masked(store::Id experiment, engine::TrialNews news) const;
  engine::Precision masked(store::Id experiment, const engine::Precision& precision) const;

  void unmask(store::Id experiment);
  // Whether somebody has; asks the store where this daemon does not know.
  Result<bool> is_unmasked(store::Store& store, store::Id experiment);
  bool is_known_unmasked(store::Id experiment) const;

 private:
  uint64_t secret_;
  mutable std::mutex mutex_;  // of what follows
  std::set<store::Id> unmasked_;
};

}  // namespace stab::daemon
