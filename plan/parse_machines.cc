// [machines]: an experiment whose blocks run on several machines. docs/how-to/several-machines.md says what follows from it.
#include <algorithm>

#include "base/wording.h"
#include "plan/limits.h"
#include "plan/parse_parts.h"

namespace stab::plan {
namespace {

// A slot's number has three digits in the spool's file names.
constexpr int kMostSlots = 1000;

void check_same(const Machines& machines, const std::vector<SourceSpot>& spots, toml::Faults& faults) {
  std::vector<std::string_view> words;
  for (const SameFact& fact : kSameFacts) words.push_back(fact.word);
  for (size_t i = 0; i < spots.size(); ++i)
    if (std::find(words.begin(), words.end(), machines.same[i]) == words.end())
      toml::unknown_word(faults, spots[i], "fact of a machine", machines.same[i], words);
}

// Hosts become words of a command line: none may be taken for an option, or bring blanks.
void check_hosts(const Machines& machines, const std::vector<SourceSpot>& spots, toml::Faults& faults) {
  for (size_t i = 0; i < spots.size(); ++i) {
    const std::string& host = machines.hosts[i];
    const bool good = !host.empty() && host.size() <= 255 && host[0] != '-' &&
                      std::all_of(host.begin(), host.end(), [](unsigned char c) { return c > ' ' && c < 127; });
    if (!good)
      faults.error(spots[i], "host " + in_quotes(host) + " is no host's name", "write \"lab3\" or \"user@lab3.example\"");
    if (std::find(machines.hosts.begin(), machines.hosts.begin() + static_cast<ptrdiff_t>(i), host) !=
        machines.hosts.begin() + static_cast<ptrdiff_t>(i))
      faults.error(spots[i], "host " + in_quotes(host) + " is named twice", "a machine runs one slot at a time: name it once");
  }
}

}  // namespace

void parse_machines(const toml::TomlNode& table, toml::Faults& faults, Plan& plan) {
  toml::Section section(table, "[machines]", faults);
  Machines& machines = plan.machines;
  section.require("count", "add count = 4: how many machines run at a time");
  section.integer("count", 1, kMostSlots, machines.count);
  size_t engine = 0;
  const toml::TomlNode* named = section.word("engine", {"local", "ssh", "slurm"}, engine);
  machines.engine = static_cast<MachineEngineKind>(engine);
  std::vector<SourceSpot> same, hosts;
  section.texts("same", machines.same, &same);
  section.texts("hosts", machines.hosts, &hosts);
  const toml::TomlNode* command = section.texts("command", machines.command);
  section.texts("options", machines.options);
  const toml::TomlNode* spool = section.text("spool", machines.spool);
  section.text("stabctl", machines.stabctl);
  section.finish();
  check_same(machines, same, faults);
  check_hosts(machines, hosts, faults);
  const SourceSpot& engine_spot = named ? named->spot : table.spot;
  if (command && machines.command.empty())
    faults.error(command->spot, "'command' is empty", "write command = [\"ssh\", \"-p\", \"2222\"]");
  if (spool && (machines.spool.empty() || machines.spool[0] != '/'))
    faults.error(spool->spot, "spool " + in_quotes(machines.spool) + " is no absolute path",
                 "name a directory that all machines see under this path");
  if (machines.engine == MachineEngineKind::kSsh && hosts.empty())
    faults.error(engine_spot, "engine 'ssh' has no hosts", "add hosts = [\"lab1\", \"lab2\"]");
  if (machines.engine == MachineEngineKind::kSsh && !hosts.empty() && hosts.size() < static_cast<size_t>(machines.count))
    faults.error(engine_spot, std::to_string(hosts.size()) + " hosts for " + std::to_string(machines.count) + " slots",
                 "name at least as many hosts as count; more are spares");
  if (machines.engine != MachineEngineKind::kSsh && !hosts.empty())
    faults.error(hosts[0], "hosts are for engine = \"ssh\"", "drop them, or add engine = \"ssh\"");
  if (machines.engine == MachineEngineKind::kSlurm && !spool)
    faults.error(engine_spot, "engine 'slurm' has no spool", "add spool = \"/shared/stab\", a directory that all nodes see");
  if (machines.engine != MachineEngineKind::kSsh && command)
    faults.error(command->spot, "'command' is for engine = \"ssh\"", "drop it; sbatch takes options = [...]");
  if (plan.experiment.order != Order::kBlocks)
    faults.error(table.spot, "[machines] needs order = \"blocks\": a block is what runs on one machine",
                 "drop order = \"random\"");
}

}  // namespace stab::plan
