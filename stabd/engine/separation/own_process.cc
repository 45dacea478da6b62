#include "stabd/engine/separation/own_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <utility>

#include "stabd/engine/separation/launched_at_broker.h"

namespace stab::engine {
namespace {

class AtBroker final : public OwnProcess {
 public:
  AtBroker(LaunchedAtBroker launched, TreeAtBroker* tree) : launched_(std::move(launched)), tree_(tree) {}
  pid_t pid() const override { return launched_.pid(); }
  int pidfd() const override { return launched_.pidfd(); }
  Result<host::ProcessUsage> end(std::chrono::milliseconds deadline) override { return launched_.end(tree_, deadline); }

 private:
  LaunchedAtBroker launched_;
  TreeAtBroker* tree_;  // null: none
};

class Here final : public OwnProcess {
 public:
  explicit Here(host::Launched launched) : launched_(std::move(launched)) {}
  pid_t pid() const override { return launched_.pid(); }
  int pidfd() const override { return launched_.pidfd(); }
  Result<host::ProcessUsage> end(std::chrono::milliseconds deadline) override {
    ::kill(launched_.pid(), SIGKILL);
    pollfd gone{launched_.pidfd(), POLLIN, 0};
    if (::poll(&gone, 1, static_cast<int>(deadline.count())) > 0) return launched_.end();
    launched_.release();
    return Error{ErrorCode::kBusy, "a process is still alive after being killed", {}};
  }

 private:
  host::Launched launched_;
};

Result<std::unique_ptr<OwnProcess>> start_at(broker::Client& broker, const LaunchOrder& order,
                                             const host::LaunchDescriptors& descriptors) {
  STAB_TRY(LaunchedAtBroker launched, LaunchedAtBroker::start(broker, order, descriptors));
  STAB_TRY(const host::LaunchStamp started, launched.go());
  (void)started;
  return std::unique_ptr<OwnProcess>(std::make_unique<AtBroker>(std::move(launched), order.tree));
}

}  // namespace

StartProcess started_by(broker::Client& broker) {
  return [&broker](const host::LaunchRequest& program, const host::LaunchDescriptors& descriptors) {
    return start_at(broker, {program, nullptr, {}, {}}, descriptors);
  };
}

StartProcess started_in(TreeAtBroker& tree, const host::TreeLimits& limits) {
  return [&tree, limits](const host::LaunchRequest& program, const host::LaunchDescriptors& descriptors) {
    return start_at(tree.broker(), {program, &tree, limits, {}}, descriptors);
  };
}

StartProcess started_here(const std::string& launcher) {
  return [launcher](const host::LaunchRequest& program, const host::LaunchDescriptors& descriptors)
             -> Result<std::unique_ptr<OwnProcess>> {
    STAB_TRY(host::Launched launched, host::Launched::start(launcher, program, descriptors));
    STAB_TRY(const host::LaunchStamp started, launched.go());
    (void)started;
    return std::unique_ptr<OwnProcess>(std::make_unique<Here>(std::move(launched)));
  };
}

}  // namespace stab::engine
