// Warden: does what a broker is asked for, one request after the other.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/broker/children.h"
#include "stabd/broker/own_cpu.h"
#include "stabd/broker/tree.h"
#include "stabd/broker/users.h"
#include "stabd/broker/wire/broker_wire.h"
#include "stabd/host/delegation.h"
#include "stabd/host/isolation.h"
#include "stabd/host/roots.h"
#include "stabd/host/turned_knobs.h"
#include "stabd/host/launch.h"
#include "stabd/host/starter.h"

namespace stab::broker {

struct WardenOptions {
  host::Roots roots;
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
  void spare_others(Tree& tree);
  // Who makes the processes of trials on this CPU.
  Result<host::Starter*> starter_on(int cpu);
  void drop_starter();

  WardenOptions options_;
  Users* users_;
  std::string boot_id_, found_;
  std::unique_ptr<host::TurnedKnobs> knobs_;  // outlives the trees, which may lie in a group that it made
  std::optional<host::Isolation> isolation_;
  std::unique_ptr<host::Delegation> delegation_;  // outlives the trees that it has limited
  std::vector<Tree> trees_;      // kMostTrees at most
  Children children_;
  std::optional<host::Starter> starter_;  // one of children_, too
  uint32_t last_tree_ = 0;
  OwnCpu own_cpu_;
  bool reset_oom_score_ = false;
};

}  // namespace stab::broker
