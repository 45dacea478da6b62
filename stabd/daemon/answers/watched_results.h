// WatchedResults: what `watch` says of an experiment's recorded trials, computed once however many ask.
//
// It takes as long as there are trials, confidence sequences longer, and each page and each watcher asks for it. So it is kept
// until another trial is recorded; two who ask at once for the same get one answer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/daemon/events/blinding.h"
#include "store/store.h"

namespace stab::daemon {

struct Watched {
  std::string cells;             // as docs/reference/protocol.md has it, masked or not
  std::optional<double> widest;
  std::string verdicts;          // the same; empty: there are none
};

// As the trials stand now.
Result<Watched> watched_now(store::Store& store, const Blinding& blinding, const store::ExperimentSummary& row, bool masked);

// How an experiment's trials stand: where two of these are equal, the same is said of it.
std::string mark_of(const store::ExperimentSummary& row, const store::Progress& progress, bool masked);

// From any thread; of one database.
class WatchedResults {
 public:
  using Make = std::function<Result<Watched>()>;
  using Shared = std::shared_ptr<const Watched>;
  // Kept for all experiments together; what was asked for longest ago goes first.
  static constexpr size_t kMostBytes = 32u << 20, kMostExperiments = 256;

  // What `make` has said of this experiment with this mark, or says now. A failure is not kept.
  Result<Shared> of(store::Id experiment, const std::string& mark, const Make& make);

 private:
  struct One {
    std::mutex making;  // of the two below
    std::string mark;
    Shared what;
  };
  struct Known {
    std::shared_ptr<One> one;
    size_t bytes = 0;
    uint64_t asked = 0;  // by count
  };
  void drop_excess();  // pre: mutex_ is held
  std::mutex mutex_;   // of what follows; never held while something is made
  std::map<store::Id, Known> known_;
  uint64_t asked_ = 0;
};

}  // namespace stab::daemon
