// [counters] simulate, [counters.cache] and [counters.cost], and what does not go together with a simulated trial.
#include "plan/design.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

constexpr double kMaxWeight = 1e6;

void parse_cache(toml::Section& caches, std::string_view name, CacheShape& out) {
  const toml::TomlNode* node = caches.table(name);
  if (node == nullptr) return;
  toml::Section section(*node, std::string(name), caches.faults());
  const size_t before = caches.faults().error_count();
  const char* example = "write { size = \"32KiB\", ways = 8, line = 64 }";
  for (const char* key : {"size", "ways", "line"}) section.require(key, example);
  CacheShape shape;
  section.bytes("size", uint64_t{16}, shape.bytes);
  section.integer("ways", 1, 1024, shape.ways);
  section.integer("line", 16, 4096, shape.line_bytes);
  section.finish();
  if (caches.faults().error_count() > before) return;
  if (const std::string why = why_no_cache(shape); !why.empty())
    return caches.faults().error(node->spot, "cache " + std::string(name) + " has " + why, example);
  out = shape;
}

}  // namespace

void parse_simulation(toml::Section& counters, Plan& plan) {
  Simulation& simulation = plan.counters.simulation;
  toml::Faults& faults = counters.faults();
  size_t simulator = 0;
  const toml::TomlNode* simulate = counters.word("simulate", {"cachegrind"}, simulator);
  const toml::TomlNode* cache = counters.table("cache");
  const toml::TomlNode* cost = counters.table("cost");
  if (simulate != nullptr) simulation.simulator = Simulator::kCachegrind;
  if (cache != nullptr) {
    toml::Section section(*cache, "[counters.cache]", faults);
    parse_cache(section, "I1", simulation.i1);
    parse_cache(section, "D1", simulation.d1);
    parse_cache(section, "LL", simulation.ll);
    section.finish();
  }
  if (cost != nullptr) {
    toml::Section section(*cost, "[counters.cost]", faults);
    section.number("miss", 0, kMaxWeight, simulation.weights.miss);
    section.number("last_level_miss", 0, kMaxWeight, simulation.weights.last_level_miss);
    section.number("misprediction", 0, kMaxWeight, simulation.weights.misprediction);
    section.finish();
  }
  for (const toml::TomlNode* node : {cache, cost})
    if (node != nullptr && simulate == nullptr)
      faults.error(node->spot, "a cache or a cost is of a simulated trial", "write simulate = \"cachegrind\" below [counters]");
  if (simulate != nullptr && !plan.counters.events.empty())
    faults.error(plan.counters.spots.empty() ? simulate->spot : plan.counters.spots.front(),
                 "events are the machine's, and a simulated trial would count its simulator's",
                 "leave events out, or simulate in a plan of its own");
}

void check_simulation(toml::Faults& faults, const Plan& plan) {
  if (!plan.counters.simulation.on()) return;
  const Factor* epoch = plan.factor_of(FactorKind::kEpoch);
  const std::string hint = "write epoch = { visits = 1000 } and visits in the program (stab_visit, szc --stab-visit=FUNCTION)";
  if (epoch != nullptr)
    for (const Level& level : epoch->levels)
      if (!level.value.starts_with(kVisitsMark))
        faults.error(epoch->spot, "epoch '" + level.name + "' is a time, and a simulated trial's is its simulator's", hint);
  if (const Factor* code = plan.factor_of(FactorKind::kCode); code != nullptr && epoch == nullptr)
    for (const Level& level : code->levels)
      if (abi::has_layouts(code_mode(level.value)))
        faults.error(code->spot,
                     "code '" + level.name + "' changes with its epoch, and the plan has none that a simulated trial keeps",
                     hint + ", or code = [\"once\"]");
  for (const Program& program : plan.programs)
    for (const Workload& workload : program.workloads)
      if (workload.metrics)
        faults.error(workload.spot,
                     "metrics are times that a program has measured, and in a simulated trial they are its simulator's",
                     "leave metrics out, or simulate in a plan of its own");
}

}  // namespace stab::plan
