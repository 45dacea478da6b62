// However the sides are named, they become two levels of a treatment and the text of one program. What revisions run is said by
// the gate's file, or by --build and the words behind --.
#include "stabctl/explain/explained_sides.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "base/absolute_path.h"
#include "base/architecture.h"
#include "base/number_text.h"
#include "base/own_libraries.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/split.h"
#include "base/wording.h"
#include "plan/toml/toml_text.h"
#include "stabctl/command_line/exit_statuses.h"
#include "stabctl/explain/explained_levels.h"
#include "stabctl/plan/measured_command.h"
#include "stabctl/plan/workload_text.h"
#include "stabctl/revisions/built_revisions.h"
#include "stabctl/revisions/gate_file.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabctl/sides/measured_runs.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/build/szc_program.h"
#include "stabd/host/installation.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;

// Behind the name of a program's copy: the folder of the libraries that were copied, too.
constexpr char kLibraries[] = ".libraries";
// The same: what it finds from the folder in which it is started.
constexpr char kHere[] = ".here";
constexpr char kPrograms[] = "stabctl explain ./old ./new -- ARGUMENTS";

bool is_there(const std::string& word) {
  std::error_code error;
  return fs::exists(word, error);
}

// Of words that name neither.
Error wrong_words(const std::vector<std::string>& words) {
  if (words.size() == 1 && is_there(words[0]))
    return bad_input("one side is missing: " + in_quotes(words[0]) + " is compared with nothing; write " + kPrograms);
  if (words.size() == 1)
    return bad_input(in_quotes(words[0]) + " is no range of revisions; write BASE..HEAD, or two programs: " + kPrograms);
  if (words.size() == 3 && words[0].find('/') == std::string::npos && !is_there(words[0]))
    return bad_input("an experiment stands before its factor: stabctl explain EXPERIMENT " + shell_word(words[0]) + " " +
                     shell_word(words[1]) + " " + shell_word(words[2]));
  std::string better = "stabctl explain " + shell_word(words[0]) + " " + shell_word(words[1]) + " --";
  for (size_t i = 2; i < words.size(); ++i) better += " " + shell_word(words[i]);
  return bad_input("explain takes two sides, and " + in_quotes(words[2]) +
                   " is a third; arguments of both come behind --: " + better);
}

Status without_options(const Arguments& arguments, const char* what) {
  for (const auto& [value, name] : {std::pair{&arguments.plan, "--plan"}, std::pair{&arguments.workload, "--workload"}})
    if (!value->empty()) return bad_input(std::string(name) + " is about a file of the gate's, and " + what + "; leave it out");
  return {};
}

// --- two programs ----------------------------------------------------------------------------------------------------------

// A full disk is said to be an error of input and output.
Error not_copied(const std::string& from, const std::string& folder, const std::error_code& failed) {
  std::error_code unknown;
  const uintmax_t bytes = fs::file_size(from, unknown);
  const fs::space_info space = fs::space(folder, unknown);
  const std::string what = "copy " + in_quotes(from) + " to " + in_quotes(folder);
  if (unknown || space.available >= bytes) return system_error(what, failed.value());
  return {ErrorCode::kSystem,
          what + ": no space is left there: the copy needs " + std::to_string((bytes >> 10) + 1) + " KiB, and " +
              std::to_string(space.available >> 10) + " KiB are free; set TMPDIR to a folder with space",
          {}};
}

// Of programs that work where their user stands.
Result<std::string> cure_of_failure(const std::vector<std::string>& words) {
  std::string out =
      "explain runs programs in a folder of their own, where files of this folder, and those beside the program but for its "
      "libraries, are not; name a file behind --, or by its whole path; 'stabctl compare' runs programs where you stand";
  for (const std::string& word : words) {
    const Result<std::string> passed = passed_word(word);
    if (!passed) return passed.error();
    if (word.starts_with('/') || *passed == word) continue;
    out += "\n" + in_quotes(word) + " was passed as " + in_quotes(*passed) + ", as it names a file here";
  }
  return out;
}

