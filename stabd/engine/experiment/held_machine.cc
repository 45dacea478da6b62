// What an experiment asks of the machine: CPUs, a tree for its processes, its knobs, a cpuset for its trials, what it requires,
// and gates that say when a trial may begin. The knobs themselves are in stabd/host/.
#include "stabd/engine/experiment/held_machine.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "counters/counting_session.h"
#include "plan/layout_need.h"
#include "stabd/broker/wire/client.h"
#include "stabd/engine/build/gate_open.h"
#include "stabd/engine/experiment/kept_names.h"
#include "stabd/engine/machine/claimed_place.h"
#include "stabd/engine/machine/facts.h"
#include "stabd/engine/machine/gates.h"
#include "stabd/engine/machine/topology.h"
#include "stabd/engine/separation/counters_at_broker.h"
#include "stabd/engine/separation/own_process.h"
#include "stabd/engine/separation/runs_as.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;

// Between two looks at a closed gate: load averages move no faster, and a look is work for the machine.
constexpr milliseconds kLookAgain{5000};
// Meanwhile others are served so often: soon enough for a person who waits for an answer, and for a daemon that is told to stop.
constexpr milliseconds kServeOthers{1000};

// Opened by the broker, which may; none where it may not either.
UniqueFd kernel_log_of(broker::Client& broker) {
  Result<broker::Reply> reply = broker.ask(broker::OpenKernelLog{});
  return reply && reply->descriptors.size() == 1 ? std::move(reply->descriptors[0]) : UniqueFd();
}

// Why trials have no /dev/shm of their own though the plan has nothing against it; empty: they may have one. It would hide what
// lies in the machine's, and is named.
std::string why_dev_shm_is_needed(const store::ExperimentRow& row, const Engine::Options& options) {
  constexpr std::string_view kSharedMemory = "/dev/shm";
  const auto is_in = [&](const std::string& text) { return text.find(kSharedMemory) != std::string::npos; };
  if (is_in(row.plan_text)) return "the plan names a file in /dev/shm";
  if (is_in(row.plan_directory)) return "the plan lies in /dev/shm";
  if (is_in(options.database)) return "the database lies in /dev/shm, and so do its builds";
  if (is_in(options.installation.launcher)) return "the installation lies in /dev/shm";
  return {};
}

// Kinds of log lines.
constexpr char kWorker[] = "worker";
constexpr char kSharedCpu[] = "shared-cpu";

// For what a trial has left in one directory, where its experiment is over: enough for some 100,000 files.
constexpr std::chrono::seconds kLeftoverLimit{30};
// The same where it was stopped: somebody waits for the end, a service manager for 90 s.
constexpr std::chrono::seconds kStoppedLimit{10};

}  // namespace

Result<std::unique_ptr<HeldMachine>> HeldMachine::take(LiveExperiment& experiment) {
  const Engine::Options& options = experiment.options();
  const plan::Plan& plan = experiment.plan();
  std::unique_ptr<HeldMachine> machine(new HeldMachine(experiment));
  machine->boot_id_ = stab::engine::boot_id(options.roots);
  STAB_TRY(const Topology topology, Topology::discover());
  // Simulated trials are counted, not timed: whoever runs beside them changes nothing.
  ClaimedPlace place;
  if (plan.counters.simulation.on()) {
    STAB_TRY(place.placement, stab::engine::place(topology, plan.machine.cpus, plan.machine.housekeeping));
  } else {
    STAB_TRY(place, claim_place(topology, plan.machine.cpus, plan.machine.housekeeping, options.roots));
  }
  if (!place.shared.empty()) STAB_CHECK_OK(experiment.note_and_log(kSharedCpu, place.shared));
  if (!place.shared.empty()) place.placement.why += "; another laboratory's trials run there, too";
  const host::Placement placement = place.placement;
  machine->claim_ = std::move(place.claim);
  machine->first_.lab.placement = placement;
  machine->why_shared_ipc_ = plan.machine.private_ipc ? why_dev_shm_is_needed(experiment.row(), options) : "the plan wants it so";
  machine->submitter_ =
      runs_as(options, static_cast<uid_t>(experiment.row().submitter_uid), static_cast<gid_t>(experiment.row().submitter_gid));
  STAB_CHECK_OK(machine->make_directories(machine->first_));
  STAB_TRY(TreeAtBroker tree, machine->make_tree(machine->first_, false));
  machine->first_.tree = std::make_unique<TreeAtBroker>(std::move(tree));
  machine->first_.ledger = std::make_unique<Ledger>(options.roots, placement.trial_cpu, kernel_log_of(*options.broker));
  STAB_CHECK_OK(machine->start_worker());
  machine->first_.lab = {options.roots,
                         placement,
                         !plan::what_needs_helper(plan).empty(),
                         options.clock,
                         machine->first_.tree.get(),
                         machine->first_.ledger.get(),
                         experiment.stop().now_fd(),
                         machine->worker_.get()};
  machine->first_.lab.limits = machine->limits_in(*machine->first_.tree);
  machine->perf_ = counters_at(*options.broker);
  machine->first_.lab.perf = machine->perf_.get();
  return machine;
}

