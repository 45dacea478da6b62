// bisect GOOD..BAD: which commit made it slower? Each comparison is a gate of its own, over random layouts; the search is
// analysis/commands/bisect/bisection.cc.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>

#include "analysis/commands/bisect/bisect.h"
#include "analysis/page/bisect_page.h"
#include "base/shell_word.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/explain/explained_libraries.h"
#include "stabctl/gate/asked_places.h"
#include "stabctl/gate/bisect_state.h"
#include "stabctl/revisions/gate_file.h"
#include "stabctl/revisions/gate_start.h"
#include "stabctl/revisions/git.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/run/run_command.h"
#include "stabctl/sides/measured_runs.h"
#include "stabctl/sides/recorded_sides.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

using commands::Bisection;
using commands::BisectCommit;
using commands::BisectQuestion;
using commands::BisectStep;
using commands::CommitFinding;
using commands::GateQuestion;

constexpr double kAlpha = 0.01;  // of a search

// Good, and what follows it on the way to bad: of merges the first parent, so that each commit is one step of the branch.
Result<std::vector<BisectCommit>> commits_of(const Revisions& revisions) {
  // Hashes have no tab in them. What git says of signatures, where the user wants to see that, has lines of its own.
  STAB_TRY(const std::string lines, git({"log", "--no-show-signature", "--first-parent", "--reverse", "--format=%H %P%x09%s",
                                         "--end-of-options", revisions.base + ".." + revisions.head}));
  std::vector<BisectCommit> out = {{revisions.base, ""}};
  STAB_TRY(out[0].subject, git({"log", "--no-show-signature", "-1", "--format=%s", "--end-of-options", revisions.base}));
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string line = lines.substr(at, end - at);
    const size_t tab = std::min(line.find('\t'), line.size());
    const bool is_merge = std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(tab), ' ') > 1;
    out.push_back({line.substr(0, line.find(' ')), line.substr(std::min(tab + 1, line.size())), is_merge});
    at = end + 1;
  }
  if (out.size() < 2) return bad_input("no commit lies between " + revisions.base.substr(0, kShownCommit) + " and " +
                                       revisions.head.substr(0, kShownCommit) + "; write GOOD..BAD, the older one first");
  return out;
}

// What was compared at the endpoints is what the search is about.
const GateQuestion* question_of(const std::vector<GateQuestion>& questions, const BisectStep* first) {
  if (questions.empty()) return nullptr;
  if (first == nullptr || first->response.empty()) return &questions.front();
  for (const GateQuestion& one : questions)
    if (one.workload == first->workload && one.response == first->response) return &one;
  return nullptr;
}

// What both ends run is the same, byte for byte, and so are the libraries that they bring along.
Result<bool> is_one_program(store::Store& store, const store::ExperimentRow& row, const plan::Plan& plan,
                            const DifferencesByWorkload& differ) {
  const std::vector<plan::Subject> subjects = plan::subjects(plan);
  const bool is_one_file = plan.programs.size() == 1 && std::all_of(subjects.begin(), subjects.end(), [&](const auto& subject) {
    const auto found = differ.find(subject.name);
    return found != differ.end() && found->second.same_file;
  });
  if (!is_one_file) return false;
  STAB_TRY(const LibrariesOfSides libraries, libraries_of_sides(store, row));
  return are_same_files(libraries);
}

// One comparison after the other, on one engine. Those that an earlier run of the search made are taken from its state.
class Comparisons {
 public:
  Comparisons(const Arguments& arguments, const Revisions& revisions, Bisection& search, BisectState& state,
              engine::Engine& engine, const Clock& clock, CaughtInterrupts& caught, engine::StopSignal& stop,
              std::chrono::nanoseconds budget)
      : arguments_(arguments), revisions_(revisions), search_(search), state_(state), engine_(engine), clock_(clock),
        caught_(caught), stop_(stop), has_budget_(budget.count() > 0), deadline_(clock.monotonic_raw() + budget) {}

  // What explain says of the places of the ends, once the search has found that none of the commits is slower.
  Status ask_places(const PlacesByWorkload& places);

