// compare OLD NEW ...: one line instead of a plan. All sides are tried once; from what they cost follow the clock that judges,
// how many blocks fit into the time, and the looks at which it may end. Then it is an experiment like any other, kept in the
// database.
//
// Revisions are built by the experiment itself, so that they are tried by its preflight: it is stopped behind that, and planned
// again with the clock and the looks that fit what was seen.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "analysis/commands/gate/compare_answer.h"
#include "base/absolute_path.h"
#include "base/number_text.h"
#include "base/shell_word.h"
#include "base/wording.h"
#include "plan/short_plan.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/command_line/exit_statuses.h"
#include "stabctl/compare/compared_about.h"
#include "stabctl/records/database.h"
#include "stabctl/revisions/built_revisions.h"
#include "stabctl/revisions/git.h"
#include "stabctl/revisions/revisions.h"
#include "stabctl/run/run_command.h"
#include "stabctl/run/unbegun.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabctl/sides/clock_choice.h"
#include "stabctl/sides/copy_facts.h"
#include "stabctl/sides/measured_runs.h"
#include "stabctl/sides/preflight_choice.h"
#include "stabctl/sides/recorded_sides.h"
#include "stabctl/sides/same_bytes.h"
#include "stabctl/terminal/one_line_progress.h"
#include "stabctl/terminal/terminal.h"
#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/experiment/match_builds.h"
#include "stabd/engine/machine/time_slices.h"
#include "stabd/engine/results/ended_in_time.h"
#include "stabd/engine/results/load_samples.h"
#include "stabd/engine/trial/dose.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

constexpr int kFewestBlocks = commands::kFewestBlocks;
constexpr int kMostBlocks = 1000;  // more tell of differences that no margin is about
constexpr size_t kMostSides = 8;   // with more, blocks get long and few

// A comparison on its way: what the user asked, what is known so far, and the answer's facts.
struct Comparison {
  const Arguments& arguments;
  const SystemClock clock{};
  nanoseconds start{0}, most{0};
  nanoseconds shortest{0};  // CPU time of the shortest program, as tried
  std::string directory{};
  AdHocPlan plan{};
  commands::CompareFacts facts{};
  std::string times{};  // of all runs, as --export-json takes them
  bool was_interrupted = false;  // before an answer

  nanoseconds elapsed() const { return clock.monotonic_raw() - start; }
};

// --- what the user may have meant ------------------------------------------------------------------------------------------

bool is_file(const std::string& word) {
  std::error_code error;
  return fs::exists(word, error);
}

// The first word that is no program, and why; absent: all are.
struct NoProgram {
  size_t at;
  std::string why;
};
std::optional<NoProgram> not_a_program(const Arguments& arguments) {
  for (size_t at = 0; at < arguments.words.size(); ++at)
    if (const auto side = measured_command(arguments.words[at], arguments.behind, arguments.shell); !side)
      return NoProgram{at, side.error().message};
  return {};
}

constexpr char kUsage[] = "stabctl compare ./old ./new -- arguments of both";

// Of a wrong number of sides. The command that reads recorded verdicts was called so.
Error wrong_sides(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  if (words.empty()) return bad_input(std::string("compare needs two sides: ") + kUsage);
  if (words.size() == 1)
    return bad_input("one side is missing: " + in_quotes(words[0]) + " is compared with nothing; write " + kUsage +
                     "; one program alone: stabctl time " + shell_word(words[0]));
  if (words.size() > kMostSides && (!arguments.build.empty() || !not_a_program(arguments)))
    return bad_input("compare takes " + std::to_string(kMostSides) + " sides at most, and these are " +
                     std::to_string(words.size()) + "; of more write a plan ('stabctl init')");
  if (!arguments.shell && !is_file(words[0]) && !is_file(words[1])) {
    std::string verdict = "stabctl verdict";
    for (const std::string& word : words) verdict += " " + shell_word(word);
    return bad_input("compare takes programs; recorded levels of a factor are compared by: " + verdict);
  }
  const std::optional<NoProgram> wrong = not_a_program(arguments);
  if (wrong && wrong->at < 2) return bad_input(wrong->why);
  // What is meant for the programs may stand where a third one does.
  std::string better = "stabctl compare " + shell_word(words[0]) + " " + shell_word(words[1]) + " --";
  for (size_t i = 2; i < words.size(); ++i) better += " " + shell_word(words[i]);
  return bad_input("compare takes programs, and not all of these are: " + wrong->why +
                   "; arguments of all come behind --: " + better);
}