// The worker empties the directories. One that was told to stop does nothing more, so there is another for that.
HeldMachine::~HeldMachine() {
  ends_ = true;
  const auto remove_directories = [](Enclosure& enclosure) {
    enclosure.temporary.reset();
    enclosure.scratch.reset();
  };
  for (const auto& other : others_) remove_directories(*other);
  remove_directories(first_);
}

Status HeldMachine::enclose(size_t trials) {
  const Engine::Options& options = experiment_->options();
  while (others_.size() + 1 < trials) {
    auto made = std::make_unique<Enclosure>();
    STAB_CHECK_OK(make_directories(*made));
    STAB_TRY(TreeAtBroker tree, make_tree(*made, is_isolated_));
    made->tree = std::make_unique<TreeAtBroker>(std::move(tree));
    made->ledger =
        std::make_unique<Ledger>(options.roots, first_.lab.placement.trial_cpu, kernel_log_of(*options.broker));
    made->lab = first_.lab;
    made->lab.tree = made->tree.get();
    made->lab.ledger = made->ledger.get();
    made->lab.limits = limits_in(*made->tree);
    others_.push_back(std::move(made));
  }
  return {};
}

// What killed engines have left is removed by a worker of its own, which has less time.
Status HeldMachine::start_worker() {
  const Engine::Options& options = experiment_->options();
  Worker::Setting setting{started_by(*options.broker), options.installation.worker, submitter_,
                          first_.lab.placement.housekeeping_cpu, experiment_->stop().now_fd(), {}};
  std::string stays;
  {
    const GateOpen open(experiment_->gate());
    worker_ = std::make_unique<Worker>(setting);
    STAB_CHECK_OK(worker_->start());
    setting.limit = kLeftoverLimit;
    Worker sweeps(setting);
    const unsigned uid = submitter_ ? submitter_->uid : ::geteuid();
    stays = remove_leftovers({"/tmp", "/var/tmp"}, uid, [&](const std::string& path) -> Status {
      const auto emptied = sweeps.ask(worker::Empty{path});
      return emptied ? Status() : Status(emptied.error());
    });
  }
  return stays.empty() ? Status() : experiment_->log("leftovers", stays);
}

// What takes too long stays for who starts next, and so do those behind it.
Status HeldMachine::empty_at_last(const std::string& path) {
  const Engine::Options& options = experiment_->options();
  if (!last_worker_)
    last_worker_ = std::make_unique<Worker>(Worker::Setting{.start = started_by(*options.broker),
                                                            .program = options.installation.worker,
                                                            .submitter = submitter_,
                                                            .cpu = first_.lab.placement.housekeeping_cpu,
                                                            .limit = kStoppedLimit});
  if (!empties_at_last_) return empties_at_last_;
  const auto emptied = last_worker_->ask(worker::Empty{path});
  if (!emptied && emptied.error().code != ErrorCode::kDenied) empties_at_last_ = emptied.error();
  return emptied ? Status() : Status(emptied.error());
}

