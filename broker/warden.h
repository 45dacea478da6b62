// Warden: does what a broker is asked for, one request after the other.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "broker/users.h"
#include "broker/wire/broker_wire.h"
#include "host/delegation.h"
#include "host/isolation.h"
#include "host/roots.h"
#include "host/turned_knobs.h"
#include "host/launch.h"
#include "host/private_ipc.h"
#include "host/private_tmp.h"
#include "host/process_tree.h"
#include "host/starter.h"

namespace stab::broker {

struct WardenOptions {
  engine::Roots roots;
  std::string launcher, helper;  // paths of the installed programs
  std::string knob_journal;
  pid_t engine = -1;  // who asks; -1: unknown
};

// Holds what it has started: processes, trees, knobs. All of it ends with clear(), or with this.
class Warden {
 public:
  // `users` outlives it.
  Warden(WardenOptions options, Users& users);
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;
  ~Warden();

  struct Done {
    Answer answer;
    std::vector<UniqueFd> descriptors;
  };
  // A refusal is an answer. Bounded in time: 10 s for a launcher that does not begin, milliseconds for the rest.
  Done answer(const Request& request, std::vector<UniqueFd> descriptors);

  // After each answer: goes to the CPU where the next request should find us.
  void settle();

  // What a dead broker had left turned, in words; empty: nothing. Restored now.
  const std::string& found() const { return found_; }
  // Kills whatever was started, and all that is left of it; turns the knobs back. For the end of an engine.
  void clear();

 private:
  // One that was started and not yet told of as ended. ended: reaped already, and what follows is of it.
  struct Child {
    pid_t pid = -1;
    uint32_t tree = 0;
    int cpu = -1;  // of a trial without a helper
    UniqueFd pidfd;
    std::optional<std::chrono::steady_clock::time_point> killed;  // since when it should be dead
    bool given_up = false;  // it isn't, and takes no place; it is spared and reaped as before
    bool ended = false;
    int status = 0;
    rusage usage{};
  };
  struct Tree {
    uint32_t number = 0;
    std::unique_ptr<engine::ProcessTree> processes;
    std::string extra_procs;  // cgroup v1: a cpuset's cgroup.procs beside
    std::optional<engine::PrivateTmp> tmp;  // the same; only with ipc
    std::optional<engine::PrivateIpc> ipc;  // none: it shares the machine's
  };

  Result<Done> perform(const Request& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const Hello& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const Vouch& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const MakeTree& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const DropTree& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const TreeState& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const Launch& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const OpenCounters& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const End& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const OpenKernelLog& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const TurnKnob& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const RestoreKnobs& request, std::vector<UniqueFd>& descriptors);
  Result<Done> perform(const Give& request, std::vector<UniqueFd>& descriptors);

  Result<Tree*> tree_of(uint32_t number);
  Child* child_of(pid_t pid);
  Status remember(pid_t pid, uint32_t tree);
  void forget(pid_t pid);
  // Whether there are places for a program and its helper, without those that nothing ends.
  bool has_places();
  void reap();
  void spare_others(Tree& tree);
  // Namespaces for a new tree, as far as they can be had; the answer says how far.
  void separate(Tree& tree, const MakeTree& request, Answer& answer) const;
  // Whatever an earlier trial has left in a tree's namespaces, the next one gets new ones, or is not started.
  static Status renew(Tree& tree);
  void work_on(int cpu);
  // Moves to this CPU alone; false: where we were.
  static bool move_to(int cpu);
  // Who makes the processes of trials on this CPU.
  Result<engine::Starter*> starter_on(int cpu);
  void drop_starter();

  WardenOptions options_;
  Users* users_;
  std::string boot_id_, found_;
  std::unique_ptr<engine::TurnedKnobs> knobs_;  // outlives the trees, which may lie in a group that it made
  std::optional<engine::Isolation> isolation_;
  std::unique_ptr<engine::Delegation> delegation_;  // outlives the trees that it has limited
  std::vector<Tree> trees_;      // kMostTrees at most
  std::vector<Child> children_;  // kMostChildren at most, and kMostGivenUp
  std::optional<engine::Starter> starter_;  // one of children_, too
  uint32_t last_tree_ = 0;
  cpu_set_t anywhere_;
  bool pinned_ = false;  // to at_cpu_: own_cpu_, or between two trials theirs
  int own_cpu_ = -1, at_cpu_ = -1;
  int next_cpu_ = -1;    // where settle() goes; -1: nowhere
  bool reset_oom_score_ = false;
  // Of equals in front, who has begun goes on until it sleeps: so we are away from the trial's CPU before anybody reads the
  // answer to a launch. Others may be put aside in between.
  const bool is_in_front_;
};

}  // namespace stab::broker
