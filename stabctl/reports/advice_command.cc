// layout emit: what a map or a search of `explain` advises, as a file that builds obey. layout verify: what such files do, by an
// experiment of its own.
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "base/printable.h"
#include "base/shell_word.h"
#include "plan/advice/layout_file.h"
#include "plan/parse.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/plan/plan_file.h"
#include "stabctl/records/database.h"
#include "stabctl/run/run_command.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/advice_of.h"
#include "stabd/engine/results/layout_tool.h"
#include "stabd/engine/results/searched_places.h"
#include "stabd/engine/results/verification_of.h"
#include "stabd/host/installation.h"

namespace stab::ctl {
namespace {

using Files = std::vector<std::pair<std::string, advice::LayoutFile>>;

bool is_layout_file(const std::string& word) { return word.ends_with(".layout"); }

// "advised" of "/somewhere/advised.layout": what its arm is called.
std::string arm_of(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.size() - std::string_view(".layout").size());
}

Result<engine::EmittedLayout> emitted(store::Store& store, const store::ExperimentRow& row, const Arguments& arguments) {
  STAB_TRY(const std::string database, database_path(arguments));
  STAB_TRY(const host::Installation installation, host::find_installation());
  const engine::Archive archive(engine::archive_beside(database));
  const engine::LayoutTool tool = engine::layout_tool(installation, row);
  const auto wanted = arguments.slow ? layout_report::Wanted::kSlowest : layout_report::Wanted::kFastest;
  if (engine::is_search_of_places(row)) return engine::emit_searched_places(store, row, archive, tool, wanted);
  STAB_TRY(const engine::MappedExperiment mapped, engine::map_of(store, row.id, tool, archive));
  return engine::emit_layout(store, mapped, arguments.workload, wanted);
}

// A plan, and where its relative paths start.
struct Base {
  plan::Plan plan;
  std::string name, directory;
};

Result<Base> stored_base(const store::ExperimentRow& row) {
  STAB_TRY(engine::ExpandedPlan expanded, engine::expand_stored(row));
  return Base{std::move(expanded.plan), row.name, row.plan_directory};
}

int print_verification(store::Store& store, store::Id experiment, const Arguments& arguments) {
  const auto text = arguments.json ? engine::verified_json(store, experiment)
                                   : engine::verified_text(store, experiment, terminal_width());
  if (!text) return complain(text.error());
  std::fputs(text->c_str(), stdout);
  return kExitDone;
}

// The files of the command line, or what the map of one experiment advises; and the plan that builds their program.
Result<Base> base_of(store::Store& store, const Arguments& arguments, Files& files) {
  for (const std::string& word : arguments.words) {
    if (is_layout_file(word)) {
      STAB_TRY(advice::LayoutFile file, advice::read_layout_file(word));
      files.emplace_back(arm_of(word), std::move(file));
      continue;
    }
    if (arguments.words.size() > 1)
      return bad_input("'" + word + "' is no layout file: name one experiment, or files that end in .layout");
    STAB_TRY(const store::ExperimentRow row, chosen_experiment(store, word));
    STAB_TRY(engine::EmittedLayout layout, emitted(store, row, arguments));
    files.emplace_back(arguments.slow ? "slow" : "advised", std::move(layout.file));
  }
  if (!arguments.plan.empty()) return Base{};
  STAB_TRY(const store::ExperimentRow row, engine::experiment_of(store, files.front().second, arguments.words.front(),
                                                                       static_cast<int64_t>(::geteuid())));
  return stored_base(row);
}

}  // namespace

int layout_emit_command(const Arguments& arguments) {
  auto stored = open_experiment(arguments, arguments.experiment);
  if (!stored) return complain(stored.error());
  const auto layout = emitted(stored->store, stored->row, arguments);
  if (!layout) return complain(layout.error());
  for (const std::string& line : layout->left_out) std::fprintf(stderr, "left out: %s\n", printable(line).c_str());
  const std::string text = advice::text_of(layout->file);
  if (arguments.path.empty()) {
    std::fputs(text.c_str(), stdout);
    return kExitDone;
  }
  const Status written = write_whole(text, arguments.path);
  if (!written) return complain(written.error());
  const std::string file = shell_word(arguments.path);
  // A program that its user has built is verified by a plan that builds it.
  std::fprintf(stderr, "built with it: szc --stab-layout=%s; what it does: stabctl layout verify %s%s%s\n", file.c_str(),
               file.c_str(), layout->file.experiment.empty() ? " --plan PLAN" : "",
               database_option(arguments).c_str());
  return kExitDone;
}

int layout_verify_command(const Arguments& arguments) {
  if (arguments.words.size() == 1 && !is_layout_file(arguments.words[0])) {
    auto stored = open_experiment(arguments, arguments.words[0]);
    if (!stored) return complain(stored.error());
    if (engine::is_verification(stored->row)) return print_verification(stored->store, stored->row.id, arguments);
  }
  // Without --plan it is an experiment of the database that says how the program is built.
  if (arguments.plan.empty())
    if (const Status there = must_have_database(arguments); !there) return complain(there.error());
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return complain(engine.error());
  engine::VerificationRequest request{{}, arguments.links, arguments.runs, arguments.draw, arguments.simulate};
  auto base = base_of((*engine)->store(), arguments, request.files);
  if (!base) return complain(base.error());
  if (!arguments.plan.empty()) {
    PlanFile file = read_plan(arguments.plan);
    if (!file.plan) return file.exit_code;
    base = Base{*file.plan, file.plan->experiment.name, file.directory};
  }
  const auto text = engine::verification_plan(base->plan, base->name, request);
  if (!text) return complain(text.error());
  plan::Parsed parsed = plan::parse_plan(*text, base->name + " with layout files");
  if (!parsed.plan) {
    std::fputs(toml::render(parsed.errors).c_str(), stderr);
    return kExitUsage;
  }
  const auto experiment = (*engine)->submit(*parsed.plan, base->directory, ::geteuid(), ::getegid());
  if (!experiment) return complain(experiment.error());
  return run_to_end(**engine, *experiment, arguments, clock,
                    [&](store::Store& store, store::Id id) { return print_verification(store, id, arguments); });
}

}  // namespace stab::ctl
