#include "stabd/daemon/rights/quotas.h"

#include <string>

#include "stabd/daemon/rights/policy.h"

namespace stab::daemon {
namespace {

Status check_number_of(const store::UserUsage& used, const Quota& quota) {
  if (used.unfinished < quota.experiments) return {};
  return denied("you have " + std::to_string(used.unfinished) + " experiments that aren't over, and may have " +
                std::to_string(quota.experiments) + "; wait for one, or cancel one");
}

Status check_trials_of(const store::UserUsage& used, const Quota& quota, int64_t trials, int64_t more) {
  if (trials > quota.trials)
    return denied("that makes " + std::to_string(trials) + " trials, and yours may have " + std::to_string(quota.trials));
  if (used.trials + more <= quota.all_trials) return {};
  return denied("that makes " + std::to_string(used.trials + more) +
                " trials of all your experiments, those that are over included, "
                "and they may have " +
                std::to_string(quota.all_trials) + "; 'stabctl delete' some that are over");
}

}  // namespace

const Quota* Quotas::of(uid_t user) const {
  return is_privileged(user, owner_) ? nullptr : &config_->quota_of(user);
}

Status Quotas::check_priority(const Peer& peer, int64_t priority) const {
  if (priority < kLowestPriority || priority > kHighestPriority)
    return bad_input("priority " + std::to_string(priority) + " is not from " + std::to_string(kLowestPriority) + " to " +
                     std::to_string(kHighestPriority));
  const Quota* quota = of(peer.uid);
  if (quota == nullptr || priority <= quota->priority) return {};
  return denied("priority " + std::to_string(priority) + " is above your highest, " + std::to_string(quota->priority));
}

Status Quotas::check(store::Store& store, const Peer& peer, int64_t trials, size_t plan_bytes, int64_t priority) const {
  STAB_CHECK_OK(check_priority(peer, priority));
  if (upkeep_->disk_is_full())
    return denied("the daemon's disk has less left than it must; its administrator can free some");
  const Quota* limits = of(peer.uid);
  if (limits == nullptr) return {};
  const Quota& quota = *limits;
  STAB_TRY(const store::UserUsage used, store.usage_of(peer.uid));
  STAB_CHECK_OK(check_number_of(used, quota));
  STAB_CHECK_OK(check_trials_of(used, quota, trials, trials));
  if (used.experiments >= quota.stored_experiments)
    return denied("you have " + std::to_string(used.experiments) +
                  " experiments in the database, those that are over included, and "
                  "may have " +
                  std::to_string(quota.stored_experiments) + "; 'stabctl delete' some that are over, a bundle keeps them");
  const int64_t bytes = used.stored_bytes + static_cast<int64_t>(plan_bytes);
  if (quota.stored_bytes > 0 && static_cast<uint64_t>(bytes) > quota.stored_bytes)
    return denied("your experiments would take " + std::to_string(bytes) + " bytes of the database, and may take " +
                  std::to_string(quota.stored_bytes) + "; 'stabctl delete' some that are over, a bundle keeps them");
  const uint64_t builds = upkeep_->disk_bytes_of(peer.uid);
  if (quota.disk_bytes > 0 && builds > quota.disk_bytes)
    return denied("your builds take " + std::to_string(builds) + " bytes, and may take " + std::to_string(quota.disk_bytes) +
                  "; they shrink as your experiments end");
  return {};
}

Status Quotas::check_number(store::Store& store, const Peer& peer) const {
  const Quota* quota = of(peer.uid);
  if (quota == nullptr) return {};
  STAB_TRY(const store::UserUsage used, store.usage_of(peer.uid));
  return check_number_of(used, *quota);
}

Status Quotas::check_trials(store::Store& store, const Peer& peer, int64_t trials, int64_t more) const {
  const Quota* quota = of(peer.uid);
  if (quota == nullptr) return {};
  STAB_TRY(const store::UserUsage used, store.usage_of(peer.uid));
  return check_trials_of(used, *quota, trials, more);
}

}  // namespace stab::daemon