bool is_commit(const std::string& word) {
  return !word.starts_with("-") && git({"rev-parse", "--verify", "--quiet", "--end-of-options", word + "^{commit}"}).ok();
}

// Revisions without what builds them; empty: they are none.
std::string revisions_without_build(const Arguments& arguments) {
  std::vector<std::string> names = arguments.words;
  if (names.size() == 1)
    if (const auto range = range_of(names[0])) names = {range->base, range->head};
  if (arguments.shell || names.size() < 2 || names.size() > kMostSides) return {};
  std::string listed, words;
  for (const std::string& name : names) {
    if (name.empty() || is_file(name) || !is_commit(name)) return {};
    listed += (listed.empty() ? "" : &name == &names.back() ? " and " : ", ") + in_quotes(name);
    words += " " + shell_word(name);
  }
  return listed + " are revisions, which --build makes programs of: stabctl compare" + words +
         " --build 'make CC=szc' -- ./program arguments";
}

// Two names of experiments, which `compare` took once.
bool are_experiments(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return false;
  return chosen_experiment(*store, arguments.words[0]) && chosen_experiment(*store, arguments.words[1]);
}

// --- two programs ----------------------------------------------------------------------------------------------------------

std::string with_arguments(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += " " + shell_word(word);
  return out.empty() ? out : " --" + out;
}

// Why layouts were not the same on both sides, as the experiment's log has it; empty: they were.
Result<std::string> why_unmatched(store::Store& store, store::Id experiment) {
  STAB_TRY(const std::vector<store::EventRow> events, store.events(experiment));
  for (const store::EventRow& event : events) {
    const size_t at = event.text.find(engine::kNoMatchTable);
    if (event.kind != engine::kMatchedLayouts || at == std::string::npos) continue;
    const size_t begin = at + std::string_view(engine::kNoMatchTable).size();
    return event.text.substr(begin, event.text.find(engine::kRestIsMatched, begin) - begin);
  }
  return std::string();
}

// Whether shared libraries moved, for which there is no table of what all builds have. The first runs are of one block.
Result<bool> moves_libraries(store::Store& store, store::Id experiment, size_t sides) {
  STAB_TRY(const auto trials, store.trials(experiment, {.kind = store::TrialKind::kMain,
                                                        .state = store::TrialState::kRecorded,
                                                        .block = {},
                                                        .limit = static_cast<int64_t>(sides)}));
  for (const store::TrialRow& trial : trials) {
    STAB_TRY(const store::Outcome outcome, store.outcome(trial.id));
    const auto dose = engine::parse_dose(outcome.dose_json);
    if (dose.ok() && dose->has_value() && (*dose)->libraries_moved > 0) return true;
  }
  return false;
}

// How many blocks fit into what is left of the time, next to what copies_of() takes.
int blocks_within(const Comparison& of, nanoseconds block) {
  const auto sides = static_cast<int64_t>(of.plan.sides());
  const nanoseconds counting = of.plan.randomized ? block * 2 * (sides - 1) / sides : nanoseconds(0);  // two runs for each other
  return runs_within(of.most - of.elapsed() - counting, block, kMostBlocks);
}

// As many; kBadInput: too few, with the time that would do.
Result<int> blocks_for(const Comparison& of, nanoseconds block) {
  const int blocks = blocks_within(of, block);
  if (blocks >= kFewestBlocks) return blocks;
  // Twice the fewest, so that it doesn't end with a spread that nobody knows.
  const std::chrono::duration<double> each = block, needed = of.elapsed() + 2.4 * kFewestBlocks * each;
  char took[32];
  std::snprintf(took, sizeof took, "%.2g", each.count());
  return bad_input("running " + std::string(of.plan.sides() > 2 ? "all" : "both") + " sides once takes " +
                   std::string(took) + " s, and an answer takes " + std::to_string(kFewestBlocks) +
                   " such blocks at least; after the first tries there is time for " +
                   (blocks > 0 ? "only " + std::to_string(blocks) : "none") + "; give them less to do, or " + option_of(needed));
}