  // Nothing: the run was stopped, which `unfinished` of the search says. The next run goes on with the comparison's experiment.
  Result<std::optional<BisectStep>> compare(const BisectQuestion& question);
  const ToldNotes& told() const { return told_; }

 private:
  Result<std::optional<BisectStep>> measure(const BisectQuestion& asked);
  Result<StartedGate> start(const BisectQuestion& asked, const Revisions& pair, const GateFile& file, const GateChanges& changes,
                            Budget& limit);
  Result<StartedGate> start_and_choose(const Revisions& pair, const GateFile& file, const GateChanges& changes, Budget& limit);
  Status note_begun(const BisectQuestion& asked, store::Id experiment);
  Budget left() const;
  std::optional<BisectStep> stopped(const Budget& limit);

  const Arguments& arguments_;
  const Revisions& revisions_;
  Bisection& search_;
  BisectState& state_;
  engine::Engine& engine_;
  const Clock& clock_;
  CaughtInterrupts& caught_;
  engine::StopSignal& stop_;
  ToldNotes told_;
  bool has_budget_;
  std::chrono::nanoseconds deadline_;
};

Result<std::optional<BisectStep>> Comparisons::compare(const BisectQuestion& question) {
  const size_t number = search_.steps.size();
  if (number < state_.steps().size()) {
    const BisectStep& kept = state_.steps()[number];
    if (kept.position == question.position && kept.against == question.against && kept.faster == question.faster &&
        kept.may_name == question.may_name)
      return std::optional(kept);
    return bad_input("the search that was interrupted asked otherwise; remove '" + state_.folder() + "', and it begins again");
  }
  if (!arguments_.quiet) {
    std::fprintf(stderr, "comparison %zu: is %s %s than %s? %zu commit%s left\n", number + 1,
                 search_.commits[question.position].hash.substr(0, kShownCommit).c_str(), question.faster ? "faster" : "slower",
                 search_.commits[question.against].hash.substr(0, kShownCommit).c_str(), question.left,
                 question.left == 1 ? "" : "s");
  }
  STAB_TRY(auto step, measure(question));
  if (!step) return step;
  step->position = question.position;
  step->against = question.against;
  step->faster = question.faster;
  step->may_name = question.may_name;
  STAB_CHECK_OK(state_.add(*step));
  return step;
}

// As the notes of a search name it, wherever the next run stands.
std::string path_of_database(const Arguments& arguments) {
  return std::filesystem::absolute(arguments.database).lexically_normal();
}

// The one that an earlier run of the search began and did not end, or a new one.
Result<StartedGate> Comparisons::start(const BisectQuestion& asked, const Revisions& pair, const GateFile& file,
                                       const GateChanges& changes, Budget& limit) {
  const std::string database = path_of_database(arguments_);
  if (const auto& begun = state_.begun();
      begun && begun->position == asked.position && begun->against == asked.against && begun->database == database)
    if (const auto row = engine_.store().experiment(begun->experiment);
        row && row->submitted_at_ns == begun->submitted_at_ns && !store::is_over(row->state))
      return StartedGate{row->id, {}, {}};
  StartedGate out;
  if (file.is_sliced_by_us && !state_.is_sliced()) {
    STAB_TRY(out, start_and_choose(pair, file, changes, limit));
    // Nothing goes on with programs that nobody has tried; what is built of them stays.
    if (out.tried == engine::RunEnd::kStopped) {
      STAB_CHECK_OK(engine_.store().delete_experiment(out.experiment));
      return out;
    }
  } else if (file.is_sliced_by_us && !*state_.is_sliced()) {
    STAB_TRY(const plan::Plan in_turn, gate_plan_of(pair, arguments_, changes));
    STAB_TRY(out.experiment, engine_.submit(in_turn, revisions_.root, ::geteuid(), ::getegid()));
  } else {
    STAB_TRY(out.experiment, engine_.submit(file.plan, revisions_.root, ::geteuid(), ::getegid()));
  }
  STAB_CHECK_OK(note_begun(asked, out.experiment));
  return out;
}