// As the broker's machine gives it, or below the isolated group.
Result<TreeAtBroker> HeldMachine::make_tree(const Enclosure& enclosure, bool isolated) const {
  return TreeAtBroker::create(*experiment_->options().broker,
                              {.isolated = isolated,
                               .own_cpu = first_.lab.placement.housekeeping_cpu,
                               .limited = true,
                               .private_ipc = why_shared_ipc_.empty(),
                               .tmp = enclosure.temporary ? &enclosure.temporary->names() : nullptr});
}

TrialLimits HeldMachine::limits_in(const TreeAtBroker& tree) const {
  return settle_limits(experiment_->plan().limits, experiment_->options().limits.most, tree.why_no_memory_limit(),
                       tree.why_no_process_limit());
}

// Below /tmp, before there is a tree, whose /tmp shows the trial's directory and another's in place of the rest.
Status HeldMachine::make_directories(Enclosure& enclosure) {
  const Engine::Options& options = experiment_->options();
  const GateOpen open(experiment_->gate());
  // Asked when there is something to empty, or in the end.
  const auto empty = [this](const std::string& path) -> Status {
    if (last_worker_) return empty_at_last(path);
    if (!worker_) return Error{ErrorCode::kDenied, "no worker to empty '" + path + "'", {}};
    const auto emptied = worker_->ask(worker::Empty{path});
    if (!emptied && emptied.error().code == ErrorCode::kBusy && ends_) return empty_at_last(path);
    return emptied ? Status() : Status(emptied.error());
  };
  const auto give = [&options](const std::string& path, unsigned uid, unsigned gid) {
    return give_directory(options, path, uid, gid);
  };
  STAB_TRY(ScratchDirectory scratch, ScratchDirectory::create(empty, give));
  enclosure.scratch.emplace(std::move(scratch));
  const store::ExperimentRow& row = experiment_->row();
  if (!experiment_->plan().machine.private_tmp) {
    why_shared_tmp_ = "the plan wants it so";
    return {};
  }
  // Whose reason is that of IPC, which the broker says.
  if (!options.broker->is_root() || !why_shared_ipc_.empty()) return {};
  KeptNames kept = kept_names(row.plan_text, {row.plan_directory, options.database, options.installation.launcher},
                              {enclosure.scratch->name()});
  why_shared_tmp_ = kept.why_shared;
  if (!why_shared_tmp_.empty()) return {};
  const unsigned uid = submitter_ ? submitter_->uid : unsigned(-1), gid = submitter_ ? submitter_->gid : unsigned(-1);
  Result<TemporaryPlaces> places = TemporaryPlaces::create(std::move(kept.names), uid, gid, empty, give);
  if (places) enclosure.temporary.emplace(*std::move(places));
  else why_shared_tmp_ = places.error().message;
  return {};
}

Result<std::string> HeldMachine::fresh_directory(size_t enclosure) {
  Enclosure& in = of(enclosure);
  if (in.temporary) STAB_CHECK_OK(in.temporary->fresh());
  return in.scratch->fresh(submitter_ ? submitter_->uid : unsigned(-1), submitter_ ? submitter_->gid : unsigned(-1));
}

bool HeldMachine::directories_are_there(size_t enclosure, bool has_run) const {
  const Enclosure& in = of(enclosure);
  if (!in.scratch->is_there()) return false;
  return has_run || (in.scratch->has_trial() && (!in.temporary || in.temporary->are_there()));
}

