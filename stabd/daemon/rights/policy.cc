// Groups are the kernel's: those that the peer had when it connected. A list of users would have to be kept in step with
// them, and polkit would ask a person who is not there: plans run at night.
#include "stabd/daemon/rights/policy.h"

#include <algorithm>
#include <array>

namespace stab::daemon {
namespace {

// What a trial's own processes alone are set to.
constexpr std::array<std::string_view, 3> kOwnKnobs = {"affinity", "aslr", "thp"};

bool is_in(const Peer& peer, const std::optional<uint32_t>& group) {
  return group && (peer.gid == *group || std::find(peer.groups.begin(), peer.groups.end(), *group) != peer.groups.end());
}

}  // namespace

bool is_privileged(uid_t uid, uid_t owner) { return uid == 0 || uid == owner; }
bool is_privileged(const Peer& peer, uid_t owner) { return is_privileged(peer.uid, owner); }

bool is_operator(const Config& config, const Peer& peer, uid_t owner) {
  return is_privileged(peer, owner) || is_in(peer, config.policy.operators.gid);
}

Status may_submit(const Config& config, const Peer& peer, uid_t owner, bool serves_others) {
  if (!serves_others && peer.uid != owner)
    return denied("this daemon runs as user " + std::to_string(owner) + " and would run your plan with that user's rights; start "
                  "one of your own with 'stabd --foreground', use 'stabctl run', or ask for a daemon that runs as root");
  const Policy& policy = config.policy;
  if (is_privileged(peer, owner) || policy.submitters.name.empty() || is_in(peer, policy.submitters.gid)) return {};
  return denied("only members of group '" + policy.submitters.name + "' may submit here; an administrator can add you to it");
}

Status may_change(const Peer& peer, uid_t owner, bool serves_others) {
  if (serves_others || is_privileged(peer, owner)) return {};
  return denied("this daemon runs as user " + std::to_string(owner) + " and takes orders from that user and root only");
}

std::vector<std::string> shared_knobs(const plan::Plan& plan) {
  std::vector<std::string> shared;
  for (const auto& [name, word] : plan.machine.knobs)
    if (std::find(kOwnKnobs.begin(), kOwnKnobs.end(), name) == kOwnKnobs.end()) shared.push_back(name);
  return shared;
}

Status may_turn_knobs(const Config& config, const Peer& peer, uid_t owner, const plan::Plan& plan) {
  const std::vector<std::string> shared = shared_knobs(plan);
  const Policy& policy = config.policy;
  if (shared.empty() || is_privileged(peer, owner) || is_in(peer, policy.knobs.gid)) return {};
  std::string list;
  for (const std::string& name : shared) list += (list.empty() ? "" : ", ") + name;
  const std::string who = policy.knobs.name.empty() ? "root, or members of a group that [policy] of stabd.toml names as knobs"
                                                    : "root and members of group '" + policy.knobs.name + "'";
  return denied("the plan changes settings of the whole machine: " + list + "; only " + who + " may do that" +
                "; take it out of [machine.knobs], or ask the administrator to tune the machine");
}

}  // namespace stab::daemon
