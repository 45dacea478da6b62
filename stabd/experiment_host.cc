// What an experiment asks of the machine: its knobs, a cpuset for its trials, what it requires, and gates that say when a
// trial may begin. The knobs themselves are in host/.
#include "stabd/experiment_run.h"

#include <poll.h>

#include <algorithm>

#include "counters/session.h"
#include "stabd/gate_open.h"
#include "stabd/host/facts.h"
#include "stabd/host/gates.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;

// Between two looks at a closed gate: load averages move no faster, and a look is work for the machine.
constexpr milliseconds kLookAgain{5000};

}  // namespace

Status ExperimentRun::tune() {
  std::vector<KnobWrite> writes;
  std::map<std::string, std::string> facts = host_facts(engine_->options().roots);
  facts["boot_id"] = boot_id_;
  facts["placement"] = lab_.placement.why;
  // Before anything is turned: we may be in another cgroup afterwards.
  const Result<Isolation> isolation = isolation_of(engine_->options().roots, lab_.placement);
  for (const auto& [knob, word] : expanded_->plan.machine.knobs) {
    const auto wanted = writes_of(knob, word, engine_->options().roots, lab_.placement);
    if (!wanted && wanted.error().code == ErrorCode::kBadInput) return wanted.error();
    if (!wanted) {
      refused_knobs_[knob] = wanted.error().message;
      continue;
    }
    facts["knob." + knob] = word;
    writes.insert(writes.end(), wanted->begin(), wanted->end());
  }
  if (!writes.empty()) {
    auto tuning = Tuning::begin(engine_->options().roots, engine_->options().knob_journal, boot_id_);
    if (!tuning && tuning.error().code == ErrorCode::kBusy) return tuning.error();
    if (!tuning) {
      for (const KnobWrite& write : writes) refused_knobs_[write.knob] = tuning.error().message;
    } else {
      tuning_ = std::make_unique<Tuning>(std::move(*tuning));
      STAB_TRY(const std::vector<KnobOutcome> outcomes, tuning_->apply(writes));
      for (const KnobOutcome& outcome : outcomes) {
        if (outcome.refused.empty() || outcome.write.may_refuse) continue;
        refused_knobs_[outcome.write.knob] = outcome.write.path + ": " + outcome.refused;
      }
    }
  }
  if (isolation && facts.count("knob.cpuset") && !refused_knobs_.count("cpuset")) STAB_CHECK_OK(enter(*isolation));
  for (const auto& [knob, why] : refused_knobs_) {
    facts["knob." + knob] = "not set: " + why;
    observer_->note("knob " + knob + " is not set: " + why);
  }
  return store_->put_host_facts(row_.id, facts);
}

Status ExperimentRun::enter(const Isolation& isolation) {
  if (isolation.parent_of_trials.empty()) {
    lab_.isolated_procs = isolation.procs_file;
    return {};
  }
  STAB_TRY(ProcessTree tree, ProcessTree::create(engine_->options().roots, TreeKind::kCgroup2, isolation.parent_of_trials));
  if (tree.kind() != TreeKind::kCgroup2) {
    refused_knobs_["cpuset"] = "no group can be made below '" + isolation.parent_of_trials + "'";
    return {};
  }
  tree_ = std::make_unique<ProcessTree>(std::move(tree));
  lab_.tree = tree_.get();
  return {};
}

Status ExperimentRun::check_requirements() {
  for (const std::string& need : expanded_->plan.machine.require) {
    if (need == "affinity" && lab_.placement.trial_cpu >= 0) continue;
    if (need == "counters") {
      for (const auto& pass : setup_->passes())
        for (const counters::EventSpec& spec : pass) {
          const std::string why_not = counters::why_unavailable(spec);
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
    const auto look_again = std::clamp(std::chrono::duration_cast<milliseconds>(left) + milliseconds(1), milliseconds(1), kLookAgain);
    const GateOpen open(engine_->gate());
    pollfd stop{stop_->now_fd(), POLLIN, 0};
    ::poll(&stop, 1, static_cast<int>(look_again.count()));
    if (stop_->asked()) return false;
  }
}

}  // namespace stab::engine
