// export FORMAT: an experiment in the files of other tools (analysis/commands/imports/tool_formats.h). It reads the database
// and changes nothing.
#include <cstdio>
#include <ctime>

#include "analysis/commands/imports/tool_formats.h"
#include "base/version.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/records/report_text.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

// "2026-11-22T09:30:00+00:00"; empty: never.
std::string iso_time(int64_t realtime_ns) {
  if (realtime_ns == 0) return {};
  const std::time_t seconds = realtime_ns / 1'000'000'000;
  std::tm utc{};
  char text[40];
  if (!::gmtime_r(&seconds, &utc) || std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &utc) == 0) return {};
  return text;
}

Result<std::map<uint32_t, double>> values_of(store::Store& store, store::Id experiment, const char* response) {
  STAB_TRY(const std::vector<store::SampleRow> rows, store.samples(experiment, response));
  std::map<uint32_t, double> values;
  for (const store::SampleRow& row : rows)
    if (row.value) values.emplace(row.order, *row.value);
  return values;
}

Result<commands::ToolContext> context_of(store::Store& store, const store::ExperimentRow& experiment,
                                         const std::string& revision) {
  commands::ToolContext context;
  STAB_TRY(context.machine_facts, store.host_facts(experiment.id));
  if (const auto name = context.machine_facts.find("host.name"); name != context.machine_facts.end())
    context.machine = name->second;
  context.experiment = printable(experiment.name);
  context.started = iso_time(experiment.submitted_at_ns);
  context.finished = iso_time(experiment.finished_at_ns);
  context.revision = revision;
  context.version = version();
  STAB_TRY(const auto user, values_of(store, experiment.id, "user_time"));
  STAB_TRY(const auto system, values_of(store, experiment.id, "system_time"));
  for (const auto& [order, user_s] : user)
    if (const auto at = system.find(order); at != system.end()) context.cpu[order] = {user_s, at->second};
  return context;
}

Result<commands::CommandOutput> exported(store::Store& store, const store::ExperimentRow& experiment,
                                         const Arguments& arguments) {
  STAB_TRY(const report::Samples samples, engine::load_samples(store, experiment));
  STAB_TRY(const commands::ToolContext context, context_of(store, experiment, arguments.revision));
  return commands::export_for_tool(arguments.format, samples, context);
}

}  // namespace

int export_command(const Arguments& arguments) {
  auto stored = open_experiment(arguments, arguments.experiment);
  if (!stored) return complain(stored.error());
  auto output = exported(stored->store, stored->row, arguments);
  if (!output) return complain(output.error());
  if (arguments.path.empty()) return print(*output);
  if (const Status written = write_whole(output->out, arguments.path); !written) return complain(written.error());
  output->out.clear();
  return print(*output);
}

}  // namespace stab::ctl
