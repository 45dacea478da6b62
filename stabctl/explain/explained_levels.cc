// The experiment's own plan says how its levels are built, run and given their inputs, so it is asked again with other factors;
// the lab finds the builds by what goes into them. What the recorded builds were is noted, and compared before anything is
// measured: what was changed since is another program.
#include "stabctl/explain/explained_levels.h"

#include <unistd.h>

#include <cstdio>

#include "base/printable.h"
#include "base/shell_word.h"
#include "base/wording.h"
#include "plan/toml/toml_text.h"
#include "stabctl/plan/workload_text.h"
#include "stabctl/records/database.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/expand.h"

namespace stab::ctl {
namespace {

// The recorded experiment, and what of it is explained.
struct Recorded {
  store::ExperimentRow row;
  engine::ExpandedPlan expanded;
  plan::Subject workload;
  size_t factor = 0;
  std::string name;  // "experiment 3"

  const plan::Program& program() const { return expanded.program_of(workload.program); }
};

Status may_run(const store::ExperimentRow& row, const engine::ExpandedPlan& expanded, const std::string& name) {
  const auto own = static_cast<int64_t>(::geteuid());
  if (row.submitter_uid != own)
    return bad_input(name + " is user " + std::to_string(row.submitter_uid) + "'s, and its programs would run as user " +
                     std::to_string(own) + "; let its user explain it, or take it over: 'stabctl bundle'");
  const plan::LayoutMapping& layout = expanded.plan.layout;
  if (layout.replay || layout.confirms || layout.verification)
    return bad_input(name + " was written by the lab; name the experiment that it was made from");
  return {};
}

Result<size_t> treatment_named(const Recorded& of, const std::string& word) {
  std::vector<std::string> known;
  const std::vector<plan::Factor>& factors = of.expanded.plan.factors;
  for (size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].kind != plan::FactorKind::kTreatment) continue;
    if (factors[f].name == word) return f;
    known.push_back(factors[f].name);
  }
  if (known.empty())
    return bad_input(of.name +
                     " has no treatment: its builds differ by nothing but their layout, and explain is about two builds");
  if (of.expanded.plan.factor_index(word) >= 0)
    return bad_input(in_quotes(word) + " of " + of.name +
                     " is a factor of the layout, which explain draws itself; name a treatment; " +
                     what_there_is(word, known));
  return bad_input(of.name + " has no treatment " + in_quotes(word) + "; " + what_there_is(word, known));
}

Result<size_t> level_named(const Recorded& of, const std::string& word) {
  const plan::Factor& factor = of.expanded.plan.factors[of.factor];
  std::vector<std::string> known;
  for (size_t level = 0; level < factor.levels.size(); ++level) {
    if (factor.levels[level].name == word) return level;
    known.push_back(factor.levels[level].name);
  }
  return bad_input(in_quotes(factor.name) + " of " + of.name + " has no level " + in_quotes(word) + "; " +
                   what_there_is(word, known));
}

// A cell of this level, with the baselines of the other treatments.
const plan::Cell* cell_of(const Recorded& of, size_t level) {
  for (const plan::Cell& cell : of.expanded.design.cells) {
    bool fits = true;
    for (size_t f = 0; f < of.expanded.plan.factors.size(); ++f) {
      const auto wanted = static_cast<int>(f == of.factor ? level : 0);
      if (of.expanded.plan.factors[f].kind == plan::FactorKind::kTreatment) fits = fits && cell.levels[f] == wanted;
    }
    // Of cells that were linked anew there is none as the build links it by itself.
    if (fits && of.expanded.builds.of(of.workload.program, cell.index, 0) >= 0) return &cell;
  }
  return nullptr;
}

Result<RecordedBuild> recorded_build(store::Store& store, const Recorded& of, size_t level, const plan::Cell& cell) {
  const int index = of.expanded.builds.of(of.workload.program, cell.index, 0);
  const std::string shown =
      of.expanded.plan.factors[of.factor].name + "=" + of.expanded.plan.factors[of.factor].levels[level].name;
  STAB_TRY(const std::vector<store::BuildRow> rows, store.builds(of.row.id));
  for (const store::BuildRow& row : rows) {
    if (row.index != index || row.state != store::BuildState::kDone || row.binary_sha256.empty()) continue;
    // What is known of a build is the file that its program's first workload runs.
    const auto file = [&](size_t workload) {
      return plan::substitute(of.program().workloads[workload].run, of.expanded.plan, cell, 0).argv[0];
    };
    const bool is_known = file(0) == file(static_cast<size_t>(of.workload.workload));
    return RecordedBuild{shown, row.input_hash, is_known ? row.binary_sha256 : std::string()};
  }
  return bad_input(of.name + " has no build of " + shown + ": it ended before that was made; 'stabctl logs " +
                   std::to_string(of.row.id) + "' says why");
}

