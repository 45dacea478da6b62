// The plans of `stabctl explain`: of two builds, which differ by one treatment of two levels, old and new.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace stab::ctl {

// What is explained, as parts of a plan's text.
struct ExplainedBuilds {
  std::string name;                    // of the experiments, behind "explain-"
  std::string factor;                  // the treatment: "build"
  std::string old_level, new_level;    // in TOML, each with its name and value
  std::string fixed;                   // other factors, a line of TOML each, with one level
  std::string text;                    // [[program]] and all that belongs to it, and to the machine; of one workload
  std::string text_name = "the plan";  // where faults of the text are, for its user
  std::string directory;               // that relative paths of the text begin in
  // Each run is prepared in a folder that all of them share, and may use up what it finds there: they follow each other.
  bool share_prepared_folder = false;
  double margin = 0.01, alpha = 0.05;
  uint64_t seed = 0;
};

// A level of a treatment, in TOML.
std::string level_text(const std::string& name, const std::string& value);

// An argument of two programs as they get it, which run in a folder of their own: what names a file here by its whole path. The
// bare name of a folder stays, as it may be a command of the program's; "./folder" is made whole. kNotFound: the working
// directory is gone.
Result<std::string> passed_word(const std::string& word);
bool is_folders_name(const std::string& word);

// Two programs, run by the name of `program` with these arguments in a directory of the trial's, to end with one of the statuses
// `exit`. `more`: further lines of the program, such as its `prepare`. A build is kept by its command, so programs that differ
// want different paths. kNotFound: the working directory is gone.
Result<ExplainedBuilds> builds_of_programs(const std::string& program, const std::string& old_path, const std::string& new_path,
                                           const std::vector<std::string>& arguments, const std::vector<int>& exit = {0},
                                           const std::string& more = {});

// What pointers to functions lead to in a random layout: the original, which jumps on, or the copy.
enum class PointersLead : uint8_t { kToOriginals, kToCopies };

// Is it code or place: both builds as they were linked, and both in one random layout that they share, in blocks. The
// factors are the treatment and code, in this order.
std::string cause_plan(const ExplainedBuilds& builds, uint32_t blocks, PointersLead pointers);
// A run of both builds with copies of all functions: how many calls pass originals.
std::string count_plan(const ExplainedBuilds& builds, PointersLead pointers);
// Both builds with identical copies of all functions, sampled: which functions are busy.
std::string profile_plan(const ExplainedBuilds& builds);
// The same two questions, asked of a simulator: what each of the four runs of a block executes is counted.
Result<std::string> simulated_plan(const ExplainedBuilds& builds, uint32_t layouts, PointersLead pointers);
// Of which function is the place: runs of the new build by a layout script, which draws places for each run.
inline constexpr uint32_t kPlacedRunsOfBlock = 4;
Result<std::string> places_plan(const ExplainedBuilds& builds, const std::string& layout_script, uint32_t blocks);

}  // namespace stab::ctl