// Whether one program under two names gets the same words. What a script starts may be told by where it lies.
bool is_a_copy(const MeasuredCommand& first, const MeasuredCommand& other) {
  return !first.is_script && first.words[0] != other.words[0] &&
         std::equal(first.words.begin() + 1, first.words.end(), other.words.begin() + 1, other.words.end()) &&
         have_same_bytes(first.words[0], other.words[0]);
}

// What each of the others did otherwise than the first one, when it was tried, or that it is the same file: the answer's first
// lines.
Status find_differences(Comparison& of, const std::vector<Probe>& seen, const engine::StopSignal& stop) {
  std::optional<Probe> again;
  for (size_t at = 1; at < seen.size(); ++at) {
    commands::SideDifferences& differ = of.facts.others[at - 1].differ;
    differ.same_file = is_a_copy(of.plan.commands[0], of.plan.commands[at]);
    if (seen[0].status != seen[at].status)
      differ.ends = std::to_string(WEXITSTATUS(seen[0].status)) + " against " + std::to_string(WEXITSTATUS(seen[at].status));
    const auto outputs = difference_of_outputs(seen[0], seen[at]);
    if (!outputs) continue;
    of.plan.same_stdout = false;
    // A program that prints a time or an address prints another one each time.
    if (!again) {
      STAB_TRY(again, tried(of.plan.commands[0], of.directory, of.arguments, of.most - of.elapsed(), stop));
    }
    if (!difference_of_outputs(seen[0], *again)) differ.outputs = *outputs;
  }
  return {};
}

// Of the first two programs, and how many more there are.
std::string name_of(const std::vector<MeasuredCommand>& sides, bool in_shell) {
  const auto name = [&](const MeasuredCommand& side) { return experiment_name_of(side.words[in_shell ? 2 : 0]).substr(0, 36); };
  return name(sides[0]) + "-" + name(sides[1]) + (sides.size() > 2 ? "-" + std::to_string(sides.size()) : "");
}

// Tries all sides, and fills in the plan.
Status plan_programs(Comparison& of, const engine::StopSignal& stop) {
  const Arguments& arguments = of.arguments;
  for (const std::string& typed : arguments.words) {
    STAB_TRY(MeasuredCommand command, measured_command(typed, arguments.behind, arguments.shell));
    of.plan.commands.push_back(std::move(command));
  }
  std::vector<MeasuredCommand>& sides = of.plan.commands;
  if (!arguments.quiet && !arguments.shell && arguments.input.empty()) note_unread_input();
  std::vector<Probe> seen;
  OneLineProgress progress(arguments.quiet, of.clock, of.start, of.most);
  for (const MeasuredCommand& side : sides) {
    progress.phase("trying " + side.shown);
    auto once = tried_with_any_status(side, of.directory, arguments, of.most - of.elapsed(), stop);
    progress.finish();
    if (!once && !stop.asked()) STAB_CHECK_OK(check_ends(sides, seen, arguments));
    if (!once) return once.error();
    seen.push_back(*std::move(once));
  }
  STAB_CHECK_OK(check_ends(sides, seen, arguments));
  const auto cost = [&](bool sliced) {
    nanoseconds all{0};
    for (const Probe& one : seen) all += (sliced ? one.cpu() : one.wall) + one.prepare + kEachTrial;
    return all;
  };
  // The first run of all may have waited for its files, or been compiled: where it was too long, one more tells.
  for (size_t side = 0; side < sides.size() && !blocks_for(of, cost(false)); ++side) {
    progress.phase("trying " + sides[side].shown + " again");
    try_again(sides[side], of.directory, arguments, of.most - of.elapsed(), stop, seen[side]);
    progress.finish();
  }
  std::vector<TriedProgram> programs;
  for (size_t side = 0; side < sides.size(); ++side)
    programs.push_back({in_quotes(sides[side].shown), seen[side].busy(), seen[side].max_rss_kib, seen[side].wall});
  of.facts.baseline = sides[0].shown;
  for (size_t at = 1; at < sides.size(); ++at) of.facts.others.push_back({.command = sides[at].shown});
  of.plan.same_stdout = true;
  STAB_CHECK_OK(find_differences(of, seen, stop));
  const ClockChoice choice = choose_clock(programs, engine::available_memory_kib(host::Roots()), !arguments.prepare.empty());
  of.facts.clock = choice.sentence;
  of.plan.sliced = choice.sliced;
  const auto moves = [](const MeasuredCommand& side) { return side.szc.code; };
  of.plan.randomized = !arguments.shell && std::all_of(sides.begin(), sides.end(), moves);
  STAB_TRY(const int blocks, blocks_for(of, cost(choice.sliced)));
  of.plan.looks = looks_up_to(blocks);
  of.shortest = seen[0].cpu();
  for (const Probe& one : seen) of.shortest = std::min(of.shortest, one.cpu());
  of.plan.epoch = plan::epoch_of_run(of.shortest);
  nanoseconds slowest{0};
  for (const Probe& one : seen) slowest = std::max(slowest, one.wall);
  of.plan.timeout = timeout_for(slowest);
  of.plan.directory = of.directory;
  of.plan.environment = kept_environment();
  of.plan.name = name_of(sides, arguments.shell);
  return {};
}

