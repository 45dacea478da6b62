// The default leaves a tenth of the memory to the daemon, its broker and the kernel: with less, the machine has none left
// before the trial has met its limit, and then the kernel chooses who dies. 4096 processes and threads are more than
// programs have that are measured, and an eighth of the numbers that the smallest machine has for all (pid_max).
#include "stabd/engine/machine/trial_limits.h"

#include <algorithm>
#include <sstream>

#include "plan/check.h"

namespace stab::engine {
namespace {

std::string count_of(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string limit_text(uint64_t set, const std::string& words, bool is_plans, const std::string& why_not) {
  if (!why_not.empty()) return "not set: " + why_not;
  if (set == 0) return "none";
  return words + (is_plans ? ", as the plan wants" : ", the lab's");
}

std::string raise_text(const char* key, bool is_plans) {
  const std::string name(key);
  return is_plans ? "raise " + name + " in [limits] of the plan"
                  : "an administrator can raise " + name + " in [limits] of stabd.toml";
}

}  // namespace

host::TreeLimits default_limits(const host::Roots& roots) {
  host::TreeLimits limits;
  limits.processes = kDefaultProcesses;
  // "MemTotal:       24606976 kB"
  std::istringstream words(host::read_small_file(roots.proc + "/meminfo").value_or(""));
  std::string name;
  uint64_t kib = 0;
  if (words >> name >> kib && name == "MemTotal:") limits.memory_bytes = kib * 1024 / 10 * 9;
  return limits;
}

Status check_within(const plan::Limits& wanted, const host::TreeLimits& most) {
  if (most.memory_bytes > 0 && wanted.memory_bytes > most.memory_bytes)
    return bad_input("the plan wants " + host::bytes_text(wanted.memory_bytes) +
                     " of memory for a trial, and this lab's may use at most " + host::bytes_text(most.memory_bytes) +
                     "; lower memory in [limits] of the plan, or leave it out");
  if (most.processes > 0 && static_cast<uint64_t>(wanted.processes) > most.processes)
    return bad_input("the plan wants " + std::to_string(wanted.processes) +
                     " processes for a trial, and this lab's may have at most " + std::to_string(most.processes) +
                     "; lower processes in [limits] of the plan, or leave it out");
  return {};
}

Status check_timeouts(const plan::Plan& plan, std::chrono::nanoseconds longest) {
  if (longest.count() == 0) return {};
  const auto check = [&](const char* key, const std::string& of, std::chrono::nanoseconds wanted) -> Status {
    if (wanted <= longest) return {};
    return bad_input("'" + std::string(key) + "' of '" + of + "' is " + plan::duration_text(wanted) +
                     ", and in this lab nothing may have the machine at a stretch for more than " + plan::duration_text(longest) +
                     "; lower it, or an administrator can raise timeout in [limits] of stabd.toml");
  };
  for (const plan::Program& program : plan.programs) {
    STAB_CHECK_OK(check("build_timeout", program.name, program.build_timeout));
    for (const plan::Workload& workload : program.workloads) STAB_CHECK_OK(check("timeout", workload.name, workload.timeout));
  }
  return {};
}

TrialLimits settle_limits(const plan::Limits& wanted, const host::TreeLimits& most, const std::string& why_no_memory,
                          const std::string& why_no_processes) {
  TrialLimits limits;
  limits.plans = wanted;
  const auto settle = [](uint64_t of_plan, uint64_t of_lab, const std::string& why_not, uint64_t& trials, uint64_t& commands) {
    if (!why_not.empty()) return of_plan > 0 || of_lab > 0 ? why_not : std::string();
    trials = of_plan > 0 && of_lab > 0 ? std::min(of_plan, of_lab) : std::max(of_plan, of_lab);
    commands = of_lab;
    return std::string();
  };
  limits.no_memory = settle(wanted.memory_bytes, most.memory_bytes, why_no_memory, limits.trials.memory_bytes,
                            limits.commands.memory_bytes);
  limits.no_processes = settle(static_cast<uint64_t>(wanted.processes), most.processes, why_no_processes, limits.trials.processes,
                               limits.commands.processes);
  return limits;
}

std::string why_not_limited(const TrialLimits& limits) {
  const bool no_memory = limits.plans.memory_bytes > 0 && !limits.no_memory.empty();
  const bool no_processes = limits.plans.processes > 0 && !limits.no_processes.empty();
  if (!no_memory && !no_processes) return {};
  return std::string("the plan limits a trial's ") + (no_memory ? "memory" : "processes") + ", and here that can't be set: " +
         (no_memory ? limits.no_memory : limits.no_processes) + "; take it out of [limits], or see 'stabctl doctor'";
}

std::string memory_limit_text(const TrialLimits& limits) {
  return limit_text(limits.trials.memory_bytes, host::bytes_text(limits.trials.memory_bytes), limits.plans.memory_bytes > 0,
                    limits.no_memory);
}

std::string process_limit_text(const TrialLimits& limits) {
  return limit_text(limits.trials.processes, std::to_string(limits.trials.processes), limits.plans.processes > 0,
                    limits.no_processes);
}

std::string memory_kill_text(const TrialLimits& limits) {
  return "killed for memory: all processes of the trial together may use at most " +
         host::bytes_text(limits.trials.memory_bytes) + ", with what they have in files in memory; " +
         raise_text("memory", limits.plans.memory_bytes > 0) + ", or have it use less";
}

std::string outside_kill_text() {
  return "killed for memory, though it kept its limit: the machine, or the group of all that the lab runs, had no more; the "
         "kernel's log says what used it";
}

std::string refused_processes_text(const host::LimitHits& hits, const TrialLimits& limits) {
  if (hits.refused_processes == 0) return {};
  return "it was refused new processes or threads " + count_of(hits.refused_processes, "time", "times") +
         ": a trial may have at most " + std::to_string(limits.trials.processes) + "; " +
         raise_text("processes", limits.plans.processes > 0);
}

}  // namespace stab::engine
