// One request for all counters of a trial. What comes back are descriptors, read as any others.
#include "stabd/engine/separation/counters_at_broker.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace stab::engine {
namespace {

using counters::EventSpec;
using counters::OpenedEvent;
using counters::PerfEvent;

broker::Counter wire_of(const PerfEvent& event) {
  const EventSpec& spec = event.spec;
  broker::Counter counter;
  counter.type = spec.type;
  counter.flags = (event.grouped ? broker::Counter::kGrouped : 0) | (spec.scope.kernel ? 0 : broker::Counter::kNoKernel) |
                  (spec.scope.hypervisor ? 0 : broker::Counter::kNoHypervisor) |
                  (spec.scope.guest ? 0 : broker::Counter::kNoGuest);
  counter.config = spec.config;
  counter.config1 = spec.config1;
  counter.config2 = spec.config2;
  return counter;
}

class BrokerPerf final : public counters::PerfCalls {
 public:
  explicit BrokerPerf(broker::Client& broker) : broker_(&broker), here_(&counters::system_perf()) {}

  int open(perf_event_attr*, pid_t, int, int, unsigned long) override {
    errno = ENOSYS;  // only all of them together
    return -1;
  }
  ssize_t read(int fd, void* buffer, size_t bytes) override { return here_->read(fd, buffer, bytes); }
  int enable(int fd) override { return here_->enable(fd); }
  int paranoid_level() override { return here_->paranoid_level(); }

  std::vector<OpenedEvent> open_all(pid_t pid, int, const std::vector<PerfEvent>& events) override {
    std::vector<OpenedEvent> all(events.size());
    for (OpenedEvent& event : all) event.refused = EMFILE;  // where there are more than a request takes
    for (size_t first = 0; first < events.size(); first += broker::kMostCounters) {
      const size_t count = std::min(events.size() - first, broker::kMostCounters);
      if (!ask(pid, events.data() + first, all.data() + first, count)) break;
    }
    return all;
  }

 private:
  bool ask(pid_t pid, const PerfEvent* events, OpenedEvent* opened, size_t count) {
    const bool only_whether = pid == ::getpid();
    broker::OpenCounters request;
    request.pid = only_whether ? 0 : pid;
    request.count = static_cast<uint32_t>(count);
    for (size_t i = 0; i < count; ++i) request.counters[i] = wire_of(events[i]);
    Result<broker::Reply> reply = broker_->ask(request);
    for (size_t i = 0, next = 0; i < count; ++i) {
      opened[i].refused = reply ? reply->answer.error_numbers[i] : ESRCH;
      if (opened[i].refused != 0) continue;
      // It stands for one that could be opened; nobody reads it.
      if (only_whether) opened[i].fd.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      else if (next < reply->descriptors.size()) opened[i].fd = std::move(reply->descriptors[next++]);
      if (!opened[i].fd) opened[i].refused = EMFILE;
    }
    return reply.ok();
  }

  broker::Client* broker_;
  counters::PerfCalls* here_;
};

}  // namespace

std::unique_ptr<counters::PerfCalls> counters_at(broker::Client& broker) { return std::make_unique<BrokerPerf>(broker); }

}  // namespace stab::engine