// --- revisions -------------------------------------------------------------------------------------------------------------

// A range's two ends, or the first revision and each other one.
Result<std::vector<Revisions>> changes_of(const std::vector<std::string>& words) {
  std::vector<Revisions> out;
  if (words.size() == 1) {
    STAB_TRY(const RevisionRange range, range_of(words[0]));
    STAB_TRY(Revisions change, revisions_of(range.base, range.head, range.forked));
    out.push_back(std::move(change));
  }
  for (size_t at = 1; at < words.size(); ++at) {
    STAB_TRY(Revisions change, revisions_of(words[0], words[at], false));
    out.push_back(std::move(change));
  }
  return out;
}

Status plan_revisions(Comparison& of) {
  const Arguments& arguments = of.arguments;
  if (arguments.behind.empty())
    return bad_input("--build needs the program that is run, behind --: stabctl compare main HEAD --build make -- ./bench 20");
  STAB_TRY(const std::vector<Revisions> changes, changes_of(arguments.words));
  STAB_CHECK_OK(build_revisions(changes, arguments.build, arguments.behind, of.plan));
  of.plan.sliced = true;
  of.plan.randomized = arguments.build.find("szc") != std::string::npos;
  of.plan.looks = looks_up_to(kMostBlocks);  // until they are tried
  const std::string& command = of.plan.commands[0].shown;
  of.facts.baseline = shown_revision(changes[0].base_name, changes[0].base) + " " + command;
  for (const Revisions& change : changes)
    of.facts.others.push_back({.command = shown_revision(change.head_name, change.head) + " " + command});
  note_uncommitted_changes(changes[0].root);
  of.directory = changes[0].root;
  return {};
}

// --- the run ---------------------------------------------------------------------------------------------------------------

struct Run {
  store::Id experiment = 0;
  engine::RunEnd end = engine::RunEnd::kDone;
  std::string failure;  // of the last run that failed
  bool is_over_time = false;
};

Result<store::Id> submit(Comparison& of, engine::Engine& engine) {
  const std::string text = text_of(of.plan);
  STAB_TRY(const plan::Plan plan, parse_ad_hoc(text, of.directory));
  if (!of.arguments.save.empty()) STAB_CHECK_OK(write_whole(text, of.arguments.save));
  return engine.submit(plan, of.directory, ::geteuid(), ::getegid());
}

