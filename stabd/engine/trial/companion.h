// Companion: stab-causal beside a trial, the process that opens and closes its windows. As the submitter, in no tree of a
// trial's, as the worker.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/separation/own_process.h"

namespace stab::engine {

class Companion {
 public:
  struct Setting {
    StartProcess start;
    std::string program;
    std::optional<host::Submitter> submitter;
    int cpu = -1;
  };
  // The area is its standard input. It is there and waits for the program when this comes back.
  static Result<Companion> start(const Setting& setting, int area);
  Companion(Companion&& other) noexcept = default;
  Companion& operator=(Companion&&) = delete;
  ~Companion();

  // After every process of the trial has ended. kUnavailable where it was ended before its last word, or hangs; then it is
  // killed.
  Status finish();

 private:
  Companion(std::unique_ptr<OwnProcess> process, UniqueFd error) : process_(std::move(process)), error_(std::move(error)) {}
  Result<host::ProcessUsage> end();
  std::unique_ptr<OwnProcess> process_;
  UniqueFd error_;  // what it says of why it can't
};

}  // namespace stab::engine