// The libraries that a program finds from the folder in which it is started, in `to`.here as they lie in the one where we stand.
// The names in there: what a run's folder needs.
Status copy_libraries_of_here(const std::string& from, const std::string& to, const std::string& search_path,
                              const std::string& here, std::set<std::string>& in_folder) {
  STAB_TRY(const std::vector<std::string> names, libraries_of_working_folder(from, search_path, here));
  for (const std::string& name : names) {
    const fs::path below = fs::path(name).lexically_normal(), library = fs::path(here) / name,
                   copy = fs::path(to + kHere) / below;
    if (*below.begin() == "..")
      return bad_input(
          in_quotes(from) + " needs the library " + in_quotes(name) +
          ", by a path from the folder where it is started, and explain runs it in a folder of its own; link it by -L and "
          "-l, with -Wl,-rpath");
    std::error_code failed;
    if (!fs::exists(library, failed)) continue;  // the loader says it better
    fs::create_directories(copy.parent_path(), failed);
    if (!failed) fs::copy_file(library, copy, fs::copy_options::skip_existing, failed);
    if (failed) return not_copied(library, fs::path(to).parent_path(), failed);
    in_folder.insert(below.begin()->string());
  }
  return {};
}

// A plan's inputs are those of all its levels: what one side does not need is an empty file there.
Result<std::string> line_of_inputs(const std::vector<std::string>& copies, const std::set<std::string>& in_folder) {
  std::string all;
  for (const std::string& name : in_folder) {
    for (const std::string& copy : copies) {
      const fs::path path = fs::path(copy + kHere) / name;
      std::error_code failed;
      if (fs::exists(path, failed)) continue;
      fs::create_directories(path.parent_path(), failed);
      if (failed) return system_error("make " + in_quotes(path.parent_path().string()), failed.value());
      STAB_CHECK_OK(write_whole("", path.string()));
    }
    all += (all.empty() ? "" : ", ") + toml::toml_text(std::string("{build}") + kHere + "/" + without_placeholders(name));
  }
  return all.empty() ? all : "inputs = [" + all + "]\n";
}

// To a place of its own: what was built from this path before is another program, and who builds it again meanwhile does not
// exchange what is measured. So are the libraries that it would not find from there, in `to`.libraries.
Status copy_program(const std::string& from, const std::string& to, const std::string& search_path, const std::string& here) {
  const std::string folder = fs::path(to).parent_path();
  std::error_code failed;
  fs::copy_file(from, to, failed);
  if (failed) return not_copied(from, folder, failed);
  if (!searches_beside_itself(from)) return {};
  STAB_TRY(const std::vector<std::string> libraries, own_libraries(from, search_path, here));
  const std::string beside = to + kLibraries;
  fs::create_directory(beside, failed);
  for (const std::string& library : libraries) {
    const std::string copy = beside + "/" + fs::path(library).filename().string();
    if (!failed) fs::copy_file(library, copy, fs::copy_options::skip_existing, failed);
    if (failed) return not_copied(library, folder, failed);
  }
  return {};
}

// Where a program's libraries are, as a line of a plan: a copy's, and those of the variable here, whose folders may be named as
// they are from here. Empty: nowhere in particular.
std::string line_of_libraries(bool are_copied, const std::string& search_path, const std::string& here) {
  std::string all = are_copied ? std::string("{build}") + kLibraries : "";
  for (const std::string_view folder : search_path.empty() ? std::vector<std::string_view>() : split(search_path, ':'))
    all += (all.empty() ? "" : ":") + without_placeholders((fs::path(here) / folder).string());
  return all.empty() ? all : "env = { LD_LIBRARY_PATH = " + toml::toml_text(all) + " }\n";
}

void note_folders(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (is_folders_name(word))
      std::fprintf(stderr, "note: %s names a folder here, and is passed as it is; for the folder write %s\n",
                   printable(in_quotes(word)).c_str(), printable(in_quotes("./" + word)).c_str());
}

