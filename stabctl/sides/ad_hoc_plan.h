// Plans that nobody wrote: made of commands from a command line, by compare, time and causal. What they say is what `stabctl run`
// takes, so that --save can write them to a file.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "stabctl/plan/measured_command.h"

namespace stab::ctl {

// The treatment whose levels are the sides of a comparison. Reports know it (analysis/report/contrasts/compared_cells.h): two
// binaries that are not randomized have a difference that is theirs.
inline constexpr char kSideFactor[] = "binary";

// What an ad-hoc plan says beside its commands.
// invariant: looks ascend, and there is one at least; with revisions there is one command
struct AdHocPlan {
  std::string comment;                    // its first line: who wrote it
  std::string name;                       // of experiment and program
  std::vector<MeasuredCommand> commands;  // one, or the sides of a comparison
  // Instead of several commands: commits of a repository, what builds one of them, and the one command that is run in all.
  struct Built {
    std::string root, build;
    std::vector<std::pair<std::string, std::string>> revisions;  // name and commit; empty: nothing is built
    std::vector<std::string> inputs;                             // files of the repository that trials find beside them
  } built;
  std::string side_factor = kSideFactor;  // whose level a side is
  uint64_t seed = 1;
  std::vector<int> looks;  // the last one: its replicates
  bool sliced = false;     // else trials run one after the other, and wall time is judged
  std::string margin = "1%";
  bool randomized = false;        // code, heap and mostly the stack: all commands were built by szc
  bool one_layout_a_run = false;  // else a new layout in each epoch
  bool counts_copies = false;     // instead: each runs once in identical copies, and what costs more there is counted
  int runs_per_seed = 1;
  std::chrono::nanoseconds epoch{0};  // 0: the preflight says how long
  std::string directory;                 // the trials' working directory; empty: one of their own
  std::vector<std::string> environment;  // "NAME=VALUE"
  std::chrono::nanoseconds timeout{0};   // of a trial; 0: a plan's default
  size_t sides() const { return std::max(commands.size(), built.revisions.size()); }
  bool compares() const { return sides() > 1; }
  // Whether the stack moves where it is randomized: each command has a pad. Of what is not built yet that is demanded.
  bool moves_stack() const;
  // What is drawn at random where it is randomized: "code, stack and heap", or "code and heap".
  std::string randomized_parts() const { return moves_stack() ? "code, stack and heap" : "code and heap"; }
  std::string input;         // absolute path of what runs get on standard input; empty: nothing
  std::string prepare;       // what /bin/sh runs before each run, in `directory`; empty: nothing
  int warmup = 0;            // runs before the first one that is recorded
  std::vector<int> exit{0};  // the statuses that a run may end with
  bool same_stdout = false;  // all runs print the same
};

// The plan's text. Each command's words stand in it as they are.
std::string text_of(const AdHocPlan& plan);
// Of that the part that says what is run, and where: [machine] and [[program]].
std::string program_text_of(const AdHocPlan& plan);

// What the levels of a comparison are called: as the commands were typed, and different.
std::vector<std::string> names_of_sides(const std::vector<MeasuredCommand>& commands);
// The same of anything: what is too long ends with "...", and the second of one name is "name (2)".
std::vector<std::string> names_of_levels(const std::vector<std::string>& shown);

// Of a program's path, letters that an experiment and a program may have in their names.
std::string experiment_name_of(const std::string& program);

// What such a plan's runs read and what comes before them, as lines of a program. A plan's `prepare` begins in the trial's own
// directory, and goes to this one.
std::string lines_of_runs(const std::string& input, const std::string& prepare, const std::string& directory);

// "run = [...]" takes words in which braces are placeholders.
std::string without_placeholders(const std::string& word);

// What is wrong with runs that end after few layouts; empty: there are enough.
std::string few_layouts_text(std::chrono::nanoseconds run, std::chrono::nanoseconds epoch);

// How often it may look: of so many blocks the last look has all, the one before it half of them, and so on, down to eight.
std::vector<int> looks_up_to(int blocks);

// The text as a plan. kBadInput: it isn't one, with the faults' places in the text, which `name` names.
Result<plan::Plan> parse_ad_hoc(const std::string& text, const std::string& directory, const std::string& name = "the plan");

}  // namespace stab::ctl
