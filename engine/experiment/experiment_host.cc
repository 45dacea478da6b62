// What an experiment asks of the machine: its knobs, a cpuset for its trials, what it requires, and gates that say when a
// trial may begin. The knobs themselves are in host/.
#include "engine/experiment/experiment_run.h"

#include <poll.h>

#include <algorithm>

#include "counters/session.h"
#include "broker/wire/client.h"
#include "engine/experiment/gate_open.h"
#include "engine/machine/facts.h"
#include "engine/machine/gates.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;

// Between two looks at a closed gate: load averages move no faster, and a look is work for the machine.
constexpr milliseconds kLookAgain{5000};

}  // namespace

Status ExperimentRun::tune() {
  std::map<std::string, std::string> facts = host_facts(engine_->options().roots);
  facts["boot_id"] = boot_id_;
  facts["placement"] = lab_.placement.why;
  broker::Client* broker = engine_->options().broker.get();
  // Before anything is turned: we may be in another cgroup afterwards.
  const Result<Isolation> isolation = isolation_of(engine_->options().roots, lab_.placement);
  knobs_ = std::make_unique<TurnedKnobs>(engine_->options().roots, engine_->options().knob_journal, boot_id_, broker);
  for (const auto& [knob, word] : expanded_->plan.machine.knobs) {
    STAB_TRY(const std::string why_not, knobs_->turn(knob, word, lab_.placement));
    facts["knob." + knob] = word;
    if (!why_not.empty()) refused_knobs_[knob] = why_not;
  }
  const bool isolated = facts.count("knob.cpuset") && !refused_knobs_.count("cpuset");
  if (isolated && broker != nullptr)
    STAB_CHECK_OK(hold_trials_in(ProcessTree::create_at(*broker, true, lab_.placement.housekeeping_cpu, true,
                                                            why_shared_ipc_.empty())));
  if (isolated && broker == nullptr && isolation) STAB_CHECK_OK(enter(*isolation));
  for (const auto& [knob, why] : refused_knobs_) {
    facts["knob." + knob] = "not set: " + why;
    observer_->note("knob " + knob + " is not set: " + why);
  }
  STAB_CHECK_OK(say_limits(facts));
  STAB_CHECK_OK(say_ipc(facts));
  return store_->put_host_facts(row_.id, facts);
}

// Before anything is built for it.
Result<bool> ExperimentRun::check_limits() {
  const Status within = check_within(expanded_->plan.limits, engine_->options().limits.most);
  const std::string why_not = within ? why_not_limited(lab_.limits) : within.error().message;
  if (why_not.empty()) return true;
  STAB_CHECK_OK(reject(why_not));
  return false;
}

// Recorded with every experiment. Who has configured limits that don't hold is told as well.
Status ExperimentRun::say_limits(std::map<std::string, std::string>& facts) {
  const TrialLimits& limits = lab_.limits;
  facts["limit.memory"] = memory_limit_text(limits);
  facts["limit.processes"] = process_limit_text(limits);
  for (const auto& [what, why] : {std::pair("memory", &limits.no_memory), std::pair("processes", &limits.no_processes)}) {
    if (why->empty()) continue;
    const std::string text = std::string("the limit of a trial's ") + what + " is not set: " + *why;
    STAB_CHECK_OK(log("limits", text));
    if (engine_->options().limits.is_named) observer_->note(text);
  }
  return {};
}

std::string ExperimentRun::why_ipc_is_shared() const {
  return why_shared_ipc_.empty() ? tree_->why_ipc_is_shared() : why_shared_ipc_;
}

// What a trial leaves there is found by the next one, or not.
Status ExperimentRun::say_ipc(std::map<std::string, std::string>& facts) {
  const std::string why = why_ipc_is_shared();
  facts["ipc"] = why.empty() ? "private" : "shared: " + why;
  if (why.empty() || !expanded_->plan.machine.private_ipc) return {};
  return log("ipc", "trials share System V objects, POSIX queues and /dev/shm with the machine: " + why);
}

