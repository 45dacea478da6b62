// Arguments: what the user typed, parsed; CLI11 stays inside arguments.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stab::ctl {

struct Arguments {
  std::string plan;        // a file
  std::vector<std::string> plans;  // submit: files
  std::string experiment;  // name or number; empty: the newest
  std::string database;    // empty: the default place
  bool is_database_temporary = false;  // it goes when the command ends, so nobody is told of it
  std::string socket;      // empty: the default place
  std::vector<std::string> behind;  // compare, explain, bisect: what stands behind --, arguments of both sides
  std::string build;       // compare, explain, bisect: the command that builds a revision; empty: there is none
  std::string save, export_json;  // compare, time: files that take the plan, and the times as hyperfine writes them
  std::string store, against;  // time: files of a stored baseline, that takes this session, and that it is compared with
  bool shell = false;      // compare, time: commands are for /bin/sh
  std::string prepare;     // compare, time, explain: what /bin/sh runs before each run
  std::string input;       // compare, time, explain: a file that runs get on standard input
  int warmup = 0;          // compare, time: runs before the first measured one
  std::string exit;        // compare, time, explain: the statuses that runs may end with, "0,1"; empty: 0
  bool are_dashes_typed = false;  // time: its program stands behind --
  std::vector<std::string> words;  // machine tune: KNOB=WORD; verdict: a factor and two levels, or two experiments
  std::string format;   // of a report: text, json, markdown, latex, csv or r; export: of another tool
  std::string html;     // file that takes the report as a page; empty: none, or the usual place
  std::string figures;  // folder for a report's figures; empty: none
  std::string path;        // db backup: the copy; bundle, layout emit: the file; verify: the page; export: empty: stdout
  std::string import;      // bundle: the file to take in
  std::string range;       // gate, bisect: BASE..HEAD
  std::string log;         // bisect: file that takes what 'git bisect replay' reads
  bool faster = false;     // bisect: for the commit that made it faster
  bool no_explain = false; // bisect: ask nothing of the place where no commit is slower
  std::string series, factor, anchor;  // trend
  std::string at_most;     // gate, compare, explain, time: how long it may take; empty: a minute, the gate as long as it does
  std::string summary;     // gate: file that takes Markdown
  std::string revision;    // export: what was measured, for LNT
  std::string junit;       // gate: file that takes JUnit's XML
  int priority = 0;        // submit, priority
  std::string under;       // replay: the tool that its program is run by
  int times = 0;           // replay: runs of its layout, beside as many fresh ones; 0: once, beside none
  int64_t trial = 0;       // replay, rerun, layout
  int blocks = 0;          // extend
  int port = 0;            // web; 0: any that is free
  int slot = -1;           // work
  int epoch = 0;           // work; layout show, 0: the first
  std::string spool;       // work: a directory; empty: files come over standard input and output
  std::string scratch = "/tmp";  // work: for its own store
  std::string machine;     // work: what to call this machine
  bool attached = false;   // work: ends when standard input does
  bool no_browser = false;  // web: open none
  std::optional<std::string> ssh;  // web: the host whose daemon it is; absent: this one
  bool daemon = false;    // status: how it fares itself
  bool json = false;
  bool wait = false;       // submit, replay: until they end
  bool full = false;       // of a report: all tables, not the first screen alone
  bool quiet = false;
  std::string color = "auto";  // of a report: auto, always, never
  std::optional<double> seconds_per_trial;  // plan check
  double minutes = 10;               // selftest: how long it may take, about
  int comparisons = 0, links = 10;   // selftest; 0 comparisons: as many as the minutes allow; links: layout verify, too
  int runs = 2, draw = 1;            // layout verify: of each link; which links
  bool simulate = false;             // layout verify, explain
  bool slow = false;                 // layout emit, verify: the control
  std::string workload;              // layout emit, verify: of several maps; explain: of several of a file
  std::string pilot;                 // plan power: name or number of an experiment
  std::optional<double> margin;      // plan power, import, compare, explain: as a share; absent: the plan's, or 1 %
  double power = 0.8;                // plan power
  std::string progress, scope;       // causal
  int trials = 10;                   // causal
  bool one_cpu = false;              // causal
  bool gate = false, force = false;  // init: a gate's file, too; over files that are there
  bool nightly = false;              // selftest: one A/A control of this session, for a logbook
  // selftest: the file that keeps it; empty: the gate's, or the user's own. trend: the file that has controls
  std::string logbook;
  bool bisect = false;               // gate: exit status for git bisect run
  std::string coz;                   // of a causal report: file that takes it for coz plot
};

struct CommandRow;

// What to do next: run the command, or exit with this code (help was shown, or the words were wrong).
struct ParsedArguments {
  Arguments arguments;
  const CommandRow* command = nullptr;
  std::optional<int> exit_code;
};
// words: the command line without its first.
ParsedArguments parse_arguments(const std::vector<std::string>& words);

}  // namespace stab::ctl
