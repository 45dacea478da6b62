// Reads /proc and /sys before and after each trial. Each look costs some 100 us between trials and nothing
// while one runs. Formats: proc(5), Documentation/accounting/psi.rst, Documentation/ABI/testing/dev-kmsg.
#include "stabd/host/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <algorithm>
#include <sstream>

namespace stab::engine {
namespace {

std::optional<int64_t> read_integer(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return {};
  return to_integer(*text);
}

template <typename Parse>
auto parsed(const std::string& path, Parse parse) -> decltype(parse(std::string())) {
  const auto text = read_small_file(path);
  if (!text) return {};
  return parse(*text);
}

UniqueFd open_kernel_log(const Roots& roots) {
  UniqueFd fd(::open((roots.dev + "/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd) ::lseek(fd.get(), 0, SEEK_END);
  return fd;
}

}  // namespace

std::optional<int64_t> interrupts_of(const std::string& proc_interrupts, int cpu) {
  std::istringstream lines(proc_interrupts);
  std::string line;
  if (!std::getline(lines, line)) return {};
  // The head names the online CPUs: "CPU0 CPU1 CPU3".
  std::istringstream head(line);
  int column = -1, columns = 0;
  for (std::string word; head >> word; ++columns)
    if (word == "CPU" + std::to_string(cpu)) column = columns;
  if (column < 0) return {};

  int64_t sum = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name, word;
    words >> name;
    // "ERR:" and "MIS:" have one machine-wide figure; the others one for each CPU.
    if (name == "ERR:" || name == "MIS:") continue;
    for (int i = 0; i <= column && words >> word; ++i)
      if (i == column) sum += to_integer(word).value_or(0);
  }
  return sum;
}

std::optional<int64_t> steal_ticks_of(const std::string& proc_stat, int cpu) {
  std::istringstream lines(proc_stat);
  const std::string wanted = "cpu" + std::to_string(cpu);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name != wanted) continue;
    int64_t user, nice, system, idle, iowait, irq, softirq, steal;
    if (words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) return steal;
    return {};
  }
  return {};
}

std::optional<int64_t> pressure_total_us(const std::string& pressure) {
  std::istringstream lines(pressure);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("some ", 0) != 0) continue;
    const size_t at = line.find("total=");
    if (at == std::string::npos) return {};
    return to_integer(std::string_view(line).substr(at + 6));
  }
  return {};
}

std::optional<int64_t> vmstat_value(const std::string& vmstat, const std::string& name) {
  std::istringstream lines(vmstat);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(name + " ", 0) == 0) return to_integer(std::string_view(line).substr(name.size() + 1));
  return {};
}

std::optional<int64_t> migrations_of(const Roots& roots, int pid) {
  const auto sched = read_small_file(roots.proc + "/" + std::to_string(pid) + "/sched");
  if (!sched) return {};
  std::istringstream lines(*sched);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("se.nr_migrations", 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) return {};
    return to_integer(std::string_view(line).substr(colon + 1));
  }
  return {};
}

Ledger::Ledger(Roots roots, int cpu) : roots_(std::move(roots)), cpu_(cpu), kernel_log_(open_kernel_log(roots_)) {}

HostMoment Ledger::look() const {
  HostMoment moment;
  if (cpu_ >= 0) {
    moment.interrupts = parsed(roots_.proc + "/interrupts", [&](const std::string& t) { return interrupts_of(t, cpu_); });
    const auto ticks = parsed(roots_.proc + "/stat", [&](const std::string& t) { return steal_ticks_of(t, cpu_); });
    if (ticks) moment.steal_ns = *ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
    const std::string cpu_files = roots_.sys + "/devices/system/cpu/cpu" + std::to_string(cpu_);
    moment.throttle_count = read_integer(cpu_files + "/thermal_throttle/core_throttle_count");
    moment.frequency_khz = read_integer(cpu_files + "/cpufreq/scaling_cur_freq");
  }
  moment.psi_cpu_us = parsed(roots_.proc + "/pressure/cpu", pressure_total_us);
  moment.psi_memory_us = parsed(roots_.proc + "/pressure/memory", pressure_total_us);
  moment.psi_io_us = parsed(roots_.proc + "/pressure/io", pressure_total_us);
  if (const auto vmstat = read_small_file(roots_.proc + "/vmstat")) {
    moment.swap_in_pages = vmstat_value(*vmstat, "pswpin");
    moment.swap_out_pages = vmstat_value(*vmstat, "pswpout");
  }
  if (const auto load = read_small_file(roots_.proc + "/loadavg")) {
    std::istringstream words(*load);
    double value = 0;
    if (words >> value) moment.load_1min = value;
  }
  return moment;
}

std::optional<int64_t> Ledger::new_kernel_log_lines() {
  if (!kernel_log_) return {};
  int64_t lines = 0;
  char record[8192];
  // One read is one record; EPIPE says that some were overwritten, which is a line too.
  for (;;) {
    const ssize_t got = ::read(kernel_log_.get(), record, sizeof record);
    if (got > 0 || (got < 0 && errno == EPIPE)) {
      ++lines;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return lines;
  }
}

std::map<std::string, double> Ledger::between(const HostMoment& before, const HostMoment& after) {
  std::map<std::string, double> ledger;
  const auto delta = [&](const char* key, const std::optional<int64_t>& from, const std::optional<int64_t>& to) {
    if (from && to) ledger[key] = static_cast<double>(*to - *from);
  };
  delta("interrupts", before.interrupts, after.interrupts);
  delta("steal_ns", before.steal_ns, after.steal_ns);
  delta("throttle_count", before.throttle_count, after.throttle_count);
  delta("psi_cpu_us", before.psi_cpu_us, after.psi_cpu_us);
  delta("psi_memory_us", before.psi_memory_us, after.psi_memory_us);
  delta("psi_io_us", before.psi_io_us, after.psi_io_us);
  delta("swap_in_pages", before.swap_in_pages, after.swap_in_pages);
  delta("swap_out_pages", before.swap_out_pages, after.swap_out_pages);
  if (before.frequency_khz && after.frequency_khz) {
    const auto [low, high] = std::minmax(*before.frequency_khz, *after.frequency_khz);
    ledger["frequency_min_khz"] = static_cast<double>(low);
    ledger["frequency_max_khz"] = static_cast<double>(high);
  }
  if (after.load_1min) ledger["load_1min"] = *after.load_1min;
  return ledger;
}

}  // namespace stab::engine