// What helps where the builds are no longer what they were. Programs that need nothing beside them are kept in the archive.
std::string cure_of_change(const Recorded& of, const std::string& database, const RecordedBuild& older,
                           const RecordedBuild& newer, const plan::Cell& cell) {
  const engine::Archive archive(engine::archive_beside(database));
  const plan::Workload& workload = of.program().workloads[static_cast<size_t>(of.workload.workload)];
  const auto old_file = archive.find(older.sha256), new_file = archive.find(newer.sha256);
  if (!old_file || !new_file || !of.program().inputs.empty() || !workload.inputs.empty() || !workload.stdin_path.empty())
    return "restore what they are made from, or run the plan again and explain that";
  std::string command = "stabctl explain " + shell_word(*old_file) + " " + shell_word(*new_file);
  const plan::Command run = plan::substitute(workload.run, of.expanded.plan, cell, 0);
  for (size_t i = 1; i < run.argv.size(); ++i) command += (i == 1 ? " -- " : " ") + shell_word(run.argv[i]);
  return "of what was measured there are copies: " + command;
}

// Other treatments stay at their baselines.
std::string fixed_levels(const Recorded& of) {
  std::string out;
  for (size_t f = 0; f < of.expanded.plan.factors.size(); ++f) {
    const plan::Factor& factor = of.expanded.plan.factors[f];
    if (factor.kind != plan::FactorKind::kTreatment || f == of.factor) continue;
    const plan::Level& level = factor.levels[0];
    out += toml::toml_text(factor.name) + " = [" + level_text(level.name, level.value) + "]\n";
    if (factor.levels.size() > 1)
      std::fprintf(stderr, "note: %s is %s, its baseline in %s\n", printable(factor.name).c_str(), printable(level.name).c_str(),
                   of.name.c_str());
  }
  return out;
}

}  // namespace

Result<ExplainedSides> sides_of_levels(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  STAB_CHECK_OK(must_have_database(arguments));
  STAB_TRY(store::Store store, open_for_reading(arguments));
  Recorded of;
  STAB_TRY(of.row, chosen_experiment(store, words[0]));
  of.name = "experiment " + std::to_string(of.row.id);
  STAB_TRY(of.expanded, engine::expand_stored(of.row));
  STAB_CHECK_OK(may_run(of.row, of.expanded, of.name));
  STAB_TRY(of.factor, treatment_named(of, words[1]));
  STAB_TRY(const size_t older, level_named(of, words[2]));
  STAB_TRY(const size_t newer, level_named(of, words[3]));
  if (older == newer)
    return bad_input("both sides are level " + in_quotes(words[2]) + "; name two levels of " + in_quotes(words[1]));
  STAB_TRY(of.workload, chosen_workload(of.expanded.plan, arguments.workload, of.name));
  STAB_CHECK_OK(may_be_explained(of.expanded.plan, of.workload, of.name));
  const plan::Cell *old_cell = cell_of(of, older), *new_cell = cell_of(of, newer);
  if (old_cell == nullptr || new_cell == nullptr)
    return bad_input(
        of.name + " has no build of " + in_quotes(old_cell == nullptr ? words[2] : words[3]) +
        " as its build links it: its cells are relinked or left out; run the plan without 'link', or with as_linked = true");
  if (of.expanded.builds.of(of.workload.program, old_cell->index, 0) ==
      of.expanded.builds.of(of.workload.program, new_cell->index, 0))
    return bad_input("both levels of " + in_quotes(words[1]) +
                     " run one build, whose functions have one place, so what they differ by "
                     "is no matter of places; 'stabctl report " +
                     std::to_string(of.row.id) + "' says how much it is");

  ExplainedSides out;
  out.are_built_here = true;
  out.wall_command = "a plan with blocks = \"in turn\" and response = \"wall_time\" compares wall time";
  out.cure = "let the plan build it with szc (make CC=szc CXX=szc++), run that, and explain it then";
  STAB_TRY(RecordedBuild old_build, recorded_build(store, of, older, *old_cell));
  STAB_TRY(RecordedBuild new_build, recorded_build(store, of, newer, *new_cell));
  STAB_TRY(const std::string database, database_path(arguments));
  out.cure_of_change = cure_of_change(of, database, old_build, new_build, *new_cell);
  out.old_name = old_build.shown;
  out.new_name = new_build.shown;
  out.recorded = {std::move(old_build), std::move(new_build)};
  const plan::Factor& factor = of.expanded.plan.factors[of.factor];
  out.builds.name = experiment_name_of(of.row.name);
  out.builds.factor = factor.name;
  out.builds.old_level = level_text(factor.levels[older].name, factor.levels[older].value);
  out.builds.new_level = level_text(factor.levels[newer].name, factor.levels[newer].value);
  out.builds.fixed = fixed_levels(of);
  STAB_TRY(out.builds.text, text_of_workload(of.row.plan_text, of.expanded.plan, of.workload));
  out.builds.text_name = of.row.plan_path;
  out.builds.directory = of.row.plan_directory;
  out.builds.margin = of.expanded.plan.experiment.margin;
  return out;
}

}  // namespace stab::ctl
