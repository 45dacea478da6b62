// Stored once an experiment begins. Times of two machines, kernels or microcodes are never comparable, and a
// month later nobody remembers which one it was.
#include "engine/machine/facts.h"

#include <sys/utsname.h>

#include <sstream>

namespace stab::engine {
namespace {

// "model name	: Some CPU" of the first processor.
std::string cpuinfo_field(const std::string& cpuinfo, const std::string& field) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(field, 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::map<std::string, std::string> host_facts(const Roots& roots) {
  std::map<std::string, std::string> facts;
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts[name] = value;
  };
  if (const auto cpuinfo = read_small_file(roots.proc + "/cpuinfo")) {
    put("cpu.model", cpuinfo_field(*cpuinfo, "model name"));
    put("cpu.microcode", cpuinfo_field(*cpuinfo, "microcode"));
  }
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    put("kernel.release", kernel.release);
    put("kernel.version", kernel.version);
    put("machine", kernel.machine);
    put("host.name", kernel.nodename);
  }
  put("kernel.cmdline", read_small_file(roots.proc + "/cmdline").value_or(""));
  put("kernel.clocksource",
      read_small_file(roots.sys + "/devices/system/clocksource/clocksource0/current_clocksource").value_or(""));
  put("cpu.online", read_small_file(roots.sys + "/devices/system/cpu/online").value_or(""));
  put("cpu.smt", read_small_file(roots.sys + "/devices/system/cpu/smt/active").value_or(""));
  put("memory", first_line(read_small_file(roots.proc + "/meminfo").value_or("")));
  put("thp", read_small_file(roots.sys + "/kernel/mm/transparent_hugepage/enabled").value_or(""));
  put("aslr", read_small_file(roots.proc + "/sys/kernel/randomize_va_space").value_or(""));
  put("perf_event_paranoid", read_small_file(roots.proc + "/sys/kernel/perf_event_paranoid").value_or(""));
  return facts;
}

}  // namespace stab::engine
