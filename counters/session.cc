// Opening and reading. Events are opened disabled with enable_on_exec and inherit: counting starts with the
// program's first instruction, not with our launcher's, and threads and children add up in the parent's event
// when they end. Nothing is read while a trial runs.
//
// A counter that can't be had gives NULL and a reason, never 0: a zero would be averaged.
#include "counters/session.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace stab::counters {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

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

std::string no_value_reason(const Reading& reading, const EventSpec& spec) {
  if (reading.enabled_ns == 0) return "counting never began: the program did not reach its exec";
  if (reading.running_ns == 0 && spec.hardware)
    return quoted(spec.name) +
           " never got a register of the PMU; list fewer events or set counters.sharing = \"passes\"";
  if (reading.running_ns == 0) return quoted(spec.name) + " was enabled but never ran";
  return {};
}

}  // namespace

PerfCalls& system_perf() {
  static SystemPerf calls;
  return calls;
}

std::string why_unavailable(const EventSpec& spec) {
  const Session session = Session::open(::getpid(), {spec});
  return session.open_count() == 1 ? std::string() : session.read().front().reason;
}

std::string refusal(const EventSpec& spec, int errno_value, int paranoid) {
  const std::string name = quoted(spec.name);
  switch (errno_value) {
    case EACCES:
    case EPERM: {
      // Level 2 still allows a user to count his own processes in user mode, 1 in the kernel too.
      const int wanted = spec.scope.kernel ? 1 : 2;
      if (paranoid > wanted)
        return "kernel.perf_event_paranoid is " + std::to_string(paranoid) + ", " + name + " needs <= " +
               std::to_string(wanted) + " or CAP_PERFMON; set it with sysctl" +
               (spec.scope.kernel && paranoid <= 2 ? ", or set counters.kernel = false" : "");
      return "the kernel denies " + name + " though perf_event_paranoid is " + std::to_string(paranoid) +
             "; the process belongs to another user, or a container's seccomp filter blocks perf_event_open";
    }
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return spec.hardware ? "this machine has no PMU that counts " + name +
                                 "; in a virtual machine expose it to the guest, else run on bare metal"
                           : "this kernel does not count " + name;
    case ENOSYS: return "this kernel has no perf events; build it with CONFIG_PERF_EVENTS";
    case EINVAL: return "the kernel rejects the encoding of " + name + "; it is meant for another processor or kernel";
    case EBUSY: return name + " is held by another tool that pins the PMU; stop it (the NMI watchdog is one)";
    case EMFILE:
    case ENFILE: return "no file descriptor is left for " + name + "; raise the limit (ulimit -n)";
    case ESRCH: return "the process was gone before " + name + " could be opened";
    default: return "perf_event_open of " + name + ": " + std::generic_category().message(errno_value);
  }
}

Session::Counter Session::open_counter(pid_t pid, const EventSpec& spec, int cpu, int leader_fd,
                                       PerfCalls& perf) {
  Counter counter{spec, UniqueFd(), spec.available ? std::string() : spec.reason, leader_fd >= 0};
  if (!spec.available) return counter;
  perf_event_attr attr = attributes(spec, counter.follows_leader);
  counter.fd.reset(perf.open(&attr, pid, cpu, leader_fd, PERF_FLAG_FD_CLOEXEC));
  if (counter.fd) return counter;
  const int refused = errno;
  counter.reason = refusal(spec, refused, perf.paranoid_level());
  return counter;
}

Session Session::open(pid_t pid, const std::vector<EventSpec>& specs, int cpu, PerfCalls& perf, Grouping grouping) {
  Session session;
  session.perf_ = &perf;
  int leader_fd = -1;
  for (const EventSpec& spec : specs) {
    const bool grouped = grouping == Grouping::kTogether && spec.hardware;
    Counter counter = open_counter(pid, spec, cpu, grouped ? leader_fd : -1, perf);
    if (!counter.fd && counter.follows_leader && spec.available) counter = open_counter(pid, spec, cpu, -1, perf);
    if (grouped && leader_fd < 0 && counter.fd) leader_fd = counter.fd.get();
    session.counters_.push_back(std::move(counter));
  }
  return session;
}

std::vector<Reading> Session::read() const {
  std::vector<Reading> readings;
  for (const Counter& counter : counters_) {
    Reading reading;
    reading.name = counter.spec.name;
    reading.reason = counter.reason;
    if (counter.fd) {
      struct {
        uint64_t value, enabled_ns, running_ns;
      } kernel{};
      const ssize_t bytes = perf_->read(counter.fd.get(), &kernel, sizeof(kernel));
      if (bytes == sizeof(kernel)) {
        reading.raw = kernel.value;
        reading.enabled_ns = kernel.enabled_ns;
        reading.running_ns = kernel.running_ns;
        reading.reason = no_value_reason(reading, counter.spec);
        if (reading.reason.empty())
          reading.value = static_cast<double>(kernel.value) * static_cast<double>(kernel.enabled_ns) /
                          static_cast<double>(kernel.running_ns);
      } else if (bytes == 0) {
        // The event is in error state: a pinned one that could not be scheduled.
        reading.reason = quoted(counter.spec.name) + " could not be kept on the PMU";
      } else {
        reading.reason = "reading " + quoted(counter.spec.name) + ": " +
                         std::generic_category().message(bytes < 0 ? errno : EIO);
      }
    }
    readings.push_back(std::move(reading));
  }
  return readings;
}

Status Session::enable() {
  for (const Counter& counter : counters_)
    if (counter.fd && perf_->enable(counter.fd.get()) != 0)
      return system_error("enable " + quoted(counter.spec.name), errno);
  return {};
}

size_t Session::open_count() const {
  size_t count = 0;
  for (const Counter& counter : counters_)
    if (counter.fd) ++count;
  return count;
}

}  // namespace stab::counters
