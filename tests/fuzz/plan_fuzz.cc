// Whatever text comes in: no crash, no hang, and one of two answers. A plan with no errors can be checked,
// scheduled and shown; a text with errors gives places inside the text and nothing that a terminal obeys.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plan/check.h"
#include "plan/limits.h"
#include "plan/parse.h"
#include "plan/size.h"

namespace {

using namespace stab::plan;

void demand(bool condition) {
  if (!condition) std::abort();
}

void check_fault(const stab::toml::Diagnostic& fault) {
  demand(!fault.message.empty());
  for (char c : render(fault)) demand(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
}

// Small enough to expand within a fuzzer's patience.
bool is_small(const Plan& plan, const Design& design) {
  const double passes = static_cast<double>(counter_passes(plan.counters).size());
  return static_cast<double>(design.cells.size()) * static_cast<double>(subjects(plan).size()) *
             plan.experiment.replicates * plan.experiment.runs_per_seed * passes * (plan.link.seeds + 1) <
         20000;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Parsed parsed = parse_plan(text, "fuzz.toml");
  demand(parsed.plan.has_value() == parsed.errors.empty());
  for (const stab::toml::Diagnostic& fault : parsed.errors) check_fault(fault);
  for (const stab::toml::Diagnostic& fault : parsed.warnings) check_fault(fault);
  for (const auto* faults : {&parsed.errors, &parsed.warnings}) demand(faults->size() <= 21);
  if (!parsed.plan) return 0;
  demand(crossing_of(*parsed.plan) <= kMaxCrossing);
  const auto design = make_design(*parsed.plan);
  demand(design.ok() && check_trials(*parsed.plan, *design).ok());
  if (!is_small(*parsed.plan, *design)) return 0;
  const BuildSet builds = make_builds(*parsed.plan, *design);
  const Schedule schedule = make_schedule(*parsed.plan, *design);
  demand(schedule.trials.size() == trials_of(*parsed.plan, *design));
  for (const PlannedTrial& trial : schedule.trials) {
    const Subject subject = subjects(*parsed.plan)[trial.subject];
    demand(builds.of(subject.program, static_cast<int>(trial.cell), trial.link) >= 0);
  }
  const auto report = check_plan(*parsed.plan);
  demand(report.ok());
  demand(!render(*report, *parsed.plan).empty());
  return 0;
}
