#include "stabd/daemon/requests/held_browsers.h"

namespace stab::daemon {

void HeldBrowsers::hold(WaitingRequest request) {
  held_.push_back(std::move(request));
  gap_->waits(true);
}

void HeldBrowsers::settle(bool something) {
  if (rule_ == DuringTrials::kQuiet) gap_->waits(!held_.empty() || something);
}

void HeldBrowsers::miss_something() {
  if (rule_ == DuringTrials::kQuiet) gap_->waits(true);
}

}  // namespace stab::daemon
