// The pure part of `stabctl compare`: samples of two programs or more in, an answer of one screen out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/answers/copy_price.h"
#include "analysis/commands/answers/side_differences.h"
#include "analysis/commands/time/timed_runs.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/report/experiment/samples.h"
#include "base/result.h"

namespace stab::commands {

// Of fewer blocks compare says nothing.
inline constexpr uint32_t kFewestBlocks = report::kFewestBlocksAtEnd;

// A side that is compared with the first one, and what the samples don't say of it.
struct ComparedSide {
  std::string command;                // as the user wrote it
  SideDifferences differ{};           // empty: both do the same, or weren't compared
  std::optional<CopyFacts> copies{};  // of randomized programs, where they were counted
  std::string uncounted{};            // why they were not
  std::string next_of_change{};       // the command to type next, where its difference is shown; empty: `next` of all
};

// What the samples don't say.
// invariant: there is another side
struct CompareFacts {
  std::string baseline;  // the first side as the user wrote it
  std::vector<ComparedSide> others;
  std::string clock;             // a sentence: which time is compared, how, and why
  std::string about;             // a sentence: what the difference is a difference of
  std::string unfinished;        // why it ended before its last look; empty: it didn't
  bool is_over_time = false;     // it is the time that was set before the first run: its end is the last look
  double seconds = 0;            // it took, all together
  // Its number. Absent: it was stopped before a run had ended, and is not kept.
  std::optional<int64_t> experiment{};
  std::string next;              // the command to type next, where the answer is sure
  // The same command without what it takes: "stabctl compare ./old ./new"; options that an unsure answer names come behind it.
  std::string command, arguments;  // arguments: " -- 20", or nothing
  std::string margin{};            // " --margin 2%", where it was typed: a wider one takes its place
  std::string logs{};              // the command that says why runs failed
  std::string shares{};            // what the sides share while they run, and how they don't; empty: nothing
};

struct CompareOutput {
  int exit_code = 0;  // 0 none is slower by the margin, 1 one is, 3 unsure
  std::string text;   // for a terminal
  std::string json;   // "stab-compare", docs/reference/report-json.md
  std::string markdown;
};

// pre: a treatment whose levels are the sides, in their order. Of samples that are not complete the last declared look that was
// reached is told; without one it is unsure. Verdicts of several sides are corrected for their number (Holm), their intervals are
// each at the report's level.
Result<CompareOutput> compare_answer(const report::Samples& samples, const CompareFacts& facts, int width = 100);

}  // namespace stab::commands
