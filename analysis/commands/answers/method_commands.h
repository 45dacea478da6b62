// The pure part of `stabctl stats`, `analyze` and `verdict`: options in, text and exit code out. stabctl parses
// the flags and prints; nothing here prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/rendering/first_screen.h"
#include "base/error.h"

namespace stab::commands {

// What a command has to say. exit_code: 0 done; 1 shown worse (verdict); 2 the input is wrong; 3 unsure
// (verdict).
struct CommandOutput {
  std::string out;
  std::string err;
  int exit_code = 0;
};

// "error: ..." with exit code 2.
CommandOutput refused(const Error& error);

// How a report is written. For people: one screen of answers, or all of it.
enum class ReportFormat { kFirstScreen, kTerminal, kJson, kMarkdown, kLatex, kCsv, kR };

struct ReportOptions {
  ReportFormat format = ReportFormat::kTerminal;
  int width = 100;
  bool colour = false;
  std::string figures;  // folder that takes SVG figures; empty: none
  report::Whereabouts where = {};  // of kFirstScreen
};

// stabctl report: analyse and render. kCsv exports the trials, kR a script that repeats the analysis on them.
CommandOutput run_report(const report::Samples& samples, const ReportOptions& options);

// stabctl stats METHOD [data.csv] [--flags]: one method of the list by name, with R's defaults. args: what
// follows the word "stats". docs/reference/stats.md lists methods, flags and fields. `--help` and `METHOD --help` explain.
CommandOutput run_stats(const std::vector<std::string>& args, int width = 100);

// stabctl analyze data.csv --response COL --factors a,b [--within SUBJECT] [--log] ...: a report on anybody's
// CSV. args: what follows the word "analyze".
CommandOutput run_analyze(const std::vector<std::string>& args, int width = 100, bool colour = false);

// stabctl plan power: replicates a cell that a plan needs, from a pilot experiment with the same factors. The primary
// response is the plan's.
struct PowerOptions {
  std::optional<double> margin;  // absent: the pilot's
  double power = 0.8;
  uint64_t planned = 0;              // the plan's replicates; 0: not known
  std::vector<std::string> unknown;  // programs of the plan that the pilot didn't run
  size_t responses = 1;              // that the plan declares
  std::optional<bool> is_sliced{};   // the plan runs its blocks in slices; absent: not known
  bool json = false;
  int width = 100;
};
CommandOutput run_power(const report::Samples& pilot, const PowerOptions& options);

// stabctl verdict: level B of a treatment against level A, within one experiment. Exit code for CI: 0 shown not
// worse beyond the margin, 1 shown worse, 3 unsure; 2 the question can't be asked.
struct CompareOptions {
  std::string factor;   // ignored between two experiments
  std::string level_a;
  std::string level_b;
  bool json = false;
  int width = 100;
  bool colour = false;
};
CommandOutput run_compare(const report::Samples& samples, const CompareOptions& options);
// Experiment B against experiment A: the build is confounded with the night, so the answer is unsure (3) whatever
// the numbers say. They are shown.
CommandOutput run_compare(const report::Samples& a, const report::Samples& b, const CompareOptions& options);

}  // namespace stab::commands