// The search's first comparison tries both programs, and all others measure the same time.
Result<StartedGate> Comparisons::start_and_choose(const Revisions& pair, const GateFile& file, const GateChanges& changes,
                                                  Budget& limit) {
  STAB_TRY(StartedGate started, start_gate(engine_, pair, file, changes, arguments_, clock_, limit, caught_, stop_, told_));
  if (started.tried) return started;
  STAB_CHECK_OK(state_.choose(started.is_sliced, started.clock));
  if (!arguments_.quiet) std::fprintf(stderr, "compared: %s\n", started.clock.c_str());
  return started;
}

Status Comparisons::note_begun(const BisectQuestion& asked, store::Id experiment) {
  STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(experiment));
  return state_.begin({asked.position, asked.against, path_of_database(arguments_), experiment, row.submitted_at_ns});
}

// Of a search without a budget no limit.
Budget Comparisons::left() const {
  return has_budget_ ? Budget{std::max(deadline_ - clock_.monotonic_raw(), std::chrono::nanoseconds(1))} : Budget{};
}

// A comparison that was stopped, which the next run makes again.
std::optional<BisectStep> Comparisons::stopped(const Budget& limit) {
  search_.unfinished = limit.is_over ? "the budget of " + arguments_.at_most + " is over" : "it was interrupted";
  return {};
}

Result<std::optional<BisectStep>> Comparisons::measure(const BisectQuestion& asked) {
  Revisions pair{revisions_.root, search_.commits[asked.against].hash, search_.commits[asked.position].hash};
  if (asked.faster) std::swap(pair.base, pair.head);
  Budget limit = left();
  told_.phases.clear();
  const GateChanges changes{.margin = asked.margin, .alpha = asked.alpha, .blocks = asked.blocks};
  STAB_TRY(const GateFile file, sliced_gate_plan_of(pair, arguments_, changes));
  STAB_TRY(const StartedGate started, start(asked, pair, file, changes, limit));
  const store::Id experiment = started.experiment;
  STAB_TRY(const engine::RunEnd end, started.tried ? Result<engine::RunEnd>(*started.tried)
                                                   : run_until(engine_, experiment, arguments_, clock_, limit, stop_, &told_));
  search_.clock = state_.clock();
  if (end == engine::RunEnd::kStopped) return stopped(limit);
  STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(experiment));
  BisectStep step;
  step.change = step.interval = "-";
  step.margin = file.plan.experiment.margin;
  if (end == engine::RunEnd::kRejected || end == engine::RunEnd::kGaps) {
    step.finding = CommitFinding::kNotBuilt;
    step.why = end == engine::RunEnd::kRejected ? printable(row.failure) : "its trials failed each time";
    return std::optional(step);
  }
  STAB_TRY(const report::Samples samples, engine::load_samples(engine_.store(), row));
  // Of the ends, and of a commit that may be named: what random layouts cost by themselves makes no commit slower. On the way
  // between them it may lead the search elsewhere, and names nobody.
  CountedCopies copies;
  if (search_.steps.empty() || asked.may_name) {
    Budget of_count = left();
    copies = copies_of_revisions(engine_, pair, file, arguments_, clock_, of_count, stop_);
    if (of_count.is_over || stop_.asked()) return stopped(of_count);
  }
  STAB_TRY(const std::vector<GateQuestion> questions, commands::gate_questions(samples, copies.by_workload));
  const GateQuestion* question = question_of(questions, search_.steps.empty() ? nullptr : &search_.steps.front());
  if (question == nullptr) {
    step.finding = CommitFinding::kNotBuilt;
    step.why = "it doesn't measure " + (search_.subject.empty() ? std::string("anything") : search_.subject);
    return std::optional(step);
  }
  step = commands::step_of(*question, step.margin);
  STAB_TRY(const auto differ, side_differences(engine_.store(), experiment));
  if (const auto found = differ.find(step.workload); found != differ.end())
    for (std::string& one : commands::difference_sentences(found->second)) step.care.push_back(std::move(one));
  if (search_.steps.empty()) {
    STAB_TRY(step.is_one_program, is_one_program(engine_.store(), row, file.plan, differ));
  }
  if (!copies.uncounted.empty()) step.care.push_back(commands::uncounted_sentence(copies.uncounted));
  return std::optional(step);
}