Status HeldMachine::tune() {
  const Engine::Options& options = experiment_->options();
  std::map<std::string, std::string> turned;
  knobs_ = std::make_unique<KnobsAtBroker>(*options.broker);
  for (const auto& [knob, word] : experiment_->plan().machine.knobs) {
    STAB_TRY(const std::string why_not, knobs_->turn(knob, word, first_.lab.placement));
    turned["knob." + knob] = word;
    if (!why_not.empty()) refused_knobs_[knob] = why_not;
  }
  const bool isolated = turned.count("knob.cpuset") && !refused_knobs_.count("cpuset");
  if (isolated) STAB_CHECK_OK(hold_trials_in_cpuset());
  facts_ = host_facts(options.roots);
  facts_.merge(turned);
  facts_["boot_id"] = boot_id_;
  facts_["placement"] = first_.lab.placement.why;
  for (const auto& [knob, why] : refused_knobs_) {
    facts_["knob." + knob] = "not set: " + why;
    experiment_->note("knob " + knob + " is not set: " + why);
  }
  STAB_CHECK_OK(say_limits(facts_));
  STAB_CHECK_OK(say_ipc(facts_));
  return say_tmp(facts_);
}

Status HeldMachine::record_facts() const {
  return experiment_->store().put_host_facts(experiment_->id(), facts_, experiment_->now_ns());
}

// Before anything is built for it.
Result<bool> HeldMachine::check_plan() {
  const Status within = check_within(experiment_->plan().limits, experiment_->options().limits.most);
  std::string why_not = plan::why_not_on_this_processor(experiment_->plan());
  if (why_not.empty()) why_not = within ? why_not_limited(first_.lab.limits) : within.error().message;
  if (why_not.empty()) return true;
  STAB_CHECK_OK(experiment_->reject(why_not));
  return false;
}

// Recorded with every experiment. Who has configured limits that don't hold is told as well.
Status HeldMachine::say_limits(std::map<std::string, std::string>& facts) const {
  const TrialLimits& limits = first_.lab.limits;
  facts["limit.memory"] = memory_limit_text(limits);
  facts["limit.processes"] = process_limit_text(limits);
  for (const auto& [what, why] : {std::pair("memory", &limits.no_memory), std::pair("processes", &limits.no_processes)}) {
    if (why->empty()) continue;
    const std::string text = std::string("the limit of a trial's ") + what + " is not set: " + *why;
    STAB_CHECK_OK(experiment_->log("limits", text));
    if (experiment_->options().limits.is_named) experiment_->note(text);
  }
  return {};
}

std::string HeldMachine::why_ipc_is_shared() const {
  return why_shared_ipc_.empty() ? first_.tree->why_ipc_is_shared() : why_shared_ipc_;
}

// What a trial leaves there is found by the next one, or not.
Status HeldMachine::say_ipc(std::map<std::string, std::string>& facts) const {
  const std::string why = why_ipc_is_shared();
  facts["ipc"] = why.empty() ? "private" : "shared: " + why;
  if (why.empty() || !experiment_->plan().machine.private_ipc) return {};
  return experiment_->log("ipc", "trials share System V objects, POSIX queues and /dev/shm with the machine: " + why);
}

std::string HeldMachine::why_tmp_is_shared() const {
  if (!why_shared_tmp_.empty()) return why_shared_tmp_;
  const std::string ipc = why_ipc_is_shared();
  return ipc.empty() ? first_.tree->why_tmp_is_shared() : ipc;
}

Status HeldMachine::say_tmp(std::map<std::string, std::string>& facts) const {
  const std::string why = why_tmp_is_shared();
  facts["tmp"] = why.empty() ? "private" : "shared: " + why;
  if (why.empty() || !experiment_->plan().machine.private_tmp) return {};
  return experiment_->log("tmp", "trials share /tmp and /var/tmp with the machine: " + why);
}

// The one that the knob has made.
Status HeldMachine::hold_trials_in_cpuset() {
  Result<TreeAtBroker> tree = make_tree(first_, true);
  if (!tree && tree.error().code != ErrorCode::kUnavailable) return tree.error();
  if (!tree) {
    refused_knobs_["cpuset"] = tree.error().message;
    return {};
  }
  is_isolated_ = true;
  first_tree_ = std::move(first_.tree);
  first_.tree = std::make_unique<TreeAtBroker>(*std::move(tree));
  first_.lab.tree = first_.tree.get();
  first_.lab.limits = limits_in(*first_.tree);
  return {};
}