// Submits, builds and tries revisions, and chooses the clock; what is absent goes on: the experiment is ready for its blocks.
Result<std::optional<Run>> build_and_try(Comparison& of, engine::Engine& engine, store::Id& experiment) {
  engine::StopSignal stop;
  CaughtInterrupts caught(stop);
  OneLineProgress progress(of.arguments.quiet, of.clock, of.start, of.most);
  Budget unlimited;
  const auto name = [&](const store::TrialRow& trial) { return of.plan.built.revisions[static_cast<size_t>(trial.cell)].first; };
  const auto submit_as = [&](bool sliced) {
    of.plan.sliced = sliced;
    return submit(of, engine);
  };
  const auto chosen = choose_by_preflight(engine, of.arguments, submit_as, progress, unlimited, caught, stop, name);
  progress.finish();
  if (!chosen) return chosen.error();
  experiment = chosen->experiment;
  if (chosen->end) return std::optional(Run{experiment, *chosen->end, progress.failure(), false});
  of.facts.clock = chosen->clock.sentence;
  nanoseconds block{0};
  for (const TriedProgram& one : chosen->programs)
    block += std::chrono::duration_cast<nanoseconds>(one.wall * (of.plan.sliced ? std::min(one.busy, 1.0) : 1.0)) + kEachTrial;
  of.start = of.clock.monotonic_raw();  // the time is that of measuring: builds take what they take
  of.plan.looks = looks_up_to(std::max(blocks_within(of, block), kFewestBlocks));
  // What is built lies with an experiment, so the new one comes first.
  const auto submitted = submit_as(of.plan.sliced);
  if (!submitted) {
    take_back_or_say(engine.store(), chosen->experiment, of.arguments);
    return submitted.error();
  }
  experiment = *submitted;
  deleted_or_said(engine.store(), chosen->experiment, of.arguments);
  return std::optional<Run>();
}

Result<Run> run(Comparison& of, engine::Engine& engine, engine::StopSignal* stop) {
  Run out;
  if (of.plan.built.revisions.empty()) {
    STAB_TRY(out.experiment, submit(of, engine));
  } else {
    STAB_TRY(const std::optional<Run> ended, build_and_try(of, engine, out.experiment));
    if (ended) return *ended;
  }
  engine::StopSignal own;
  std::optional<CaughtInterrupts> caught;
  if (!stop) caught.emplace(own);
  OneLineProgress progress(of.arguments.quiet, of.clock, of.start, of.most);
  Budget budget{of.most - of.elapsed()};
  const auto end = run_within(engine, out.experiment, progress, budget, stop ? *stop : own);
  progress.finish();
  if (!end) {
    take_back_or_say(engine.store(), out.experiment, of.arguments);
    return end.error();
  }
  if (budget.is_over) {
    const auto ended = engine::end_in_time(engine.store(), out.experiment, kFewestBlocks, of.clock.realtime());
    if (!ended) {
      take_back_or_say(engine.store(), out.experiment, of.arguments);
      return ended.error();
    }
  }
  out.end = *end, out.is_over_time = budget.is_over, out.failure = progress.failure();
  return out;
}

// --- the answer ------------------------------------------------------------------------------------------------------------

Result<std::string> times_of(const Comparison& of, store::Store& store, store::Id experiment) {
  const RunClock clock = of.plan.sliced ? RunClock::kCpu : RunClock::kWall;
  std::vector<commands::TimedRuns> all(1);
  STAB_TRY(all[0], runs_of(store, experiment, 0, of.facts.baseline, clock));
  for (const commands::ComparedSide& side : of.facts.others) {
    STAB_TRY(commands::TimedRuns runs, runs_of(store, experiment, static_cast<int>(all.size()), side.command, clock));
    all.push_back(std::move(runs));
  }
  return commands::hyperfine_json(all);
}