Result<ExplainedSides> sides_of_programs(const Arguments& arguments) {
  STAB_CHECK_OK(without_options(arguments, "two programs need none"));
  const std::string &older = arguments.words[0], &newer = arguments.words[1];
  STAB_TRY(const std::string here, absolute_path("."));
  if (!is_there(older) && !is_there(newer)) {
    const auto revisions = revisions_of(older, newer, false);
    if (revisions)
      return bad_input("there are no programs " + in_quotes(older) + " and " + in_quotes(newer) +
                       "; of two revisions write: stabctl explain " + shell_word(older + ".." + newer));
    // Such as HEAD~1, where a shallow clone lacks it.
    if ((older + newer).find_first_of("~^") != std::string::npos) return revisions.error();
  }
  ExplainedSides out;
  out.wall_command =
      "stabctl compare " + shell_word(older) + " " + shell_word(newer) + question_options(arguments) +
      " compares wall time";
  // Nobody knows how they were built, so whoever builds one with the file names it.
  const std::string options = question_options(arguments);
  out.verify_command = [older, newer, options](bool is_new) {
    const std::string& program = is_new ? newer : older;
    return "stabctl explain " + shell_word(program) + " " + shell_word(program + ".placed") + options;
  };
  out.cure = "build both with szc or szc++ (make CC=szc CXX=szc++); 'stabctl compare' tells whether they differ at all";
  STAB_TRY(const host::Installation installation, host::find_installation());
  store::ExperimentRow self;
  self.submitter_uid = ::geteuid();
  self.submitter_gid = ::getegid();
  for (const std::string& path : {older, newer}) {
    STAB_CHECK_OK(check_program(path));
    STAB_CHECK_OK(must_move(path, in_quotes(path), out.cure, engine::layout_tool(installation, self)));
  }
  STAB_TRY(TemporaryFolder folder, TemporaryFolder::make(TemporaryPurpose::kExplain));
  const std::string old_copy = folder.path() + "/old", new_copy = folder.path() + "/new", search_path = library_path();
  std::set<std::string> in_folder;
  for (const auto& [from, to] : {std::pair{&older, &old_copy}, std::pair{&newer, &new_copy}}) {
    STAB_CHECK_OK(copy_program(*from, *to, search_path, here));
    STAB_CHECK_OK(copy_libraries_of_here(*from, *to, search_path, here, in_folder));
  }
  STAB_TRY(const std::string inputs, line_of_inputs({old_copy, new_copy}, in_folder));
  const bool has_libraries = is_there(old_copy + kLibraries) || is_there(new_copy + kLibraries);
  out.copies.emplace(std::move(folder));
  STAB_TRY(const std::vector<int> exit, exit_statuses(arguments.exit));
  STAB_TRY(out.cure_of_failure, cure_of_failure(arguments.behind));
  note_folders(arguments.behind);
  if (arguments.input.empty()) note_unread_input();
  STAB_TRY(const std::string input, input_of(arguments));
  STAB_TRY(out.builds, builds_of_programs(newer, old_copy, new_copy, arguments.behind, exit,
                                          lines_of_runs(input, arguments.prepare, here) + inputs +
                                              line_of_libraries(has_libraries, search_path, here)));
  out.builds.share_prepared_folder = !arguments.prepare.empty();
  if (out.builds.share_prepared_folder)
    std::fputs("note: runs follow each other, as --prepare readies this folder for one of them; in time slices fewer would do\n",
               stderr);
  out.old_name = older;
  out.new_name = newer;
  return out;
}

// --- two revisions ---------------------------------------------------------------------------------------------------------

ExplainedSides sides_of(const Revisions& revisions) {
  ExplainedSides out;
  out.are_built_here = true;
  out.builds.old_level = level_text("old", revisions.base);
  out.builds.new_level = level_text("new", revisions.head);
  out.builds.directory = revisions.root;
  out.old_name = shown_revision(revisions.base_name, revisions.base);
  out.new_name = shown_revision(revisions.head_name, revisions.head);
  return out;
}

std::string name_of(const std::string& name, const std::string& commit) {
  return name.empty() ? commit.substr(0, kShownCommit) : name;
}

// By --build and what is behind --.
Result<ExplainedSides> sides_of_build(const Arguments& arguments) {
  STAB_CHECK_OK(without_options(arguments, "--build says what it would"));
  if (arguments.words.size() > 2) return wrong_words(arguments.words);
  const bool is_range = arguments.words.size() == 1;
  if (arguments.behind.empty())
    return bad_input(
        "--build needs the program that is run, behind --: stabctl explain main..HEAD --build 'make CC=szc' -- ./bench 20");
  STAB_TRY(const Revisions revisions,
           is_range ? revisions_of(arguments.words[0]) : revisions_of(arguments.words[0], arguments.words[1], false));
  if (!is_range) note_uncommitted_changes(revisions.root);
  AdHocPlan plan;
  STAB_TRY(plan.exit, exit_statuses(arguments.exit));
  STAB_TRY(plan.input, input_of(arguments));
  plan.prepare = arguments.prepare;
  STAB_CHECK_OK(build_revisions({revisions}, arguments.build, arguments.behind, plan));
  ExplainedSides out = sides_of(revisions);
  out.wall_command = "stabctl compare " + shell_word(name_of(revisions.base_name, revisions.base)) + " " +
                     shell_word(name_of(revisions.head_name, revisions.head)) + question_options(arguments) +
                     " compares wall time";
  out.cure = "let --build use it, such as --build 'make CC=szc CXX=szc++'";
  out.builds.name = plan.name;
  out.builds.factor = kSideFactor;
  out.builds.text = program_text_of(plan);
  return out;
}

