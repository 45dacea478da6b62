// What is opened for a trial, and what its readings mean. Nothing is read while a trial runs.
//
// A counter that can't be had gives NULL and a reason, never 0: a zero would be averaged.
#include "counters/counting_session.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/wording.h"

namespace stab::counters {
namespace {

std::string no_value_reason(const Reading& reading, const EventSpec& spec) {
  if (reading.enabled_ns == 0) return "counting never began: the program did not reach its exec";
  if (reading.running_ns == 0 && spec.hardware)
    return in_quotes(spec.name) + " never got a register of the PMU; list fewer events or set counters.sharing = \"passes\"";
  if (reading.running_ns == 0) return in_quotes(spec.name) + " was enabled but never ran";
  return {};
}

}  // namespace

std::string why_unavailable(const EventSpec& spec, PerfCalls& perf) {
  const Session session = Session::open(::getpid(), {spec}, -1, perf);
  return session.open_count() == 1 ? std::string() : session.read().front().reason;
}

std::string refusal(const EventSpec& spec, int errno_value, int paranoid) {
  const std::string name = in_quotes(spec.name);
  switch (errno_value) {
    case EACCES:
    case EPERM: {
      // Level 2 still allows a user to count his own processes in user mode, 1 in the kernel too. The kernel says EACCES where
      // the level is the reason; EPERM is what filters of system calls say.
      const int wanted = spec.scope.kernel ? 1 : 2;
      if (errno_value == EACCES && paranoid > wanted)
        return "kernel.perf_event_paranoid is " + std::to_string(paranoid) + ", " + name + " needs <= " +
               std::to_string(wanted) + " or CAP_PERFMON; set it with sysctl" +
               (spec.scope.kernel && paranoid <= 2 ? ", or set counters.kernel = false" : "");
      return name + " is denied whatever perf_event_paranoid is (here " + std::to_string(paranoid) +
             "): a container's seccomp filter blocks perf_event_open, or the process belongs to another user";
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

Session Session::open(pid_t pid, const std::vector<EventSpec>& specs, int cpu, PerfCalls& perf, Grouping grouping) {
  Session session;
  session.perf_ = &perf;
  std::vector<PerfEvent> wanted;
  for (const EventSpec& spec : specs)
    if (spec.available) wanted.push_back({spec, grouping == Grouping::kTogether && spec.hardware});
  std::vector<OpenedEvent> opened = perf.open_all(pid, cpu, wanted);
  auto next = opened.begin();
  for (const EventSpec& spec : specs) {
    Counter counter{spec, UniqueFd(), spec.available ? std::string() : spec.reason};
    if (spec.available && next != opened.end()) {
      counter.fd = std::move(next->fd);
      if (!counter.fd) counter.reason = refusal(spec, next->refused, perf.paranoid_level());
      ++next;
    }
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
        reading.reason = in_quotes(counter.spec.name) + " could not be kept on the PMU";
      } else {
        reading.reason =
            "reading " + in_quotes(counter.spec.name) + ": " + std::generic_category().message(bytes < 0 ? errno : EIO);
      }
    }
    readings.push_back(std::move(reading));
  }
  return readings;
}

Status Session::enable() {
  for (const Counter& counter : counters_)
    if (counter.fd && perf_->enable(counter.fd.get()) != 0) return system_error("enable " + in_quotes(counter.spec.name), errno);
  return {};
}

size_t Session::open_count() const {
  size_t count = 0;
  for (const Counter& counter : counters_)
    if (counter.fd) ++count;
  return count;
}

}  // namespace stab::counters
