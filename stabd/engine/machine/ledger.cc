// Reads /proc and /sys before and after each trial, through descriptors that stay open. Each look costs some
// 100 us between trials and nothing while one runs. Formats: proc(5), Documentation/accounting/psi.rst,
// Documentation/ABI/testing/dev-kmsg.
#include "stabd/engine/machine/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

namespace stab::engine {
namespace {

std::string_view next_line(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

bool is_blank(char character) { return character == ' ' || character == '\t'; }

// Empty at the end of the line. By hand: find_first_of calls memchr for every character, and /proc/interrupts is long.
std::string_view next_word(std::string_view& line) {
  size_t start = 0;
  while (start < line.size() && is_blank(line[start])) ++start;
  size_t end = start;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

UniqueFd open_kernel_log(const host::Roots& roots) {
  UniqueFd fd(::open((roots.dev + "/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd) ::lseek(fd.get(), 0, SEEK_END);
  return fd;
}

}  // namespace

std::optional<int64_t> interrupts_of(std::string_view proc_interrupts, int cpu) {
  // The head names the online CPUs: "CPU0 CPU1 CPU3".
  std::string_view head = next_line(proc_interrupts);
  const std::string wanted = "CPU" + std::to_string(cpu);
  int column = -1, columns = 0;
  for (std::string_view word = next_word(head); !word.empty(); word = next_word(head), ++columns)
    if (word == wanted) column = columns;
  if (column < 0) return {};

  int64_t sum = 0;
  while (!proc_interrupts.empty()) {
    std::string_view line = next_line(proc_interrupts);
    const std::string_view name = next_word(line);
    // "ERR:" and "MIS:" have one machine-wide figure; the others one for each CPU.
    if (name == "ERR:" || name == "MIS:") continue;
    std::string_view word;
    for (int i = 0; i <= column; ++i) word = next_word(line);
    sum += host::to_integer(word).value_or(0);
  }
  return sum;
}

std::optional<int64_t> steal_ticks_of(std::string_view proc_stat, int cpu) {
  const std::string wanted = "cpu" + std::to_string(cpu);
  while (!proc_stat.empty()) {
    std::string_view line = next_line(proc_stat);
    if (next_word(line) != wanted) continue;
    // user nice system idle iowait irq softirq steal
    std::string_view word;
    for (int i = 0; i < 8; ++i) word = next_word(line);
    return host::to_integer(word);
  }
  return {};
}

std::optional<int64_t> pressure_total_us(std::string_view pressure) {
  while (!pressure.empty()) {
    const std::string_view line = next_line(pressure);
    if (!line.starts_with("some ")) continue;
    const size_t at = line.find("total=");
    if (at == std::string_view::npos) return {};
    return host::to_integer(line.substr(at + 6));
  }
  return {};
}

std::optional<int64_t> vmstat_value(std::string_view vmstat, std::string_view name) {
  const std::string wanted = std::string(name) + ' ';
  for (size_t at = vmstat.find(wanted); at != std::string_view::npos; at = vmstat.find(wanted, at + 1)) {
    if (at > 0 && vmstat[at - 1] != '\n') continue;
    std::string_view rest = vmstat.substr(at + wanted.size());
    return host::to_integer(next_line(rest));
  }
  return {};
}

std::optional<int64_t> migrations_of(const host::Roots& roots, int pid) {
  const auto sched = host::read_small_file(roots.proc + "/" + std::to_string(pid) + "/sched");
  if (!sched) return {};
  std::string_view rest = *sched;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (!line.starts_with("se.nr_migrations")) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return {};
    return host::to_integer(line.substr(colon + 1));
  }
  return {};
}

std::optional<ScheduledTime> scheduled_time_of(const host::Roots& roots, int pid) {
  const auto text = host::read_small_file(roots.proc + "/" + std::to_string(pid) + "/schedstat");
  if (!text) return {};
  std::string_view rest = *text;  // time on a CPU, time in the queue, slices
  const auto on_cpu = host::to_integer(next_word(rest)), delay = host::to_integer(next_word(rest));
  if (!on_cpu || !delay) return {};
  return ScheduledTime{*on_cpu, *delay};
}

Ledger::WatchedFile::WatchedFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

std::optional<std::string_view> Ledger::WatchedFile::read(std::string& buffer) const {
  if (!fd_) return {};
  if (buffer.empty()) buffer.resize(16384);
  size_t length = 0;
  for (;;) {
    const ssize_t got = ::pread(fd_.get(), buffer.data() + length, buffer.size() - length, static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    length += static_cast<size_t>(got);
    if (got == 0) return std::string_view(buffer.data(), length);
    if (length == buffer.size()) buffer.resize(2 * buffer.size());
  }
}

Ledger::Ledger(const host::Roots& roots, int cpu, UniqueFd kernel_log)
    : cpu_(cpu),
      kernel_log_(kernel_log ? std::move(kernel_log) : open_kernel_log(roots)),
      psi_cpu_(roots.proc + "/pressure/cpu"),
      psi_memory_(roots.proc + "/pressure/memory"),
      psi_io_(roots.proc + "/pressure/io"),
      vmstat_(roots.proc + "/vmstat"),
      loadavg_(roots.proc + "/loadavg") {
  if (cpu < 0) return;
  interrupts_ = WatchedFile(roots.proc + "/interrupts");
  stat_ = WatchedFile(roots.proc + "/stat");
  const std::string cpu_files = roots.sys + "/devices/system/cpu/cpu" + std::to_string(cpu);
  throttle_count_ = WatchedFile(cpu_files + "/thermal_throttle/core_throttle_count");
  frequency_ = WatchedFile(cpu_files + "/cpufreq/scaling_cur_freq");
}

HostMoment Ledger::look() {
  HostMoment moment;
  if (const auto text = interrupts_.read(buffer_)) moment.interrupts = interrupts_of(*text, cpu_);
  if (const auto text = stat_.read(buffer_)) {
    if (const auto ticks = steal_ticks_of(*text, cpu_)) moment.steal_ns = *ticks * (1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  }
  if (const auto text = throttle_count_.read(buffer_)) moment.throttle_count = host::to_integer(*text);
  if (const auto text = frequency_.read(buffer_)) moment.frequency_khz = host::to_integer(*text);
  if (const auto text = psi_cpu_.read(buffer_)) moment.psi_cpu_us = pressure_total_us(*text);
  if (const auto text = psi_memory_.read(buffer_)) moment.psi_memory_us = pressure_total_us(*text);
  if (const auto text = psi_io_.read(buffer_)) moment.psi_io_us = pressure_total_us(*text);
  if (const auto text = vmstat_.read(buffer_)) {
    moment.swap_in_pages = vmstat_value(*text, "pswpin");
    moment.swap_out_pages = vmstat_value(*text, "pswpout");
    moment.memory_kills = vmstat_value(*text, "oom_kill");
  }
  if (const auto text = loadavg_.read(buffer_)) {
    double value = 0;
    if (std::from_chars(text->data(), text->data() + text->size(), value).ec == std::errc()) moment.load_1min = value;
  }
  memory_kills_ = moment.memory_kills;
  return moment;
}

std::string Ledger::memory_kills_since_look() {
  const auto text = vmstat_.read(buffer_);
  return memory_kills_text(memory_kills_, text ? vmstat_value(*text, "oom_kill") : std::nullopt);
}

// Which ones is in the kernel's log alone, so no more is said than that.
std::string memory_kills_text(const std::optional<int64_t>& before, const std::optional<int64_t>& after) {
  if (!before || !after || *after <= *before) return {};
  const int64_t kills = *after - *before;
  return "; the kernel has killed " + std::to_string(kills) + (kills == 1 ? " process" : " processes") +
         " of this machine for memory meanwhile, which its log names";
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