Status Comparisons::ask_places(const PlacesByWorkload& places) {
  if (!state_.places().empty()) {
    commands::add_places(search_, state_.places());
    return {};
  }
  const auto end = has_budget_ ? std::optional(deadline_) : std::nullopt;
  if (!arguments_.quiet)
    std::fprintf(stderr, "no commit is %s over random layouts; is it the place?%s\n", search_.faster ? "faster" : "slower",
                 end ? "" : (" up to " + time_of_places(places.size())).c_str());
  std::vector<commands::BisectPlace> said;
  for (const commands::GatePlace& one : stab::ctl::ask_places(engine_, arguments_, clock_, places, end, stop_, told_))
    said.push_back(commands::bisect_place_of(one, search_.faster));
  commands::add_places(search_, said);
  const bool is_cut = has_budget_ && std::any_of(said.begin(), said.end(), [&](const commands::BisectPlace& one) {
    return one.is_cut || (one.finding == CommitFinding::kUnsure && clock_.monotonic_raw() >= deadline_);
  });
  if (stop_.asked()) search_.unfinished = "it was interrupted";
  else if (is_cut) search_.unfinished = "the budget of " + arguments_.at_most + " is over";
  return search_.unfinished.empty() ? state_.add_places(std::move(said)) : Status();
}

// The gate's file belongs to the question: another one asks something else.
Result<BisectState> state_of(const Revisions& revisions, const Arguments& arguments) {
  STAB_TRY(std::string folder, git({"rev-parse", "--git-path", "stab-bisect"}));
  folder = std::filesystem::absolute(folder).lexically_normal();  // git's answer is relative to where the user stands
  STAB_TRY(const std::string gate, gate_text_of(revisions, arguments));
  return BisectState::open(folder, revisions.base, revisions.head, (arguments.faster ? "faster\n" : "slower\n") + gate);
}

std::string example_of(const Arguments& arguments) {
  return "stabctl bisect " + shell_word(arguments.range) + " --build 'make CC=szc' -- ./bench 20";
}

// What --build needs, and what is of no use without it.
Status check_build(const Arguments& arguments) {
  if (arguments.build.empty()) {
    if (!arguments.behind.empty()) return words_without_build(example_of(arguments));
    if (arguments.margin || !runs_options(arguments).empty() || !arguments.exit.empty())
      return bad_input("--margin, --input, --prepare and --exit go with --build; here the gate's file says it");
    return {};
  }
  if (!arguments.plan.empty()) return bad_input("--plan and --build both say what is built; write one of them");
  if (arguments.behind.empty()) return bad_input("--build needs the program that is run, behind --: " + example_of(arguments));
  return check_margin(arguments);
}

// The search as it was typed, without how long it may take.
std::string typed_bisect(const Revisions& revisions, const Arguments& arguments) {
  return "stabctl bisect " + revisions.base.substr(0, kShownCommit) + ".." + revisions.head.substr(0, kShownCommit) +
         (arguments.faster ? " --faster" : "") + question_options(arguments);
}

// How explain is asked of the ends by hand, by workload. Where it takes none, `why` says why.
std::map<std::string, std::string> explain_commands(const plan::Plan& plan, const Revisions& revisions,
                                                    const Arguments& arguments, std::string& why) {
  std::map<std::string, std::string> out;
  const std::vector<plan::Subject> subjects = plan::subjects(plan);
  Arguments asked = arguments;
  asked.words = {revisions.base.substr(0, kShownCommit) + ".." + revisions.head.substr(0, kShownCommit)};
  for (const plan::Subject& subject : subjects) {
    const Status taken = may_be_explained(plan, subject, arguments.build.empty() ? "the gate's file" : "--build");
    if (!taken && why.empty()) why = taken.error().message;
    if (!taken) continue;
    if (subjects.size() > 1) asked.workload = subject.name;
    out[subject.name] = typed_explain(asked);
  }
  if (!out.empty()) why.clear();
  return out;
}