// By the gate's file.
Result<ExplainedSides> sides_of_gate(const Arguments& arguments) {
  const std::string by_build = "stabctl explain " + shell_word(arguments.words[0]) + " --build 'make CC=szc' -- ./bench";
  if (!arguments.behind.empty()) return words_without_build(by_build);
  STAB_TRY(const Revisions revisions, revisions_of(arguments.words[0]));
  STAB_CHECK_OK(must_have_gate(revisions, arguments, by_build));
  STAB_TRY(const GatePrograms gate, gate_programs_of(revisions, arguments));
  const std::string file = arguments.plan.empty() ? "stab-gate.toml" : arguments.plan;
  STAB_TRY(const plan::Subject subject, chosen_workload(gate.plan, arguments.workload, file));
  const plan::Program& program = gate.plan.programs[static_cast<size_t>(subject.program)];
  ExplainedSides out = sides_of(revisions);
  STAB_TRY(out.builds.text, text_of_workload(gate.text, gate.plan, subject));
  STAB_CHECK_OK(may_be_explained(gate.plan, subject, file));
  out.wall_command = "stabctl gate " + shell_word(arguments.words[0]) + option("--plan", arguments.plan) +
                     " compares wall time where a program waits";
  out.cure = "let its 'build' in " + file + " use it, such as build = \"make CC=szc CXX=szc++\"";
  out.builds.name = experiment_name_of(program.name);
  out.builds.factor = "revision";
  out.builds.text_name = file;
  out.builds.margin = gate.margin;
  return out;
}

Result<ExplainedSides> sides_by_words(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  if (!arguments.build.empty()) return sides_of_build(arguments);
  if (!arguments.exit.empty() && words.size() != 2)
    return bad_input(
        "--exit is about programs of a command line; here the plan says how runs may end: expect = { exit = [0, 1] }");
  if (words.size() != 2 && !(arguments.input.empty() && arguments.prepare.empty()))
    return bad_input(
        "--input and --prepare are about programs of a command line; here the plan says it: stdin = \"FILE\", prepare = "
        "\"COMMAND\"");
  if (words.size() == 1 && words[0].find("..") != std::string::npos && !is_there(words[0])) return sides_of_gate(arguments);
  if (words.size() == 2) return sides_of_programs(arguments);
  if (words.size() == 4) {
    if (arguments.behind.empty() && arguments.plan.empty()) return sides_of_levels(arguments);
    return bad_input("what levels of a recorded experiment run is said by its plan; leave out --plan and what is behind --");
  }
  return wrong_words(words);
}

}  // namespace

Status may_be_explained(const plan::Plan& plan, const plan::Subject& subject, const std::string& where) {
  const plan::Program& program = plan.programs[static_cast<size_t>(subject.program)];
  const auto refused = [&](const std::string& why) { return bad_input(in_quotes(subject.name) + " of " + where + " " + why); };
  if (plan.counters.simulation.on())
    return refused(
        "is simulated, and explain compares CPU time, which a simulator has none of; name a file without 'simulate': --plan "
        "FILE");
  if (program.workloads[static_cast<size_t>(subject.workload)].metrics)
    return refused(
        "measures itself, and may do more work the faster it is, so its CPU time says nothing of its speed; give it a "
        "workload without metrics, of a fixed amount of work");
  if (!program.layout_script.empty())
    return refused("has a layout_script, and explain puts functions elsewhere itself; leave the script out");
  return {};
}

Status must_move(const std::string& path, const std::string& shown, const std::string& cure, const engine::LayoutTool& tool) {
  STAB_TRY(const std::string whole, absolute_path(path));
  const Result<std::string> rows = tool.match({whole, false});
  if (rows) return {};
  if (rows.error().code != ErrorCode::kCorrupt) return rows.error();
  if (engine::szc_program(whole).rewritten)
    return bad_input(shown +
                     " was rewritten by llvm-bolt, so none of its functions can be put elsewhere, and code can't be told "
                     "from place; a plan with link = { seeds = 10 } compares ten links, where each is rewritten anew");
  return bad_input(
      shown + " was not built by szc, so none of its functions can be put elsewhere, and code can't be told from place; " + cure);
}

std::string typed_explain(const Arguments& arguments) {
  std::string out = "stabctl explain";
  for (const std::string& word : arguments.words) out += " " + shell_word(word);
  return out + (arguments.simulate ? " --simulate" : "") + question_options(arguments);
}

Result<ExplainedSides> explained_sides(const Arguments& arguments) {
  STAB_CHECK_OK(check_layouts());
  STAB_TRY(ExplainedSides out, sides_by_words(arguments));
  out.command = typed_explain(arguments);
  out.builds.seed = seed_of_now();
  if (arguments.margin) out.builds.margin = *arguments.margin;
  return out;
}

}  // namespace stab::ctl
