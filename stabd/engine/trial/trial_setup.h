// TrialSetup: from a row of the schedule to what is executed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "stabd/engine/build/builds.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/trial/cached_files.h"
#include "stabd/engine/trial/trial_run.h"
#include "store/records.h"

namespace stab::engine {

// What is known of a build once it is made.
struct BuiltBinary {
  std::string directory;     // commands are looked up here; the plan's directory where nothing was built
  std::string sha256;        // of the program that the first workload runs
  std::string run_instead;   // a replay's copy of that program; empty: what is found in the directory
};

// How a program's trials are told of its match table.
struct TableOfProgram {
  std::string line;                         // of their layout scripts; empty: there is no table
  std::shared_ptr<const std::string> rows;  // its bytes
};

class TrialSetup {
 public:
  // `binaries` by build index. Resolves counters and the padding of every subject once.
  static Result<TrialSetup> prepare(const ExpandedPlan& expanded, const BuildPlace& place,
                                    std::vector<BuiltBinary> binaries, const std::string& trial_directory);

  // What to run for this trial in its directory, which fill_directory() fills. Directories of trials are paths of one length.
  Result<TrialRequest> request(const store::NewTrial& trial, const std::string& directory) const;
  // Copies the declared inputs into the trial's fresh directory.
  Status fill_directory(const store::NewTrial& trial, const std::string& directory) const;
  // The program's prepare and cleanup, run in the trial's directory; nothing where the plan has none.
  std::optional<host::LaunchRequest> prepare_request(const store::NewTrial& trial, const std::string& directory) const;
  std::optional<host::LaunchRequest> cleanup_request(const store::NewTrial& trial, const std::string& directory) const;

  // Trials of this workload and build count the calls of these functions from here on.
  void count_entries(int subject, int build, std::vector<std::string> functions) {
    counted_[{subject, build}] = std::move(functions);
  }

  // Layouts of this program's trials are matched from here on.
  void match(int program, TableOfProgram table) { matched_[program] = std::move(table); }

  const std::string& directory() const { return trial_directory_; }  // of the trials of the first enclosure
  const std::vector<std::vector<counters::EventSpec>>& passes() const { return passes_; }
  // With the caches that are simulated, of this machine where the plan declares none.
  const plan::Simulation& simulation() const { return simulation_; }

 private:
  TrialSetup(const ExpandedPlan& expanded, BuildPlace place, std::vector<BuiltBinary> binaries,
             std::string trial_directory);
  Result<host::LaunchRequest> launch_of(int subject, int cell, int build, int link, const std::string& directory) const;
  std::optional<host::LaunchRequest> request_of(const plan::Command& command, const store::NewTrial& trial,
                                                const std::string& directory) const;

  void look_for_libraries(const host::LaunchRequest& launch);
  void read_programs_anew() const;

  const ExpandedPlan* expanded_;
  BuildPlace place_;
  std::vector<BuiltBinary> binaries_;
  std::string trial_directory_;
  std::vector<std::vector<counters::EventSpec>> passes_;
  plan::Simulation simulation_;
  std::string valgrind_;              // where that is; empty: nothing is simulated
  mutable std::map<std::string, size_t> simulated_;  // programs by path, numbered: prepare() has asked for all of them
  std::vector<uint64_t> stack_top_;   // by subject
  std::map<std::pair<int, int>, std::vector<std::string>> counted_;  // functions, by subject and build
  std::map<int, TableOfProgram> matched_;  // by program
  SeenFiles seen_;       // programs by path, as they were at the start
  SeenFiles libraries_;  // those that programs bring along, by path
  // Paths of programs by directory and first word, found once: prepare() has asked for all of them.
  mutable std::map<std::pair<std::string, std::string>, std::string> programs_;
};

}  // namespace stab::engine
