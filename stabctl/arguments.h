// Arguments: what the user typed, parsed; CLI11 stays inside arguments.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stab::ctl {

enum class Command {
  kExtend, kReplay, kRerun, kDelete, kLogs, kDbCheck, kDbBackup, kDbVacuum,
  kPlanCheck, kPlanPower, kRun, kResume, kReport, kList, kCompare, kSelftest, kDoctor, kMachineShow, kMachineTune, kMachineRestore,  // on a database of our own
  kBundle,
  kSubmit, kStatus, kWatch, kPause, kCancel, kPriority,                             // through the daemon
};

struct Arguments {
  Command command = Command::kList;
  std::string plan;        // a file
  std::vector<std::string> plans;  // submit: files
  std::string experiment;  // name or number; empty: the newest
  std::string database;    // empty: the default place
  std::string socket;      // empty: the default place
  std::vector<std::string> words;  // machine tune: KNOB=WORD; compare: a factor and two levels, or two experiments
  std::string format;   // of a report: text, json, markdown, csv or r
  std::string figures;  // folder for a report's figures; empty: none
  std::string path;        // db backup: the copy; bundle: the file
  std::string import;      // bundle: the file to take in
  int priority = 0;        // submit, priority
  int64_t trial = 0;       // replay, rerun
  int blocks = 0;          // extend
  bool json = false;
  bool quiet = false;
  std::optional<double> seconds_per_trial;  // plan check
  double minutes = 10;               // selftest: how long it may take, about
  int comparisons = 0, links = 10;   // selftest; 0 comparisons: as many as the minutes allow
  std::string pilot;                 // plan power: name or number of an experiment
  std::optional<double> margin;      // plan power, as a share; absent: the plan's
  double power = 0.8;                // plan power
};

// What to do next: run the command, or exit with this code (help was shown, or the words were wrong).
struct ParsedArguments {
  Arguments arguments;
  std::optional<int> exit_code;
};
ParsedArguments parse_arguments(int argc, char** argv);

}  // namespace stab::ctl
