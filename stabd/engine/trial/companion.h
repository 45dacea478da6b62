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
    std::optional<host::Submitter> submitter;
    int cpu = -1;
    host::ProcessTree* tree = nullptr;  // that it is none of
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
  Companion(host::Launched launched, UniqueFd error, host::ProcessTree* tree)
      : launched_(std::move(launched)), error_(std::move(error)), tree_(tree) {}
  Result<host::ProcessUsage> end();
  std::optional<host::Launched> launched_;
  UniqueFd error_;  // what it says of why it can't
  host::ProcessTree* tree_;
};

}  // namespace stab::engine