// What copies cost a side more than the first one, counted in a run of each; or why that is not known.
void count_copies_of(Comparison& of, engine::Engine& engine, size_t other, engine::StopSignal& stop) {
  commands::ComparedSide& side = of.facts.others[other];
  AdHocPlan copies = of.plan;
  copies.counts_copies = true;
  copies.sliced = copies.same_stdout = false;
  if (copies.commands.size() > 2) copies.commands = {of.plan.commands[0], of.plan.commands[other + 1]};
  if (auto& revisions = copies.built.revisions; revisions.size() > 2) revisions = {revisions[0], revisions[other + 1]};
  const auto plan = parse_ad_hoc(text_of(copies), of.directory);
  if (!plan) {
    side.uncounted = one_line(plan.error().message);
    return;
  }
  Budget left{std::max(of.most - of.elapsed(), nanoseconds(1))};
  const CountedCopies counted = counted_copies(engine, *plan, of.directory, of.arguments, of.clock, left, stop);
  if (!counted.by_workload.empty()) side.copies = counted.by_workload.begin()->second;
  side.uncounted = counted.uncounted;
}

void count_copies(Comparison& of, engine::Engine& engine, const Run& ran, engine::StopSignal* stop) {
  if (!of.plan.randomized) return;
  if (ran.end != engine::RunEnd::kDone) {
    for (commands::ComparedSide& side : of.facts.others)
      side.uncounted = ran.is_over_time ? "the time was over" : "it was interrupted";
    return;
  }
  engine::StopSignal own;
  std::optional<CaughtInterrupts> caught;
  if (!stop) caught.emplace(own);
  for (size_t other = 0; other < of.facts.others.size(); ++other) count_copies_of(of, engine, other, stop ? *stop : own);
}

Result<commands::CompareOutput> answer(Comparison& of, store::Store& store, const Run& run) {
  commands::CompareFacts& facts = of.facts;
  STAB_TRY(const bool is_taken_back, is_without_runs(store, run.experiment));
  if (!is_taken_back) facts.experiment = run.experiment;
  STAB_TRY(const std::string unmatched, why_unmatched(store, run.experiment));
  STAB_TRY(const bool has_libraries, moves_libraries(store, run.experiment, facts.others.size() + 1));
  facts.about = about_sides(of.plan, unmatched, has_libraries);
  const std::string few = of.plan.randomized ? few_layouts_text(of.shortest, of.plan.epoch) : std::string();
  if (!few.empty()) facts.about += "; " + few;
  const auto is_program = [](const std::string& word) { return is_file(word); };
  const std::vector<std::string>& words = of.arguments.words;
  const bool is_explained = of.plan.randomized && of.plan.built.revisions.empty();
  if (is_explained && std::all_of(words.begin(), words.end(), is_program))
    for (size_t other = 0; other < facts.others.size(); ++other)
      facts.others[other].next_of_change = "stabctl explain " + shell_word(words[0]) + " " + shell_word(words[other + 1]) +
                                           runs_options(of.arguments) + database_option(of.arguments) + facts.arguments;
  facts.next = "stabctl report " + std::to_string(run.experiment) + database_option(of.arguments) + " --html compare.html";
  facts.logs = "stabctl logs " + std::to_string(run.experiment) + database_option(of.arguments);
  // Builds of revisions have a folder for each run.
  if (of.plan.sliced && of.arguments.build.empty())
    facts.shares = "the sides run at once and in one folder: if they write a file there that both name alike, '--prepare true' "
                   "runs one after the other";
  facts.is_over_time = run.end == engine::RunEnd::kStopped && run.is_over_time;
  if (run.end == engine::RunEnd::kStopped)
    facts.unfinished = run.is_over_time ? "the time was over before its last look" : "it was interrupted";
  STAB_TRY(const store::ExperimentRow row, store.experiment(run.experiment));
  STAB_TRY(const report::Samples samples, engine::load_samples(store, row));
  if (!of.arguments.export_json.empty()) {
    STAB_TRY(of.times, times_of(of, store, run.experiment));
  }
  // Programs were compared when they were tried, line by line; of what is built here the recorded runs tell.
  for (size_t at = 1; at < of.plan.built.revisions.size(); ++at) {
    STAB_TRY(const auto differ, side_differences(store, run.experiment, at, of.plan.sides()));
    if (!differ.empty()) facts.others[at - 1].differ = differ.begin()->second;
  }
  return commands::compare_answer(samples, facts, terminal_width());
}