Status ExperimentRun::enter(const Isolation& isolation) {
  if (isolation.parent_of_trials.empty()) {
    lab_.isolated_procs = isolation.procs_file;
    return {};
  }
  return hold_trials_in(ProcessTree::create(engine_->options().roots, TreeKind::kCgroup2, isolation.parent_of_trials));
}

Status ExperimentRun::hold_trials_in(Result<ProcessTree> tree) {
  if (!tree && tree.error().code != ErrorCode::kUnavailable) return tree.error();
  if (!tree || (engine_->options().broker == nullptr && tree->kind() != TreeKind::kCgroup2)) {
    refused_knobs_["cpuset"] = tree ? "no group can be made below the isolated one" : tree.error().message;
    return {};
  }
  first_tree_ = std::move(tree_);
  tree_ = std::make_unique<ProcessTree>(*std::move(tree));
  lab_.tree = tree_.get();
  lab_.limits = settle_limits(expanded_->plan.limits, engine_->options().limits.most, *tree_);
  return {};
}

Status ExperimentRun::check_requirements() {
  // Of the group that trials run in now.
  if (const std::string why_not = why_not_limited(lab_.limits); !why_not.empty())
    return Error{ErrorCode::kUnavailable, why_not, {}};
  for (const std::string& need : expanded_->plan.machine.require) {
    if (need == "affinity" && lab_.placement.trial_cpu >= 0) continue;
    if (need == "private-ipc") {
      if (const std::string why = why_ipc_is_shared(); !why.empty())
        return Error{ErrorCode::kUnavailable, "the plan requires private-ipc, and trials share the machine's: " + why, {}};
      continue;
    }
    if (need == "counters") {
      for (const auto& pass : setup_->passes())
        for (const counters::EventSpec& spec : pass) {
          const std::string why_not = counters::why_unavailable(spec, *lab_.perf);
          if (!why_not.empty()) return Error{ErrorCode::kUnavailable, "the plan requires counters; " + why_not, {}};
        }
      continue;
    }
    const std::string knob = plan::knob_of_requirement(need);
    const bool asked_for = expanded_->plan.machine.knobs.count(knob) > 0;
    if (asked_for && refused_knobs_.count(knob) == 0) continue;
    if (asked_for)
      return Error{ErrorCode::kUnavailable, "the plan requires knob " + knob + ": " + refused_knobs_[knob], {}};
    return Error{ErrorCode::kUnavailable,
                 "the plan requires '" + need + "', which this machine does not give; see 'stabctl doctor'", {}};
  }
  return {};
}

Result<bool> ExperimentRun::wait_for_gates() {
  const plan::Gates& gates = expanded_->plan.machine.gates;
  if (!has_gates(gates)) return true;
  const auto& options = engine_->options();
  const auto start = options.clock->monotonic_raw();
  std::string told;
  for (;;) {
    const std::string why = closed_gate(gates, look_at_gates(options.roots, options.clock->realtime()));
    if (why.empty()) return true;
    if (told.empty()) observer_->note("waiting: " + why);
    told = why;
    if (gates.deadline.count() > 0 && options.clock->monotonic_raw() - start > gates.deadline) {
      const std::string text = "gave up waiting: " + why;
      observer_->note(text);
      STAB_CHECK_OK(log("gate", text));
      return false;
    }
    const auto left = start + gates.deadline - options.clock->monotonic_raw();
    const auto look_again =
        std::clamp(std::chrono::duration_cast<milliseconds>(left) + milliseconds(1), milliseconds(1), kLookAgain);
    const GateOpen open(engine_->gate());
    pollfd stop{stop_->now_fd(), POLLIN, 0};
    ::poll(&stop, 1, static_cast<int>(look_again.count()));
    if (stop_->asked()) return false;
  }
}

}  // namespace stab::engine
