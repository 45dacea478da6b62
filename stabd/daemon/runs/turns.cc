#include "stabd/daemon/runs/turns.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace stab::daemon {
namespace {

// What runs has the machine for so long before another user of its priority has: to change costs a set-up and warm-ups.
constexpr std::chrono::minutes kTurn{15};
// Until one that gave way at a closed gate comes as early as before: chosen again at once it would take the machine only to meet
// the same gate. Where several stand at gates, each comes to look at its own about once in that time.
constexpr std::chrono::seconds kStandsBack{60};

}  // namespace

bool waits(store::ExperimentState state) {
  return state == store::ExperimentState::kSubmitted || state == store::ExperimentState::kReady ||
         state == store::ExperimentState::kRunning;
}

bool Turns::had_its_time(store::Id experiment, int64_t uid) const {
  const auto left = time_left(experiment, uid);
  return left && left->count() <= 0;
}

std::optional<std::chrono::nanoseconds> Turns::time_left(store::Id experiment, int64_t uid) const {
  if (!time_limit_) return {};
  const auto limit = time_limit_(static_cast<uid_t>(uid));
  const auto usage = engine_->store().usage(experiment);
  if (limit.count() <= 0 || !usage) return {};
  return limit - std::chrono::nanoseconds(usage->machine_ns);
}

Result<std::optional<store::ExperimentSummary>> Turns::first(const LeavesOut& leaves_out) const {
  STAB_TRY(std::vector<store::ExperimentSummary> all, engine_->store().summaries());
  STAB_TRY(const auto wishes, engine_->store().wishes());
  const auto is_to_stop = [&](store::Id id) {
    return std::any_of(wishes.begin(), wishes.end(), [&](const auto& one) { return one.first == id; });
  };
  std::erase_if(all, [&](const store::ExperimentSummary& row) {
    return !waits(row.state) || is_to_stop(row.id) || leaves_out(row.id);
  });
  if (all.empty()) return std::optional<store::ExperimentSummary>();
  STAB_TRY(const auto shares, engine_->store().shares(engine_->options().clock->realtime().count()));
  const auto share_of = [&](const store::ExperimentSummary& row) {
    const auto found = shares.find(row.submitter_uid);
    return found == shares.end() ? 0.0 : found->second;
  };
  const auto place = [&](const store::ExperimentSummary& row) {
    return std::tuple(-row.priority, stands_back(row.id), share_of(row), row.id);
  };
  return std::optional(*std::min_element(all.begin(), all.end(),
                                         [&](const auto& a, const auto& b) { return place(a) < place(b); }));
}

void Turns::stand_back(store::Id experiment) {
  std::erase_if(back_until_, [&](const auto& one) { return !stands_back(one.first); });
  back_until_[experiment] = engine_->options().clock->monotonic_raw() + kStandsBack;
}

bool Turns::stands_back(store::Id experiment) const {
  const auto found = back_until_.find(experiment);
  return found != back_until_.end() && engine_->options().clock->monotonic_raw() < found->second;
}

void Turns::begin() { began_ = engine_->options().clock->monotonic_raw(); }

bool Turns::is_over() {
  const auto now = engine_->options().clock->monotonic_raw();
  if (now - began_ < kTurn) return false;
  began_ = now;
  return true;
}

}  // namespace stab::daemon
