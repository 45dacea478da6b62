// The factor load: multiples of the rate at which tasks arrive. docs/how-to/find-the-line.md says what it does to a program.
#include <cmath>

#include "base/number_text.h"
#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

using Kind = toml::TomlNode::Kind;

constexpr double kMostLoad = 100;  // the runtime's bound (runtime/causal/causal_abi.h)

}  // namespace

bool parse_load_level(const toml::TomlNode& node, toml::Faults& faults, Level& level) {
  const bool is_number = node.kind == Kind::kInteger || node.kind == Kind::kFloat;
  if (!is_number) {
    faults.error(node.spot, "a level of 'load' is " + std::string(toml::kind_name(node.kind)) + ", expected a number",
                 "multiples of the arrival rate: load = [1, 1.5, 2, 3]");
    return false;
  }
  const double load = node.kind == Kind::kInteger ? static_cast<double>(node.integer) : node.number;
  if (!(load >= 1)) {
    faults.error(node.spot, "load " + number_text(load) + " is below 1: arrivals can be made denser, not rarer",
                 "let what drives the program send less, so that load 1 is the smallest of interest");
    return false;
  }
  if (load > kMostLoad) {
    faults.error(node.spot, "load " + number_text(load) + " is above " + number_text(kMostLoad));
    return false;
  }
  const double permille = std::round(load * 1000);
  if (std::fabs(load * 1000 - permille) > 1e-6) {
    faults.error(node.spot, "load " + number_text(load) + " has more than 3 digits after the point");
    return false;
  }
  level = {number_text(load), std::to_string(static_cast<uint32_t>(permille))};
  return true;
}

void check_load(toml::Faults& faults, const Plan& plan, const SourceSpot& causal_spot) {
  const int index = plan.factor_index(kLoadFactor);
  if (index < 0) {
    if (!plan.causal) return;
    if (plan.causal->candidates == 0)
      faults.error(causal_spot, "candidates = 0, and there is no factor load: nothing would be tried",
                   "write candidates = 20 for lines, or load = [1, 1.5, 2, 3] below [factors]");
    if (!plan.causal->arrival.empty() || plan.causal->closed)
      faults.error(causal_spot, "arrival and closed need the factor load, which the plan doesn't have",
                   "write load = [1, 1.5, 2, 3] below [factors], or drop them");
    return;
  }
  const Factor& load = plan.factors[static_cast<size_t>(index)];
  if (!plan.causal) {
    faults.error(load.spot, "the factor load needs [causal]: its trials run with the library that amplifies arrivals",
                 "add [causal] with candidates = 0; a treatment of your own needs another name");
    return;
  }
  const Causal& causal = *plan.causal;
  if (load.levels.front().value != "1000")
    faults.error(load.spot, "the first level of load is " + load.levels.front().name + ", and has to be 1",
                 "all others are compared with load 1: load = [1, 1.5, 2, 3]");
  for (size_t i = 1; i < load.levels.size(); ++i)
    if (std::stoul(load.levels[i].value) < std::stoul(load.levels[i - 1].value))
      faults.error(load.spot, "the levels of load do not ascend: " + load.levels[i].name + " after " + load.levels[i - 1].name);
  if (causal.candidates > 0)
    faults.error(causal_spot, "the factor load and lines to speed up together: under a load no line is sped up",
                 "write candidates = 0 below [causal], and profile lines by a plan without load");
  if (causal.experiments == Causal::Experiments::kTrials)
    faults.error(causal_spot, "the factor load and experiments = \"trials\" together: throughput under a load is that of windows",
                 "drop experiments");
  if (causal.pauses != Causal::Pauses::kAuto)
    faults.error(causal_spot, "the factor load and pauses together: a load has a clock of its own", "drop pauses");
  if (causal.blocked_io || causal.blocked_sleep || causal.blocked_lock)
    faults.error(causal_spot, "the factor load and blocked together: waits are slower with everything else", "drop blocked");
}

}  // namespace stab::plan
