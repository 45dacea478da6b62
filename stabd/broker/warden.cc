// What is kept here is what must end with an engine that was killed: a table of processes (children.h), a few trees (tree.h),
// and the turned knobs.
//
// One request never waits long: what takes time to die is asked for again.
#include "stabd/broker/warden.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "stabd/broker/counters.h"
#include "stabd/broker/sealed_command.h"
#include "stabd/host/helper_process.h"
#include "stabd/host/tuning.h"

namespace stab::broker {
namespace {

using std::chrono::milliseconds;

// An engine has a tree for each trial that runs at once (plan::kMostAtOnce), one more while it changes them, and another for what
// it runs between experiments.
constexpr size_t kMostTrees = 24;
// For what is killed in one request. It takes some 100 us.
constexpr milliseconds kKillPatience{5};
// For everything, when an engine is gone: init reaps what is left.
constexpr milliseconds kClearPatience{2000};
// Whether another broker has done that.
constexpr milliseconds kLookAgain{50};

// Not a number of a process or a tree that is ours.
Error unknown(const std::string& what) {
  return Error{ErrorCode::kNotFound, what + " was not started here, or was ended before", {}};
}

// From now on nobody else's child is ours by accident: what a dead trial leaves becomes ours.
void become_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

bool has_ended(int pidfd, milliseconds patience) {
  pollfd waiting{pidfd, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(patience.count())) > 0;
}

Usage wire_of(const rusage& usage) {
  const auto us = [](const timeval& time) { return static_cast<int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec; };
  Usage wire;
  wire.user_us = us(usage.ru_utime);
  wire.system_us = us(usage.ru_stime);
  wire.max_rss_kib = usage.ru_maxrss;
  wire.minor_faults = usage.ru_minflt;
  wire.major_faults = usage.ru_majflt;
  wire.voluntary_switches = usage.ru_nvcsw;
  wire.involuntary_switches = usage.ru_nivcsw;
  return wire;
}

// One reason, where there are two: both are missing for the same one, or the first says where to look.
void say_limits(const host::ProcessTree& tree, Answer& answer) {
  const std::string &memory = tree.why_no_memory_limit(), &processes = tree.why_no_process_limit();
  if (!memory.empty()) answer.flags |= Answer::kNoMemoryLimit;
  if (!processes.empty()) answer.flags |= Answer::kNoProcessLimit;
  set_text(answer.text, sizeof answer.text, memory.empty() ? processes : memory);
}

// This process's own is inherited by what it starts.
bool has_oom_score() { return host::read_small_file("/proc/self/oom_score_adj").value_or("0") != "0"; }

}  // namespace

Warden::Warden(WardenOptions options, Users& users)
    : options_(std::move(options)),
      users_(&users),
      boot_id_(host::read_small_file(options_.roots.proc + "/sys/kernel/random/boot_id").value_or("")),
      reset_oom_score_(has_oom_score()) {
  become_subreaper();
  // A tuner that lives keeps its knobs; what a dead one left is turned back before anything runs. A broker whose engine
  // was killed a moment ago is about to do it itself.
  auto restored = host::Tuning::recover(options_.roots, options_.knob_journal, boot_id_);
  for (auto left = kClearPatience; !restored && restored.error().code == ErrorCode::kBusy && left.count() > 0;
       left -= kLookAgain) {
    ::poll(nullptr, 0, static_cast<int>(kLookAgain.count()));
    restored = host::Tuning::recover(options_.roots, options_.knob_journal, boot_id_);
  }
  if (restored) found_ = host::left_text(*restored);
  if (!restored && restored.error().code != ErrorCode::kBusy) found_ = restored.error().message;
}

Warden::~Warden() { clear(); }

Warden::Done Warden::answer(const Request& request, std::vector<UniqueFd> descriptors) {
  const Kind kind = std::visit([](const auto& message) { return message.head.kind; }, request);
  Result<Done> done = perform(request, descriptors);
  if (!done) return {refusal(kind, done.error()), {}};
  done->answer.head.kind = kind;
  return *std::move(done);
}

Result<Warden::Done> Warden::perform(const Request& request, std::vector<UniqueFd>& descriptors) {
  return std::visit([&](const auto& message) { return perform(message, descriptors); }, request);
}

Result<Warden::Done> Warden::perform(const Hello&, std::vector<UniqueFd>&) {
  Done done;
  done.answer.uid = ::geteuid();
  done.answer.gid = ::getegid();
  done.answer.pid = ::getpid();
  set_text(done.answer.text, sizeof done.answer.text, found_);
  return done;
}

Result<Warden::Done> Warden::perform(const Vouch&, std::vector<UniqueFd>& descriptors) {
  STAB_TRY(const Account client, users_->vouch(descriptors[0].get()));
  Done done;
  done.answer.uid = client.uid;
  done.answer.gid = client.gid;
  return done;
}

// --- trees and processes -------------------------------------------------------------------------------------

Result<Warden::Done> Warden::perform(const MakeTree& request, std::vector<UniqueFd>&) {
  if (trees_.size() >= kMostTrees) return Error{ErrorCode::kBusy, "too many process trees at once", {}};
  const bool isolated = (request.flags & MakeTree::kIsolated) != 0;
  if (isolated && !isolation_) return Error{ErrorCode::kUnavailable, "no cpu is isolated", {}};
  if (request.own_cpu >= 0) own_cpu_.work_on(request.own_cpu);
  const std::string parent = isolated ? isolation_->parent_of_trials : std::string();
  const bool limited = (request.flags & MakeTree::kLimited) != 0;
  if (limited && !delegation_) delegation_ = std::make_unique<host::Delegation>(host::Roots(), options_.engine);
  STAB_TRY(host::ProcessTree made, host::ProcessTree::create(host::Roots(), static_cast<host::TreeKind>(request.wanted),
                                                                 parent, limited ? delegation_.get() : nullptr));
  if (!parent.empty() && made.kind() != host::TreeKind::kCgroup2)
    return Error{ErrorCode::kUnavailable, "no group can be made below '" + parent + "'", {}};
  Tree tree;
  tree.number = ++last_tree_;
  tree.processes = std::make_unique<host::ProcessTree>(std::move(made));
  if (isolated) tree.extra_procs = isolation_->procs_file;
  Done done;
  done.answer.tree = tree.number;
  done.answer.tree_kind = static_cast<uint32_t>(tree.processes->kind());
  if (limited) say_limits(*tree.processes, done.answer);
  if (request.flags & MakeTree::kPrivateIpc) tree.separate(request, users_->front_end(), done.answer);
  trees_.push_back(std::move(tree));
  return done;
}

Result<Warden::Done> Warden::perform(const DropTree& request, std::vector<UniqueFd>&) {
  STAB_TRY(Tree * tree, tree_of(request.tree));
  spare_others(*tree);
  (void)tree->processes->kill_all(kKillPatience);
  trees_.erase(trees_.begin() + (tree - trees_.data()));
  own_cpu_.come_back_next();
  return Done{};
}

Result<Warden::Done> Warden::perform(const TreeState& request, std::vector<UniqueFd>&) {
  STAB_TRY(Tree * tree, tree_of(request.tree));
  spare_others(*tree);
  Done done;
  if (!tree->processes->empty()) done.answer.flags |= Answer::kAlive;
  return done;
}

Result<Warden::Done> Warden::perform(const Launch& request, std::vector<UniqueFd>& descriptors) {
  STAB_TRY(std::optional<Account> account, users_->account(request.uid));
  Tree* tree = nullptr;
  if (request.tree != 0) {
    STAB_TRY(tree, tree_of(request.tree));
  }
  children_.reap();
  if (!children_.has_places()) return Error{ErrorCode::kBusy, "too many programs at once", {}};
  STAB_TRY(const std::string command, read_sealed_command(descriptors[0].get(), size_t{request.argc} + request.envc));

  Done done;
  host::LaunchRequest terms;
  terms.cpu = request.cpu;
  terms.slice = std::chrono::nanoseconds(request.slice_ns);
  terms.aslr = !(request.flags & Launch::kNoAslr);
  terms.thp = !(request.flags & Launch::kNoThp);
  // Whoever can start programs as others never starts one that finds a way back.
  terms.no_new_privs = (request.flags & Launch::kNoNewPrivs) != 0 || ::geteuid() == 0;
  terms.reset_oom_score = reset_oom_score_;
  if (account) terms.submitter = host::Submitter{account->uid, account->gid, std::move(account->groups)};
  for (uint32_t i = 0; i < request.limit_count; ++i)
    terms.limits.push_back({static_cast<int>(request.limits[i].resource), request.limits[i].soft, request.limits[i].hard});
  if (tree != nullptr) {
    terms.cgroup_procs = tree->processes->procs_files();
    if (!tree->extra_procs.empty()) terms.cgroup_procs.push_back(tree->extra_procs);
    STAB_CHECK_OK(tree->processes->limit({request.memory_bytes, request.processes}));
    if (request.flags & Launch::kBeginsTrial) STAB_CHECK_OK(tree->renew());
    terms.private_ipc = tree->ipc.has_value();
  }

  host::LaunchDescriptors files{descriptors[1].get(), descriptors[2].get(), descriptors[3].get(), -1, -1};
  size_t next = 4;
  if (request.flags & Launch::kHelperSocket) files.helper = descriptors[next++].get();
  if (request.flags & Launch::kReportPipe) files.report = descriptors[next++].get();
  host::HelperTask task{request.helper_cpu, -1, request.helper_switches};
  if (request.flags & Launch::kHelperScript) task.script = descriptors[next++].get();
  if (terms.private_ipc) {
    files.ipc = tree->ipc->ipc();
    files.mounts = tree->ipc->mounts();
  }
  std::optional<host::Helper> helper;
  UniqueFd program_end;
  if (request.flags & Launch::kHelper) {
    STAB_TRY(host::Helper started, host::Helper::start(options_.helper, task, terms.submitter));
    helper.emplace(std::move(started));
    program_end = helper->take_program_end();
    files.helper = program_end.get();
  }
  STAB_TRY(const std::string block, host::encode_terms(terms, request.argc, request.envc));
  // What is on the trial's CPU is made there, by a process that knows the way.
  host::Starter* starter = nullptr;
  if (tree != nullptr && request.cpu >= 0) {
    STAB_TRY(starter, starter_on(request.cpu));
  }
  std::optional<OwnCpu::Anywhere> unpinned;
  if (request.cpu < 0) unpinned.emplace(own_cpu_);
  Result<host::Launched> launched = host::Launched::begin_encoded(options_.launcher, block + command, files, starter);
  unpinned.reset();
  if (!launched) {
    if (starter != nullptr) drop_starter();  // it may hang, or be dead
    return launched.error();
  }

  STAB_CHECK_OK(children_.remember(launched->pid(), request.tree, starter != nullptr && !helper ? request.cpu : -1));
  own_cpu_.come_back_next();
  if (helper) {
    STAB_CHECK_OK(children_.remember(helper->pid(), 0));
    done.answer.helper = helper->pid();
  }
  done.answer.pid = launched->pid();
  host::LauncherPipes pipes = launched->take_pipes();
  done.descriptors.push_back(std::move(pipes.go));
  done.descriptors.push_back(std::move(pipes.status));
  launched->release();
  if (helper) {
    done.descriptors.push_back(helper->take_report());
    helper->release();
  }
  return done;
}

Result<Warden::Done> Warden::perform(const OpenCounters& request, std::vector<UniqueFd>&) {
  const bool only_whether = request.pid == 0;
  const Child* child = children_.find(request.pid);
  if (!only_whether && (child == nullptr || child->ended)) return unknown("process " + std::to_string(request.pid));
  Done done;
  auto opened = open_counters(request, only_whether ? ::getpid() : request.pid, options_.roots.sys, counters::system_perf());
  for (size_t i = 0; i < opened.size(); ++i) {
    done.answer.error_numbers[i] = opened[i].refused;
    if (opened[i].fd && !only_whether) done.descriptors.push_back(std::move(opened[i].fd));
  }
  return done;
}

Result<Warden::Done> Warden::perform(const End& request, std::vector<UniqueFd>&) {
  Tree* tree = nullptr;
  if (request.tree != 0) {
    STAB_TRY(tree, tree_of(request.tree));
  }
  Child* child = children_.find(request.pid);
  if (request.pid != 0 && child == nullptr) return unknown("process " + std::to_string(request.pid));
  if (child != nullptr && !child->ended) Children::kill(*child);
  bool alive = false;
  if (tree != nullptr) {
    spare_others(*tree);
    alive = !tree->processes->kill_all(kKillPatience).ok();
  }
  if (child != nullptr && !child->ended) alive = !has_ended(child->pidfd.get(), kKillPatience) || alive;
  children_.reap();
  Done done;
  if (alive || (child != nullptr && !child->ended)) {
    done.answer.flags |= Answer::kAlive;
    return done;
  }
  if (child == nullptr) return done;
  own_cpu_.visit_next(child->cpu);
  done.answer.flags |= Answer::kReaped;
  done.answer.status = child->status;
  done.answer.usage = wire_of(child->usage);
  if (tree != nullptr) {
    const host::LimitHits hits = tree->processes->take_hits();
    done.answer.usage.memory_kills = hits.memory_kills;
    done.answer.usage.outside_kills = hits.outside_kills;
    done.answer.usage.refused_processes = hits.refused_processes;
  }
  children_.forget(child->pid);
  return done;
}

Result<Tree*> Warden::tree_of(uint32_t number) {
  const auto found = std::find_if(trees_.begin(), trees_.end(), [&](const Tree& tree) { return tree.number == number; });
  if (found == trees_.end()) return unknown("process tree " + std::to_string(number));
  return &*found;
}

// Without cgroups a tree is whatever descends from us, but for what belongs elsewhere.
void Warden::spare_others(Tree& tree) {
  tree.processes->forget_spared();
  for (const Child& child : children_.all())
    if (child.tree != tree.number && !child.ended) tree.processes->spare(child.pid);
}

void Warden::settle() { own_cpu_.settle(); }

// pre: children_.reap() was called just now.
Result<host::Starter*> Warden::starter_on(int cpu) {
  const Child* there = starter_ ? children_.find(starter_->pid()) : nullptr;
  if (there != nullptr && !there->ended && starter_->cpu() == cpu) return &*starter_;
  drop_starter();
  STAB_TRY(host::Starter started, host::Starter::start(options_.launcher, cpu));
  STAB_CHECK_OK(children_.remember(started.pid(), 0));
  starter_.emplace(std::move(started));
  return &*starter_;
}

void Warden::drop_starter() {
  if (!starter_) return;
  children_.forget(starter_->pid());
  starter_.reset();
}

void Warden::clear() {
  drop_starter();
  children_.kill_all();
  trees_.clear();
  // Whoever left every tree is still below us.
  const auto give_up = std::chrono::steady_clock::now() + kClearPatience;
  for (;;) {
    children_.reap();
    const auto left = host::descendants(host::live_parents(host::Roots()), ::getpid(), {});
    if (left.empty() || std::chrono::steady_clock::now() > give_up) break;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    ::poll(nullptr, 0, 1);
  }
  children_.clear();
  knobs_.reset();
  isolation_.reset();
  delegation_.reset();
  own_cpu_.leave();
}

// --- the host ------------------------------------------------------------------------------------------------

Result<Warden::Done> Warden::perform(const OpenKernelLog&, std::vector<UniqueFd>&) {
  const std::string path = options_.roots.dev + "/kmsg";
  UniqueFd log(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log) return system_error("open '" + path + "'", errno);
  ::lseek(log.get(), 0, SEEK_END);
  Done done;
  done.descriptors.push_back(std::move(log));
  return done;
}

Result<Warden::Done> Warden::perform(const TurnKnob& request, std::vector<UniqueFd>&) {
  const std::string knob = request.knob, word = request.word;
  const host::Placement placement{request.trial_cpu, request.housekeeping_cpu, {}};
  // Before it is turned: we may be in another cgroup afterwards.
  auto isolation =
      knob == "cpuset" ? host::isolation_of(options_.roots, placement) : Result<host::Isolation>(unknown("isolation"));
  if (!knobs_) knobs_ = std::make_unique<host::TurnedKnobs>(options_.roots, options_.knob_journal, boot_id_);
  STAB_TRY(const std::string why_not, knobs_->turn(knob, word, placement));
  Done done;
  if (!why_not.empty()) done.answer.flags |= Answer::kNotSet;
  set_text(done.answer.text, sizeof done.answer.text, why_not);
  if (why_not.empty() && isolation) isolation_.emplace(*std::move(isolation));
  return done;
}

Result<Warden::Done> Warden::perform(const RestoreKnobs&, std::vector<UniqueFd>&) {
  knobs_.reset();
  isolation_.reset();
  STAB_TRY(const host::Restored restored, host::Tuning::restore_ours(options_.roots, options_.knob_journal, boot_id_));
  Done done;
  done.answer.settings = static_cast<uint32_t>(restored.settings);
  return done;
}

// No path is walked: the engine has opened what it gives, and it can give nothing but its own.
Result<Warden::Done> Warden::perform(const Give& request, std::vector<UniqueFd>& descriptors) {
  STAB_TRY(const std::optional<Account> account, users_->account(request.uid));
  struct stat info;
  if (::fstat(descriptors[0].get(), &info) != 0) return system_error("give a directory", errno);
  const uid_t owner = users_->front_end();
  if (!S_ISDIR(info.st_mode) || info.st_uid != owner)
    return denied("give: that is no directory of user " + std::to_string(owner) + ", who asks");
  const uid_t uid = account ? account->uid : ::geteuid();
  const gid_t gid = account ? account->gid : ::getegid();
  if (::fchown(descriptors[0].get(), uid, gid) != 0)
    return system_error("give a directory to user " + std::to_string(uid), errno);
  Done done;
  done.answer.uid = uid;
  done.answer.gid = gid;
  return done;
}

}  // namespace stab::broker
