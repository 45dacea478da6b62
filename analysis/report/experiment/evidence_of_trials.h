// Evidence: what stands behind an experiment's numbers, as plain data: its plan, builds, machine, and for each trial the
// number to replay it by and what was seen beside it. Whoever holds it (the store) fills one in; it judges nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stab::report {

struct BuildEvidence {
  std::string name;
  std::string state;
  std::string command;     // as run, for people
  std::string input_hash;  // of everything that went in
  std::string sha256;      // of the binary
};

// One piece of the ledger over all trials: steal, interrupts, pressure, ...
struct WeatherTrack {
  std::string name;
  std::vector<double> values;  // one for each trial, in the order of Samples::trials
};

struct PastEvent {
  std::string at, kind, text;
};

// What `stabctl selftest` last found in the same database: the lab's own rate of false alarms.
struct SelftestEvidence {
  std::string experiment, at;
  uint64_t comparisons = 0, false_alarms = 0, links = 0;
  double alpha = 0.05, rate = 0, low = 0, high = 1;  // the exact 95 % interval of the rate
  bool too_many = false;
};

// Trials whose layout 'stabctl replay --times' refuses to run beside fresh ones.
struct NoReplay {
  std::string why;
  std::vector<std::vector<uint16_t>> cells;  // of these, by the level of each factor; empty: of all
};

// invariant: trial_numbers, started_s, builds_of_trials and each track are empty or as long as Samples::trials
struct Evidence {
  int64_t experiment = 0;  // its number where commands find it, in the database or at the daemon; 0: none
  std::string options;     // that commands need to find it: " --db lab.db", " --socket PATH"; empty: none
  bool at_daemon = false;  // it is a daemon's, which does less than an engine of one's own: it replays with --times alone
  std::string name;        // as commands take it
  std::string state, submitted, finished;
  std::string plan, plan_path;
  std::string schedule;    // fingerprint of the schedule as expanded
  uint64_t seed = 0;
  std::vector<std::string> exclusion_rules;  // as declared in the plan, before the data
  std::vector<BuildEvidence> builds;
  std::vector<std::pair<std::string, std::string>> host;
  std::vector<PastEvent> events;
  std::vector<uint64_t> trial_numbers;       // for `stabctl replay`
  std::vector<NoReplay> no_replays;
  std::vector<double> started_s;             // since the first trial began
  std::vector<int32_t> builds_of_trials;     // index into builds, -1: none
  std::vector<WeatherTrack> weather;         // those that are above zero somewhere
  std::vector<std::string> calm;             // tracks that never were, or that this machine doesn't have
  std::optional<SelftestEvidence> selftest;
  std::vector<std::string> layout_maps;      // JSON of each (report/layout_map.h), where the plan asks for maps
};

}  // namespace stab::report
