// Tool formats: an experiment in the files that other tools read. Whoever tracks, plots or gates with them gets the lab's trials
// and intervals without a converter of their own.
//
// A *case* is a benchmark in the words of those tools: a workload, or a benchmark of its output, in one cell of the design. Its
// name is the workload's (or the benchmark's), and "/factor:level" for each factor that varies. Formats that list repetitions
// get a trial for each: a process with its own layout. Formats that have one number get the cell's mean with its interval,
// which on a log scale is the geometric mean. Trials that a declared rule leaves out are left out here, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/commands/answers/command_output.h"
#include "analysis/report/experiment/samples.h"
#include "base/result.h"

namespace stab::commands {

// Facts that some formats ask for and samples don't hold.
struct ToolContext {
  struct CpuTime {
    double user_s = 0;
    double system_s = 0;
  };
  std::string experiment;           // its name alone, so that the next night's is of the same series
  std::map<uint32_t, CpuTime> cpu;  // by Trial::order; a trial that has none is not there
  std::string machine;              // its name
  std::map<std::string, std::string> machine_facts;
  std::string started, finished;    // ISO 8601, UTC; empty: not yet
  std::string revision;             // what was measured, in the words of who exports; LNT orders runs by it
  std::string version;              // ours
};

// The names that a plan and a command line use, in the order of the table.
struct ToolFormat {
  std::string_view name;
  std::string_view what;  // for people
};
const std::vector<ToolFormat>& tool_formats();

// The file's text. `err` names what the format has no place for. kBadInput: no such format, nothing in the experiment that it
// can hold, or verdicts of a format that judges withheld because the experiment isn't complete.
Result<CommandOutput> export_for_tool(std::string_view format, const report::Samples& samples, const ToolContext& context);

}  // namespace stab::commands
