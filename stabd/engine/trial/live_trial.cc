// Carries out the actions that the trial machine asks for, and tells it what happened.
//
// Order of a trial, the same in every cell: helper, launcher, counters on its pid as soon as that is known, "ready", the ledger's
// first look, go; then one blocking wait; end stamp, tree kill, wait4, counters, ledger, dose, output. Nothing here touches the
// store: the outcome is handed back when the machine says kStore. Helper and launcher may be started earlier than the rest
// (ReadyTrial): they don't need the engine until they are ready.
//
// The waiter is stabd/engine/separation/supervise.cc, the kill the broker's (stabd/host/process_tree.cc), the decisions
// store/trial_machine.cc.
#include "stabd/engine/trial/live_trial.h"

#include <unistd.h>

#include <utility>

#include "stabd/engine/separation/process_end.h"
#include "stabd/engine/separation/supervise.h"
#include "stabd/engine/trial/trial_inputs.h"

namespace stab::engine {

using store::TrialAction;
using store::TrialEvent;
using store::TrialStep;

LiveTrial::LiveTrial(const Laboratory& laboratory, TrialRequest request)
    : lab_(laboratory), request_(std::move(request)), begun_(begin()) {}

Result<store::Outcome> LiveTrial::to_outcome() {
  STAB_CHECK_OK(go_on());
  return take_outcome();
}

Status LiveTrial::raise(TrialEvent event) {
  const TrialStep next = step(now_.state, event);
  if (!next.legal)
    return Error{ErrorCode::kInternal,
                 "trial machine: '" + std::string(name(event)) + "' in state " + std::string(name(now_.state)), {}};
  now_ = next;
  return {};
}

Status LiveTrial::go_on(bool check_now) {
  while (!has(now_.actions, TrialAction::kStore) && !(has(now_.actions, TrialAction::kCheck) && !check_now)) {
    STAB_TRY(const TrialEvent event, perform(now_.actions));
    STAB_CHECK_OK(raise(event));
  }
  return {};
}

std::optional<TrialEvent> LiveTrial::get_set() {
  outcome_.cpu = lab_.placement.trial_cpu;
  if (begun_) begun_ = launched_->wait_until_ready();
  if (!begun_) {
    launched_.reset();
    return not_launched(begun_.error());
  }
  before_ = lab_.ledger->look();
  if (const auto scheduled = scheduled_time_of(lab_.roots, launched_->pid())) launcher_delay_ns_ = scheduled->run_delay_ns;
  (void)lab_.ledger->new_kernel_log_lines();
  outcome_.started_at_ns = lab_.clock->realtime().count();
  return {};
}

std::optional<TrialEvent> LiveTrial::send_go() {
  const Status sent = launched_->send_go();
  return sent ? std::nullopt : std::optional(not_launched(sent.error()));
}

TrialEvent LiveTrial::see_exec() {
  const auto stamp = launched_->wait_for_exec();
  if (!stamp) return not_launched(stamp.error());
  start_ = *stamp;
  has_run_ = true;
  program_ = launched_->pid();
  return TrialEvent::kLaunched;
}

Watch LiveTrial::watch(size_t at_once) {
  Watch watch{launched_->pidfd(), request_.timeout * at_once, lab_.cancel_fd,
              {output_.out.get(), output_.err.get()}, request_.output_limit_bytes, {}};
  watch.began = start_.raw;
  if (at_once > 1) {
    watch.pid = launched_->pid();
    watch.cpu_timeout = request_.timeout;
  }
  if (helper_ && request_.on_progress)
    watch.now_and_then = [this] {
      if (const auto points = helper_->progress()) request_.on_progress(*points);
    };
  return watch;
}

TrialEvent LiveTrial::see_end(const Ending& ending) {
  end_raw_ = ending.raw;
  // CPU time is the kernel's, and no later for a waiter that is.
  if (ending.event == TrialEvent::kExited && !in_company_) seen_late_ = ending.late;
  if (ending.latency) outcome_.ledger["loop_latency_ns"] = static_cast<double>(ending.latency->count());
  switch (ending.event) {
    case TrialEvent::kDeadline: outcome_.failure = "still running at its timeout, killed"; break;
    case TrialEvent::kOverflow: outcome_.failure = overflow_text(); break;
    case TrialEvent::kCancel: outcome_.failure = "cancelled while it ran"; break;
    default: break;
  }
  return ending.event;
}

Status LiveTrial::spoil(const std::string& why) {
  outcome_.failure = why;
  return raise(TrialEvent::kSpoiled);
}

Result<TrialEvent> LiveTrial::perform(TrialAction actions) {
  if (has(actions, TrialAction::kLaunch)) return launch();
  if (has(actions, TrialAction::kWait)) return wait();
  if (has(actions, TrialAction::kStampEnd)) outcome_.wall_ns = (end_raw_ - start_.raw).count();
  if (has(actions, TrialAction::kKillTree)) return kill_tree();
  if (has(actions, TrialAction::kCheck)) return check();
  return Error{ErrorCode::kInternal, "trial machine: nothing to do", {}};
}

Result<TrialEvent> LiveTrial::launch() {
  if (const auto failed = get_set()) return *failed;
  if (const auto failed = send_go()) return *failed;
  return see_exec();
}

void LiveTrial::open_counters() {
  counters_ = counters::Session::open(
      launched_->pid(), request_.events, -1, *lab_.perf,
      request_.events_together ? counters::Grouping::kTogether : counters::Grouping::kAlone);
}

TrialEvent LiveTrial::not_launched(const Error& error) {
  outcome_.failure = error.message + lab_.ledger->memory_kills_since_look();
  if (error.code == ErrorCode::kCorrupt) outcome_.failure = "'" + request_.launch.exec_path + "': " + outcome_.failure;
  return says_nothing(error) ? TrialEvent::kCutOff : TrialEvent::kLaunchFailed;
}

Status LiveTrial::begin() {
  STAB_TRY(output_.out, memory_file("stab-stdout"));
  STAB_TRY(output_.err, memory_file("stab-stderr"));
  STAB_TRY(const UniqueFd in, open_input(lab_.worker, request_.stdin_paths));

  host::LaunchDescriptors descriptors{in.get(), output_.out.get(), output_.err.get(), -1, -1};
  LaunchOrder order{request_.launch, lab_.tree, lab_.limits.trials, {}};
  UniqueFd script;
  if (lab_.with_helper) order.helper = {lab_.placement.housekeeping_cpu, -1, request_.helper_switches};
  if (lab_.with_helper && !request_.script.empty()) {
    STAB_TRY(script, script_file(request_));
    order.helper->script = script.get();
  }
  if (request_.causal) {
    STAB_CHECK_OK(begin_causal());
    descriptors.report = area_->fd();
  }
  order.program.cpu = lab_.placement.trial_cpu;
  order.program.env = full_environment(request_, lab_.placement.housekeeping_cpu, lab_.with_helper);
  broker::Client& broker = lab_.tree->broker();
  STAB_TRY(LaunchedAtBroker launched, LaunchedAtBroker::begin(broker, order, descriptors));
  launched_.emplace(std::move(launched));
  if (order.helper) helper_.emplace(broker, launched_->helper_pid(), launched_->take_helper_report());
  open_counters();
  return {};
}

Status LiveTrial::begin_causal() {
  STAB_TRY(AreaFile area, AreaFile::create(request_.causal->script));
  area_.emplace(std::move(area));
  if (::access(request_.causal->library.c_str(), R_OK) != 0)
    return Error{ErrorCode::kUnavailable, "'" + request_.causal->library + "' is missing; build or install all of stab", {}};
  STAB_TRY(Companion companion,
           Companion::start({started_by(lab_.tree->broker()), request_.causal->companion, request_.launch.submitter,
                             lab_.placement.housekeeping_cpu}, area_->fd()));
  companion_.emplace(std::move(companion));
  return {};
}

Result<TrialEvent> LiveTrial::wait() {
  STAB_TRY(const Ending ending, wait_for_ending(watch(1), *lab_.clock));
  return see_end(ending);
}

}  // namespace stab::engine
