// Whether a trial that has ended did what its plan expects: how it ended, its limits, its output, what a simulator or the program
// itself measured, its dose, and whether its end was seen in time.
#include "stabd/engine/trial/live_trial.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "stabd/engine/separation/process_end.h"
#include "stabd/engine/trial/expectation.h"
#include "stabd/engine/trial/simulated.h"
#include "stabd/engine/trial/throughput.h"
#include "stabd/engine/trial/trial_metrics.h"

namespace stab::engine {

using store::TrialEvent;

namespace {

int64_t size_of(int fd) {
  struct stat info;
  return ::fstat(fd, &info) == 0 ? static_cast<int64_t>(info.st_size) : 0;
}

}  // namespace

Result<TrialEvent> LiveTrial::check() {
  if (helper_given_up_.count() > 0) {
    outcome_.failure = "its helper lived and sent no whole layout report for " + std::to_string(helper_given_up_.count()) + " ms";
    return TrialEvent::kCutOff;
  }
  if (helper_signal_ != 0) {
    outcome_.failure = "its helper was ended by signal " + std::to_string(helper_signal_) + " (" +
                       ::sigdescr_np(helper_signal_) + ") before it reported";
    if (helper_signal_ == SIGKILL) outcome_.failure += machine_kills_;
    return TrialEvent::kCutOff;
  }
  if (hits_.outside_kills > 0 && lab_.limits.trials.memory_bytes > 0) {
    outcome_.failure = outside_kill_text();
    return TrialEvent::kCutOff;
  }
  outcome_.stdout_bytes = size_of(output_.out.get());
  outcome_.stderr_bytes = size_of(output_.err.get());
  const int64_t limit = static_cast<int64_t>(request_.output_limit_bytes);
  Result<std::string> failure = hits_.memory_kills > 0 ? limits_text() : std::string();
  if (failure->empty() && limit > 0 && std::max(*outcome_.stdout_bytes, *outcome_.stderr_bytes) > limit)
    failure = overflow_text();
  if (failure->empty()) failure = hash_and_compare();
  if (!failure) {
    if (!says_nothing(failure.error())) return failure.error();
    outcome_.failure = failure.error().message;
    return TrialEvent::kCutOff;
  }
  if (failure->empty() && causal_lost_) {
    outcome_.failure = causal_failure_;
    return TrialEvent::kCutOff;
  }
  if (failure->empty()) failure = causal_failure_;
  if (request_.for_comparison && failure->empty()) return TrialEvent::kAccepted;
  if (failure->empty()) failure = dose_failure_;
  if (failure->empty()) failure = dose_contradiction(request_.layout, dose_);
  if (failure->empty()) failure = script_contradiction(request_.script, dose_);
  if (failure->empty() && request_.needs_region) failure = region_missing(dose_);
  if (failure->empty()) failure = points_missing(request_.throughputs, dose_);
  if (failure->empty() && request_.keeps_throughput) add_throughputs(request_.throughputs, *dose_, outcome_);
  if (failure->empty() && is_too_late(seen_late_, end_raw_ - start_.raw)) return without_time();
  if (failure->empty()) return TrialEvent::kAccepted;
  outcome_.failure = *std::move(failure);
  if (request_.simulation.on() && outcome_.signal) outcome_.failure += why_ended_by(*outcome_.signal);
  // Where its tree is not bounded, that is all there is to say why.
  if (outcome_.signal == SIGKILL && hits_ == host::LimitHits()) outcome_.failure += machine_kills_;
  if (hits_.memory_kills == 0 && hits_.refused_processes > 0) outcome_.failure += "; " + limits_text();
  return TrialEvent::kRejected;
}

TrialEvent LiveTrial::without_time() {
  outcome_.wall_ns.reset();
  outcome_.failure =
      "its end was seen up to " + std::to_string(seen_late_.count() / 1'000'000) +
      " ms late, so how long it took is not known: the laboratory was stopped (Ctrl-Z, SIGSTOP) or had no processor";
  return TrialEvent::kCutOff;
}

std::string LiveTrial::limits_text() const {
  if (hits_.memory_kills > 0) return memory_kill_text(lab_.limits);
  if (hits_.outside_kills > 0) return outside_kill_text();
  return refused_processes_text(hits_, lab_.limits);
}

std::string LiveTrial::overflow_text() const {
  return "more than " + std::to_string(request_.output_limit_bytes) +
         " bytes of output, killed; output_limit of the program raises this";
}

Result<std::string> LiveTrial::hash_and_compare() {
  for (const auto& [fd, bytes, sha256] : {std::tuple{output_.out.get(), *outcome_.stdout_bytes, &outcome_.stdout_sha256},
                                          std::tuple{output_.err.get(), *outcome_.stderr_bytes, &outcome_.stderr_sha256}}) {
    Result<std::string> hash = hash_of_output(fd, bytes, lab_.worker);
    if (!hash && says_nothing(hash.error())) return hash.error();
    if (!hash) return "output: " + hash.error().message;
    *sha256 = *std::move(hash);
  }
  const ProcessEnd end{outcome_.exit_status,   outcome_.signal,        output_.out.get(),      outcome_.stdout_sha256,
                       outcome_.stderr_sha256, *outcome_.stdout_bytes, *outcome_.stderr_bytes, request_.launch.directory};
  STAB_TRY(std::string found, contradiction(request_.expect, end, request_.first_stdout_sha256, lab_.worker));
  if (found.empty() && request_.simulation.on())
    return add_simulated(request_.simulation, request_.simulated_directory, program_, lab_.worker, outcome_.responses);
  if (!found.empty() || !request_.metrics || request_.for_comparison) return found;
  return add_metrics(*request_.metrics, request_.launch.directory, output_.out.get(), lab_.worker, outcome_.responses);
}

}  // namespace stab::engine