int say(const Bisection& result, const Arguments& arguments) {
  const commands::BisectOutput output = commands::bisect_output(result);
  std::fputs((arguments.json ? output.json : output.text).c_str(), stdout);
  std::fflush(stdout);
  const std::string page = arguments.html.empty() ? std::string() : page::render_bisection(result);
  for (const auto& [path, text] : {std::pair{&arguments.summary, &output.markdown}, std::pair{&arguments.log, &output.log},
                                   std::pair{&arguments.html, &page}})
    if (!path->empty())
      if (const Status written = write_whole(*text, *path); !written) return complain_of_no_answer(written.error());
  return output.exit_code;
}

}  // namespace

int bisect_command(const Arguments& arguments) {
  for (const std::string* path : {&arguments.summary, &arguments.log, &arguments.html})
    if (!path->empty())
      if (const Status writable = check_writable(*path); !writable) return complain_of_no_answer(writable.error());
  const auto budget = budget_of(arguments.at_most);
  if (!budget) return complain_of_no_answer(budget.error());
  if (const Status good = check_build(arguments); !good) return complain_of_no_answer(good.error());
  const auto revisions = revisions_of(arguments.range);
  if (!revisions) return complain_of_no_answer(revisions.error());
  if (const Status there = must_have_gate(*revisions, arguments, example_of(arguments)); !there)
    return complain_of_no_answer(there.error());
  const auto commits = commits_of(*revisions);
  if (!commits) return complain_of_no_answer(commits.error());
  // Its faults are said before anything is made.
  const auto plan = gate_plan_of(*revisions, arguments);
  if (!plan) return complain_of_no_answer(plan.error());
  auto state = state_of(*revisions, arguments);
  if (!state) return complain_of_no_answer(state.error());
  if (!state->other().empty())
    std::fprintf(stderr, "the unfinished search of %s is given up\n", printable(state->other()).c_str());
  Arguments own = arguments;
  if (own.database.empty()) own.database = state->folder() + "/lab.db";
  const bool has_trials = state->begun() && state->begun()->database == path_of_database(own);
  if (!state->steps().empty() || has_trials)
    std::fprintf(stderr, "an interrupted search goes on: %zu comparison%s kept%s\n", state->steps().size(),
                 state->steps().size() == 1 ? " is" : "s are", has_trials ? ", and the trials of the next one" : "");

  std::string no_places;
  PlacesByWorkload places;
  // Where code lies is a part of what is asked about binaries.
  const bool is_of_binaries = plan->experiment.about == plan::About::kBinaries;
  if (!arguments.no_explain && !is_of_binaries)
    places = places_to_ask(arguments, *revisions, explain_commands(*plan, *revisions, arguments, no_places));

  engine::StopSignal stop;
  CaughtInterrupts caught(stop);
  const SystemClock clock;
  auto engine = open_engine(own, clock);
  if (!engine) return complain_of_no_answer(engine.error());
  Bisection result;
  result.commits = *commits;
  result.alpha = kAlpha;
  result.faster = arguments.faster;
  result.is_of_binaries = is_of_binaries;
  result.command = typed_bisect(*revisions, arguments);
  result.clock = state->clock();
  Comparisons comparisons(own, *revisions, result, *state, **engine, clock, caught, stop, *budget);
  const Status done =
      commands::run_bisection(result, [&](const BisectQuestion& question) { return comparisons.compare(question); });
  if (!done) {
    // A compiler or a file may be missing that is there the next time.
    const bool has_no_ends = !result.steps.empty() && result.steps.front().finding == CommitFinding::kNotBuilt;
    if (has_no_ends) state->remove();
    return complain_of_no_answer(without_told(done.error(), comparisons.told()));
  }
  if (result.end == commands::BisectEnd::kNone) {
    result.no_places = no_places;
    const bool is_asked = !places.empty() && !result.steps.front().is_one_program;
    if (const Status asked = is_asked ? comparisons.ask_places(places) : Status(); !asked)
      return complain_of_no_answer(asked.error());
  }
  engine->reset();
  const int code = say(result, arguments);
  // Where a file could not be written, the same command says the same again, at once.
  if (result.unfinished.empty() && code != kExitUsage) state->remove();
  return code;
}

}  // namespace stab::ctl
