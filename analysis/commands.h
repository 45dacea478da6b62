// The pure part of `stabctl stats`, `analyze` and `compare`: options in, text and exit code out. stabctl parses
// the flags and prints; nothing here prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/samples.h"
#include "base/error.h"

namespace stab::analysis {

// What a command has to say. exit_code: 0 done; 1 shown worse (compare); 2 the input is wrong; 3 unsure
// (compare).
struct CommandOutput {
  std::string out;
  std::string err;
  int exit_code = 0;
};

// "error: ..." with exit code 2.
CommandOutput refused(const Error& error);

// How a report is written.
enum class ReportFormat { kTerminal, kJson };

struct ReportOptions {
  ReportFormat format = ReportFormat::kTerminal;
  int width = 100;
  bool colour = false;
};

// stabctl report: analyse and render.
CommandOutput run_report(const Samples& samples, const ReportOptions& options);

// stabctl stats METHOD data.csv: one method of the list by name, with R's defaults. docs/stats.md lists
// methods, flags and fields.
struct StatsOptions {
  std::string method;
  std::string path;                      // CSV; "-" is standard input
  std::vector<std::string> responses;    // empty: the only numeric column, or the last
  std::vector<std::string> groups;       // factor columns
  std::string pair;                      // subject column of paired data
  std::string alternative = "two.sided";
  std::optional<double> mu;
  double conf = 0.95;
  bool log = false;
  bool json = false;
  // Everything a single method takes: --delta, --power, --sd, --n, --low, --high, --probs, --type, --seed,
  // --resamples, --control, --looks, ... as name=value pairs without the dashes.
  std::vector<std::pair<std::string, std::string>> extra;
};
CommandOutput run_stats(const StatsOptions& options);
// "shapiro-wilk", ... in the order of the documentation, each with one line of help.
std::vector<std::pair<std::string, std::string>> stats_methods();

// stabctl analyze data.csv: a report on anybody's CSV.
struct AnalyzeOptions {
  std::string path;                   // "-" is standard input
  std::string response;
  std::vector<std::string> factors;
  std::string within;                 // subject column, empty: none
  bool log = false;
  double margin = 0.01;               // relative with --log, else in the response's unit
  double alpha = 0.05;
  int anova_type = 2;                 // 1, 2 or 3
  ReportOptions report;
};
CommandOutput run_analyze(const AnalyzeOptions& options);

// stabctl compare A B: two levels of a treatment within one experiment ("opt=-O2" "opt=-O3").
struct CompareOptions {
  std::string factor;
  std::string level_a;
  std::string level_b;
  bool json = false;
  int width = 100;
  bool colour = false;
};
CommandOutput run_compare(const Samples& samples, const CompareOptions& options);
// Two experiments: the build is confounded with the night, so the verdict is unsure whatever the numbers say.
CommandOutput run_compare(const Samples& a, const Samples& b, const CompareOptions& options);

}  // namespace stab::analysis
