// Events are opened disabled with enable_on_exec and inherit: counting starts with the program's first instruction, not
// with our launcher's, and threads and children add up in the parent's event when they end.
#include "counters/perf_calls.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace stab::counters {
namespace {

class SystemPerf final : public PerfCalls {
 public:
  int open(perf_event_attr* attr, pid_t pid, int cpu, int group_fd, unsigned long flags) override {
    return static_cast<int>(::syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags));
  }
  ssize_t read(int fd, void* buffer, size_t bytes) override { return ::read(fd, buffer, bytes); }
  int enable(int fd) override { return ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0); }
  int paranoid_level() override {
    int level = -2;
    if (FILE* file = std::fopen("/proc/sys/kernel/perf_event_paranoid", "re")) {
      if (std::fscanf(file, "%d", &level) != 1) level = -2;
      std::fclose(file);
    }
    return level;
  }
};

// A leader, or an event by itself, waits for the exec; a follower is enabled but counts only with its leader.
perf_event_attr attributes(const EventSpec& spec, bool follows_leader) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = spec.type;
  attr.config = spec.config;
  attr.config1 = spec.config1;
  attr.config2 = spec.config2;
  attr.disabled = follows_leader ? 0 : 1;
  attr.enable_on_exec = follows_leader ? 0 : 1;
  attr.inherit = 1;
  attr.exclude_kernel = spec.scope.kernel ? 0 : 1;
  attr.exclude_hv = spec.scope.hypervisor ? 0 : 1;
  attr.exclude_guest = spec.scope.guest ? 0 : 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attr;
}

}  // namespace

PerfCalls& system_perf() {
  static SystemPerf calls;
  return calls;
}

std::vector<OpenedEvent> PerfCalls::open_all(pid_t pid, int cpu, const std::vector<PerfEvent>& events) {
  std::vector<OpenedEvent> all;
  int leader_fd = -1;
  for (const PerfEvent& event : events) {
    OpenedEvent opened;
    const auto try_to_open = [&](int group_fd) {
      perf_event_attr attr = attributes(event.spec, group_fd >= 0);
      opened.fd.reset(open(&attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC));
      opened.refused = opened.fd ? 0 : errno;
    };
    if (event.grouped && leader_fd >= 0) try_to_open(leader_fd);
    if (!opened.fd) try_to_open(-1);
    if (event.grouped && leader_fd < 0 && opened.fd) leader_fd = opened.fd.get();
    all.push_back(std::move(opened));
  }
  return all;
}

}  // namespace stab::counters
