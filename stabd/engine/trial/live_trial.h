// LiveTrial: one trial on its way through the trial machine (store/trial_machine.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "counters/counting_session.h"
#include "stabd/engine/build/laboratory.h"
#include "stabd/engine/separation/helper_at_broker.h"
#include "stabd/engine/separation/launched_at_broker.h"
#include "stabd/engine/separation/supervise.h"
#include "stabd/engine/trial/area_file.h"
#include "stabd/engine/trial/causal_outcome.h"
#include "stabd/engine/trial/companion.h"
#include "stabd/engine/trial/dose.h"
#include "stabd/engine/trial/epoch_series.h"
#include "stabd/engine/trial/trial_run.h"
#include "store/records.h"
#include "store/trial_machine.h"

namespace stab::engine {

class LiveTrial {
 public:
  // Has helper and launcher started. `laboratory` outlives this.
  LiveTrial(const Laboratory& laboratory, TrialRequest request);

  bool has_run() const { return has_run_; }

  Result<store::Outcome> to_outcome();

  // --- the steps of a block, in which others take theirs in between; the table says what follows from each ---------------

  store::TrialState state() const { return now_.state; }
  // Something happened to it.
  Status raise(store::TrialEvent event);
  // Does what the table asks for and tells it what came of that, until there is an outcome, or something else has to happen: a
  // trial that runs, and one whose check is put off.
  Status go_on(bool check_now = true);
  // Up to where it waits for go. Nothing: it does; else what happened instead.
  std::optional<store::TrialEvent> get_set();
  // Nothing: sent.
  std::optional<store::TrialEvent> send_go();
  store::TrialEvent see_exec();
  // pre: launched. Of so many that share the CPU each may take its timeout of CPU time, and of wall time as many times more.
  Watch watch(size_t at_once);
  store::TrialEvent see_end(const Ending& ending);
  // Another one has come to nothing, and why.
  Status spoil(const std::string& why);
  // Others that this process has to wait for run beside it.
  void come_into_company() { in_company_ = true; }
  const std::string& failure() const { return outcome_.failure; }
  const Laboratory& lab() const { return lab_; }
  std::chrono::nanoseconds started() const { return start_.raw; }
  std::chrono::nanoseconds ended() const { return end_raw_; }
  // Of it and of its descendants that were waited for; absent: it did not run.
  std::optional<std::chrono::nanoseconds> cpu_time() const {
    if (!outcome_.user_ns || !outcome_.system_ns) return {};
    return std::chrono::nanoseconds(*outcome_.user_ns + *outcome_.system_ns);
  }
  int64_t switches() const { return outcome_.voluntary_switches.value_or(0) + outcome_.involuntary_switches.value_or(0); }
  void note(const char* key, double value) { outcome_.ledger[key] = value; }

  // pre: gone on to the end
  store::Outcome take_outcome();

 private:
  // live_trial.cc
  // Does the actions of one step and says what happened.
  Result<store::TrialEvent> perform(store::TrialAction actions);
  Result<store::TrialEvent> launch();
  // pre: it is known who becomes the program
  void open_counters();
  store::TrialEvent not_launched(const Error& error);
  // Has helper and launcher started; then: launched_ is set, or this has failed.
  Status begin();
  Status begin_causal();
  Result<store::TrialEvent> wait();

  // ended_trial.cc
  // Ends whatever is left of the program, then everything that was measured can be read.
  Result<store::TrialEvent> kill_tree();
  Status end_program();
  void read_counters();
  void finish_helper();
  // What was asked for, and the script without which layouts can't be computed again.
  void keep_epochs(std::string_view told);
  // pre: everything of the program has ended
  void finish_causal();

  // trial_check.cc
  // Sizes first: what is too long is not read.
  Result<store::TrialEvent> check();
  // It did what it should, and we were not there.
  store::TrialEvent without_time();
  // What it met of its limits; empty: nothing.
  std::string limits_text() const;
  std::string overflow_text() const;
  // Says what contradicts the plan; an Error only where the worker or the engine ended.
  Result<std::string> hash_and_compare();

  bool keeps_samples() const { return (request_.helper_switches & helper::kTellSamples) != 0; }

  const Laboratory& lab_;
  const TrialRequest request_;
  store::TrialStep now_ = step(store::TrialState::kPlanned, store::TrialEvent::kClaim);  // as the store did
  store::Outcome outcome_;
  struct {
    UniqueFd out, err;
  } output_;
  std::optional<HelperAtBroker> helper_;
  std::optional<LaunchedAtBroker> launched_;
  std::optional<counters::Session> counters_;
  HostMoment before_;
  std::optional<int64_t> launcher_delay_ns_;
  host::LaunchStamp start_;
  std::chrono::nanoseconds end_raw_{0};
  std::chrono::nanoseconds seen_late_{0};  // its exit
  bool has_run_ = false;
  bool in_company_ = false;
  pid_t program_ = -1;
  std::optional<AreaFile> area_;
  std::optional<Companion> companion_;
  std::string causal_failure_;
  bool causal_lost_ = false;  // for nothing that the program did
  std::optional<Dose> dose_;
  std::string dose_failure_;
  int helper_signal_ = 0;  // that ended the helper
  std::chrono::milliseconds helper_given_up_{0};
  host::LimitHits hits_;
  std::string machine_kills_;  // memory_kills_text() of the time that it ran
  Status begun_;  // what keeps it from running. Last: begin() fills the others
};

}  // namespace stab::engine
