// The plans of `stabctl explain`: of two builds, which differ by one treatment of two levels, old and new.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stab::ctl {

// What is explained, as parts of a plan's text.
struct ExplainedBuilds {
  std::string name;      // of the experiments, behind "explain-"
  std::string factor;    // the treatment: "build"
  std::string old_level, new_level;  // in TOML, each with its name and value
  std::string programs;  // [[program]] and all that belongs to it; of one workload
  double margin = 0.01, alpha = 0.05;
  uint64_t seed = 0;
};

// Two programs, run as `name` with these arguments in a directory of the trial's. A build is kept by its command, so
// programs that differ want different paths.
ExplainedBuilds builds_of_programs(const std::string& name, const std::string& old_path, const std::string& new_path,
                                   const std::vector<std::string>& arguments, uint64_t seed);

// Is it code or place: both builds as they were linked, and both in one random layout that they share, in sliced blocks. The
// factors are the treatment and code, in this order.
std::string cause_plan(const ExplainedBuilds& builds, uint32_t blocks);
// Which functions are busy: both builds with identical copies of all functions, sampled.
std::string profile_plan(const ExplainedBuilds& builds);
// Of which function is the place: runs of the new build by a layout script, which draws places for each run.
inline constexpr uint32_t kPlacedRunsOfBlock = 4;
std::string places_plan(const ExplainedBuilds& builds, const std::string& layout_script, uint32_t blocks);

}  // namespace stab::ctl