std::string HeldMachine::why_not_given(const std::string& need, const Passes& passes) const {
  if (need == "affinity" && first_.lab.placement.trial_cpu >= 0) return {};
  if (need == "private-ipc") {
    const std::string why = why_ipc_is_shared();
    return why.empty() ? why : "the plan requires private-ipc, and trials share the machine's: " + why;
  }
  if (need == "private-tmp") {
    const std::string why = why_tmp_is_shared();
    return why.empty() ? why : "the plan requires private-tmp, and trials share the machine's: " + why;
  }
  if (need == "counters") {
    for (const std::vector<counters::EventSpec>& pass : passes)
      for (const counters::EventSpec& spec : pass)
        if (const std::string why = counters::why_unavailable(spec, *first_.lab.perf); !why.empty())
          return "the plan requires counters; " + why;
    return {};
  }
  const std::string knob = plan::knob_of_requirement(need);
  if (experiment_->plan().machine.knobs.count(knob) == 0)
    return "the plan requires '" + need + "', which this machine does not give; see 'stabctl doctor'";
  const auto refused = refused_knobs_.find(knob);
  return refused == refused_knobs_.end() ? std::string() : "the plan requires knob " + knob + ": " + refused->second;
}

Status HeldMachine::check_requirements(const Passes& passes) const {
  // Whether limits hold depends on the group that trials run in now.
  if (const std::string why_not = why_not_limited(first_.lab.limits); !why_not.empty())
    return Error{ErrorCode::kUnavailable, why_not, {}};
  for (const std::string& need : experiment_->plan().machine.require)
    if (const std::string why_not = why_not_given(need, passes); !why_not.empty())
      return Error{ErrorCode::kUnavailable, why_not, {}};
  return {};
}

Result<bool> HeldMachine::wait_for_gates() const {
  const plan::Gates& gates = experiment_->plan().machine.gates;
  if (!has_gates(gates)) return true;
  const auto& options = experiment_->options();
  std::chrono::nanoseconds& waited = experiment_->engine().waited_at_gates(experiment_->id());
  const auto start = options.clock->monotonic_raw() - waited;
  for (bool told = false;; told = true) {
    const std::string why = closed_gate(gates, look_at_gates(options.roots, options.clock->realtime()));
    const auto now = options.clock->monotonic_raw();
    const bool gives_up = gates.deadline.count() > 0 && now - start > gates.deadline;
    if (why.empty() || gives_up) waited = std::chrono::nanoseconds(0);
    if (why.empty()) return true;
    if (!told) experiment_->note("waiting: " + why);
    if (gives_up) {
      STAB_CHECK_OK(experiment_->note_and_log("gate", "gave up waiting: " + why));
      return false;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(start + gates.deadline - now) + milliseconds(1);
    if (stay_until(now + std::clamp(left, milliseconds(1), kLookAgain))) continue;
    waited = options.clock->monotonic_raw() - start;
    return false;
  }
}

// At a closed gate, until the next look at it.
bool HeldMachine::stay_until(std::chrono::nanoseconds next_look) const {
  while (!experiment_->stop().asked()) {
    experiment_->observer().at_closed_gate();
    if (experiment_->stop().asked()) return false;
    const auto left = next_look - experiment_->options().clock->monotonic_raw();
    if (left <= std::chrono::nanoseconds(0)) return true;
    const milliseconds sleep = std::min(std::chrono::ceil<milliseconds>(left), kServeOthers);
    const GateOpen open(experiment_->gate());
    pollfd stop{experiment_->stop().now_fd(), POLLIN, 0};
    ::poll(&stop, 1, static_cast<int>(sleep.count()));
  }
  return false;
}

Status HeldMachine::say_what_befell_the_worker() const {
  for (const std::string& event : worker_->take_events()) STAB_CHECK_OK(experiment_->note_and_log(kWorker, event));
  return {};
}

}  // namespace stab::engine
