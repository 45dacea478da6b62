// layout map: which functions' places make a program's time vary; of an experiment, or of a plan, which is run first.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/printable.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/plan/plan_file.h"
#include "stabctl/records/database.h"
#include "stabctl/records/layout_maps.h"
#include "stabctl/run/run_command.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/engine/results/map_of.h"

namespace stab::ctl {
namespace {

bool names_plan(const std::string& word) { return word.ends_with(".toml"); }

bool is_plan(const std::string& word) {
  struct stat status {};
  return names_plan(word) && ::stat(word.c_str(), &status) == 0;
}

// A plan's name that is no file's may be an experiment's; where it isn't, the file is what was meant.
Error with_plan(Error error, const std::string& word) {
  if (names_plan(word) && error.code == ErrorCode::kNotFound)
    error.message = "there is no plan '" + word + "', and " + error.message;
  return error;
}

int print_map(store::Store& store, store::Id experiment, const Arguments& arguments) {
  const auto mapped = mapped_by(store, experiment, arguments);
  if (!mapped) return complain(mapped.error());
  const std::string text =
      arguments.json ? engine::json_of(*mapped) : printable(engine::text_of(*mapped, terminal_width()));
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

}  // namespace

int layout_map_command(const Arguments& arguments) {
  if (!is_plan(arguments.experiment)) {
    auto stored = open_experiment(arguments, arguments.experiment);
    if (!stored) return complain(with_plan(stored.error(), arguments.experiment));
    return print_map(stored->store, stored->row.id, arguments);
  }
  const PlanFile file = read_plan(arguments.experiment);
  if (!file.plan) return file.exit_code;
  if (!file.plan->layout.map)
    return complain(bad_input("plan '" + arguments.experiment + "' asks for no map; write map = true under [layout]"));
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  const auto experiment = (*engine)->submit(*file.plan, file.directory, ::geteuid(), ::getegid());
  if (!experiment) return complain(experiment.error());
  const int code = run_to_end(**engine, *experiment, arguments, clock, [](store::Store&, store::Id) { return kExitDone; });
  return code != kExitDone ? code : print_map((*engine)->store(), *experiment, arguments);
}

}  // namespace stab::ctl
