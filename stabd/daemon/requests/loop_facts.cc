#include "stabd/daemon/requests/loop_facts.h"

#include <nlohmann/json.hpp>

namespace stab::daemon {
namespace {

nlohmann::json measure(const LatencyFacts& facts) {
  return {{"max_ns", facts.max_ns}, {"longest", name(facts.longest)}, {"p99_ns", facts.p99_ns}, {"log2_us", facts.log2_us}};
}

}  // namespace

std::string LoopFacts::json(size_t waiting_requests, DuringTrials during_trials) const {
  const LatencyFacts held = latency.held(), worked = latency.worked();
  nlohmann::json of_loop = measure(held);
  of_loop["callbacks"] = held.callbacks;
  of_loop["worked"] = measure(worked);
  nlohmann::json json = {{"loop", of_loop}, {"waiting_requests", waiting_requests}, {"during_trials", name(during_trials)}};
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const LatencyFacts of_lane = answers[lane].facts();
    nlohmann::json& one = json["answers"][std::string(name(static_cast<Lane>(lane)))];
    one = measure(of_lane);
    one.erase("longest");
    one["count"] = of_lane.callbacks;
  }
  return json.dump();
}

}  // namespace stab::daemon
