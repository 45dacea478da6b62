// HelperAtBroker: the helper that a broker has started with a program, and what it reports.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <vector>

#include "stabd/engine/separation/helper_report.h"

namespace stab::broker {
class Client;
}

namespace stab::engine {

class HelperAtBroker {
 public:
  HelperAtBroker(broker::Client& broker, pid_t pid, UniqueFd report) : broker_(&broker), pid_(pid), report_(std::move(report)) {}
  HelperAtBroker(const HelperAtBroker&) = delete;
  HelperAtBroker& operator=(const HelperAtBroker&) = delete;
  ~HelperAtBroker() { (void)end(); }

  std::optional<std::vector<PointVisits>> progress() { return report_.progress(); }
  Result<HelperEnd> finish(std::chrono::milliseconds patience) {
    return report_.finish(patience, [this] { return end(); });
  }

 private:
  int end();  // the status that it ended with, before that or by it
  broker::Client* broker_;
  pid_t pid_;  // -1: ended
  HelperReport report_;
};

}  // namespace stab::engine
