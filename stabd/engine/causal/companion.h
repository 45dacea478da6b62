// Companion: stab-causal beside a trial, the process that opens and closes its windows. As the submitter, in no tree of a
// trial's,
// as the worker.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/host/launch.h"
#include "stabd/host/process_tree.h"

namespace stab::engine {

class Companion {
 public:
  struct Setting {
    std::string launcher, program;
    std::optional<Submitter> submitter;
    int cpu = -1;
    ProcessTree* tree = nullptr;  // that it is none of
  };
  // The area is its standard input. It is there and waits for the program when this comes back.
  static Result<Companion> start(const Setting& setting, int area);
  Companion(Companion&& other) noexcept
      : launched_(std::exchange(other.launched_, std::nullopt)), error_(std::move(other.error_)), tree_(other.tree_) {}
  Companion& operator=(Companion&&) = delete;
  ~Companion();

  // After every process of the trial has ended. kUnavailable where it was ended before its last word, or hangs; then it is
  // killed.
  Status finish();

 private:
  Companion(Launched launched, UniqueFd error, ProcessTree* tree)
      : launched_(std::move(launched)), error_(std::move(error)), tree_(tree) {}
  Result<ProcessUsage> end();
  std::optional<Launched> launched_;
  UniqueFd error_;  // what it says of why it can't
  ProcessTree* tree_;
};

}  // namespace stab::engine