// The command as it was typed, without how long it may take.
void remember_command(Comparison& of) {
  const Arguments& arguments = of.arguments;
  of.facts.command = "stabctl compare";
  for (const std::string& word : arguments.words) of.facts.command += " " + shell_word(word);
  if (!arguments.build.empty()) of.facts.command += " --build " + shell_word(arguments.build);
  if (arguments.shell) of.facts.command += " --shell";
  of.facts.command += runs_options(arguments);
  if (arguments.warmup > 0) of.facts.command += " --warmup " + std::to_string(arguments.warmup);
  if (!arguments.exit.empty()) of.facts.command += " --exit " + arguments.exit;
  of.facts.command += database_option(arguments);
  if (arguments.margin) of.facts.margin = " --margin " + percent_text(*arguments.margin);
  of.facts.arguments = with_arguments(arguments.behind);
}

Result<commands::CompareOutput> compared(Comparison& of) {
  const Arguments& arguments = of.arguments;
  if (!arguments.words.empty() && arguments.build.empty())
    if (const std::string revisions = revisions_without_build(arguments); !revisions.empty()) return bad_input(revisions);
  const bool is_range = !arguments.build.empty() && arguments.words.size() == 1;
  const bool are_several = arguments.words.size() > 2 && arguments.words.size() <= kMostSides &&
                           (!arguments.build.empty() || !not_a_program(arguments));
  if (arguments.words.size() != 2 && !is_range && !are_several) return wrong_sides(arguments);
  STAB_TRY(of.most, time_limit(arguments));
  STAB_CHECK_OK(check_margin(arguments));
  STAB_CHECK_OK(check_files(arguments));
  STAB_TRY(of.directory, absolute_path("."));
  of.plan.comment =
      "Written by stabctl compare; docs/how-to/compare-programs.md says what it does, docs/reference/plan.md what the keys mean.";
  of.plan.seed = seed_of_now();
  STAB_TRY(of.plan.input, input_of(arguments));
  of.plan.prepare = arguments.prepare;
  of.plan.warmup = arguments.warmup;
  STAB_TRY(of.plan.exit, exit_statuses(arguments.exit));
  if (arguments.margin) of.plan.margin = percent_text(*arguments.margin);
  remember_command(of);
  std::optional<engine::StopSignal> stop;
  std::optional<CaughtInterrupts> caught;
  if (arguments.build.empty()) {
    if (!arguments.shell && !is_file(arguments.words[0]) && !is_file(arguments.words[1]) && are_experiments(arguments))
      return wrong_sides(arguments);
    stop.emplace(), caught.emplace(*stop, FirstInterrupt::kAtOnce);
    if (const Status planned = plan_programs(of, *stop); !planned) {
      of.was_interrupted = stop->asked();
      return planned.error();
    }
    caught->ask(*stop);
  } else {
    STAB_CHECK_OK(plan_revisions(of));
  }
  STAB_TRY(const std::unique_ptr<engine::Engine> engine, open_engine(arguments, of.clock));
  STAB_TRY(const Run ran, run(of, *engine, stop ? &*stop : nullptr));
  if (ran.end == engine::RunEnd::kRejected || ran.end == engine::RunEnd::kGaps)
    return no_runs(engine->store(), ran.experiment, ran.end, ran.failure);
  of.facts.seconds = std::chrono::duration<double>(of.elapsed()).count();
  count_copies(of, *engine, ran, stop ? &*stop : nullptr);
  auto output = answer(of, engine->store(), ran);
  if (output) take_back_without_runs(engine->store(), ran.experiment, arguments);
  else take_back_or_say(engine->store(), ran.experiment, arguments);
  return output;
}

}  // namespace

int compare_command(const Arguments& arguments) {
  Comparison of{.arguments = arguments};
  of.start = of.clock.monotonic_raw();
  const auto output = compared(of);
  if (!output) {
    const int failed = complain_of_no_answer(output.error());
    return of.was_interrupted ? kExitUnfinished : failed;
  }
  return say_answer(output->text, output->json, output->markdown, output->exit_code, of.times, arguments, complain_of_no_answer);
}

}  // namespace stab::ctl
