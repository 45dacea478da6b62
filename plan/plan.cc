// What can be asked of a parsed plan. Parsing is in parse.cc and the parse_*.cc files it calls.
#include "plan/plan.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace stab::plan {

int Plan::factor_index(std::string_view name) const {
  for (size_t i = 0; i < factors.size(); ++i)
    if (factors[i].name == name) return static_cast<int>(i);
  return -1;
}

const Factor* Plan::factor_of(FactorKind kind) const {
  for (const Factor& factor : factors)
    if (factor.kind == kind) return &factor;
  return nullptr;
}

Factor* Plan::factor_of(FactorKind kind) { return const_cast<Factor*>(std::as_const(*this).factor_of(kind)); }

std::string_view progress_point(std::string_view response) {
  for (const std::string_view prefix : {kProgressPrefix, kProgressCpuPrefix})
    if (response.starts_with(prefix)) return response.substr(prefix.size());
  return {};
}

std::vector<std::string> Plan::throughputs() const {
  std::vector<std::string> names;
  for (const Response& response : experiment.responses)
    if (!progress_point(response.name).empty()) names.push_back(response.name);
  return names;
}

bool Plan::has_response(std::string_view name) const {
  for (const Response& response : experiment.responses)
    if (response.name == name) return true;
  return false;
}

std::vector<Subject> subjects(const Plan& plan) {
  std::vector<Subject> out;
  for (size_t p = 0; p < plan.programs.size(); ++p) {
    const Program& program = plan.programs[p];
    for (size_t w = 0; w < program.workloads.size(); ++w) {
      const std::string& workload = program.workloads[w].name;
      const bool alone = program.workloads.size() == 1 && workload == program.name;
      out.push_back({static_cast<int>(p), static_cast<int>(w),
                     alone ? program.name : program.name + "/" + workload});
    }
  }
  return out;
}

std::string input_name(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  return std::filesystem::path(path.substr(0, last + 1)).filename();
}

bool excludes(const ExclusionRule& rule, double ledger_value) {
  switch (rule.comparison) {
    case Comparison::kLess: return ledger_value < rule.value;
    case Comparison::kLessEqual: return ledger_value <= rule.value;
    case Comparison::kEqual: return ledger_value == rule.value;
    case Comparison::kNotEqual: return ledger_value != rule.value;
    case Comparison::kGreaterEqual: return ledger_value >= rule.value;
    case Comparison::kGreater: return ledger_value > rule.value;
  }
  return false;
}

std::string Metrics::family_of(const std::string& benchmark) const {
  // "test_sort[8]" is itself, though as a pattern it is "test_sort8".
  for (const Family& family : families)
    if (std::find(family.patterns.begin(), family.patterns.end(), benchmark) != family.patterns.end()) return family.name;
  for (const Family& family : families)
    for (const std::string& pattern : family.patterns)
      if (::fnmatch(pattern.c_str(), benchmark.c_str(), 0) == 0) return family.name;
  return {};
}

std::vector<Metrics::Unasked> Metrics::unasked(const std::set<std::string>& benchmarks) const {
  std::vector<Unasked> out;
  for (const Family& family : families)
    for (const std::string& pattern : family.patterns)
      if (!benchmarks.contains(pattern) && std::none_of(benchmarks.begin(), benchmarks.end(), [&](const std::string& benchmark) {
            return ::fnmatch(pattern.c_str(), benchmark.c_str(), 0) == 0;
          }))
        out.push_back({family.name, pattern});
  return out;
}

}  // namespace stab::plan
