// Stored whenever an experiment begins or goes on. Times of two machines, kernels or microcodes are never comparable, and a
// month later nobody remembers which one it was.
#include "stabd/engine/machine/facts.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "base/cpu_model.h"
#include "base/version.h"

namespace stab::engine {
namespace {

// "microcode	: 0xffffffff" of the first processor.
std::string cpuinfo_field(const std::string& cpuinfo, const std::string& field) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(field, 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

// What all CPUs' policies of frequency say, each word once: "performance", or "performance schedutil".
std::string of_policies(const host::Roots& roots, const char* file) {
  std::set<std::string> words;
  std::error_code code;
  const std::filesystem::directory_iterator policies(roots.sys + "/devices/system/cpu/cpufreq", code), end;
  for (auto policy = policies; !code && policy != end; policy.increment(code))
    if (const auto word = host::read_small_file(policy->path().string() + "/" + file)) words.insert(*word);
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::map<std::string, std::string> host_facts(const host::Roots& roots) {
  std::map<std::string, std::string> facts;
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts[name] = value;
  };
  if (const auto cpuinfo = host::read_small_file(roots.proc + "/cpuinfo")) {
    put("cpu.model", cpu_model_of(*cpuinfo));
    put("cpu.microcode", cpuinfo_field(*cpuinfo, "microcode"));
  }
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    put("kernel.release", kernel.release);
    put("kernel.version", kernel.version);
    put("machine", kernel.machine);
    put("host.name", kernel.nodename);
  }
  put("kernel.cmdline", host::read_small_file(roots.proc + "/cmdline").value_or(""));
  put("kernel.clocksource",
      host::read_small_file(roots.sys + "/devices/system/clocksource/clocksource0/current_clocksource").value_or(""));
  put("cpu.online", host::read_small_file(roots.sys + "/devices/system/cpu/online").value_or(""));
  put("cpu.governor", of_policies(roots, "scaling_governor"));
  put("cpu.frequency_driver", of_policies(roots, "scaling_driver"));
  put("cpu.boost", host::read_small_file(roots.sys + "/devices/system/cpu/cpufreq/boost").value_or(""));
  put("cpu.no_turbo", host::read_small_file(roots.sys + "/devices/system/cpu/intel_pstate/no_turbo").value_or(""));
  put("cpu.smt", host::read_small_file(roots.sys + "/devices/system/cpu/smt/active").value_or(""));
  put("libc", gnu_get_libc_version());
  put("stab.version", std::string(version()));
  put("memory", first_line(host::read_small_file(roots.proc + "/meminfo").value_or("")));
  put("thp", host::read_small_file(roots.sys + "/kernel/mm/transparent_hugepage/enabled").value_or(""));
  put("aslr", host::read_small_file(roots.proc + "/sys/kernel/randomize_va_space").value_or(""));
  put("perf_event_paranoid", host::read_small_file(roots.proc + "/sys/kernel/perf_event_paranoid").value_or(""));
  return facts;
}

}  // namespace stab::engine
