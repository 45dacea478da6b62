// What `stabctl bisect` answers: the steps of a search in, text for people, JSON and Markdown out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/commit_search.h"
#include "analysis/commands/gate.h"
#include "base/result.h"

namespace stab::commands {

struct BisectCommit {
  std::string hash;
  std::string subject;  // its first line
};

// A comparison of a commit with another one, as a gate makes it.
struct BisectStep {
  size_t position = 0;  // of the commit; 0 is the good one
  size_t against = 0;   // of the commit that it was compared with
  CommitFinding finding = CommitFinding::kUnsure;
  // What the search made of it: where the finding is unsure, the likelier of both.
  CommitFinding taken = CommitFinding::kUnsure;
  std::string change, interval;  // as people read them; "-" where there are none
  double cost = 0, cost_low = 0, cost_high = 0;  // as GateQuestion has them
  bool is_share = true;  // of the cost: a share, and no difference in the response's unit
  double margin = 0;     // by which "not slower" was asked
  uint64_t blocks = 0;
  std::string workload, response, subject;  // what was compared
  std::string why;      // why there is no answer
};

// What a gate's answer says as a comparison; who compared with whom is the caller's to fill in.
BisectStep step_of(const GateQuestion& question, double margin);

enum class BisectEnd : uint8_t {
  kCommit,      // one commit, shown to be slower than the one before it
  kRange,       // some commits, which could not be told apart
  kNone,        // the bad commit is not slower by the margin
  kCannotTell,  // not even whether the bad commit is slower
};

struct Bisection {
  std::vector<BisectCommit> commits;  // [0]: the good one; the last: the bad one
  std::vector<BisectStep> steps;      // in the order of the search; [0]: of the bad commit against the good one
  size_t not_slower = 0, slower = 0;  // the culprit lies behind the first and at the second or before
  BisectEnd end = BisectEnd::kCannotTell;
  std::string subject;     // what is judged, such as a workload; empty where nothing is slower
  double margin = 0;       // of the gate, a share
  double alpha = 0;        // of each comparison, and thereby of the search
  bool faster = false;     // the search is for what made it faster: words are turned round
  std::string unfinished;  // why it ended before its time; empty: it didn't
  std::string command;     // that repeats it
};

// Compares the commit at a position with the one at another, in trials of its own. `margin`, where there is one: by how much a
// commit may be slower and still count as not slower. Position and against of its answer are filled in by the caller. Nothing: it
// was stopped.
using CompareCommits =
    std::function<Result<std::optional<BisectStep>>(size_t position, size_t against, std::optional<double> margin)>;

// The whole search: are the ends apart, where between them, and is it this commit? Takes commits and alpha of `search`, sets the
// rest but what the caller knows. Where a comparison was stopped, `search` has what was found until then.
//
// Whatever the search between the ends makes of unsure answers, the commit that it arrives at is named only if it is shown to be
// slower than the one before it, in trials that the search has not seen. So a commit that did nothing is named in at most alpha
// of all searches, however many comparisons they take.
// kBadInput: the ends themselves can't be compared.
Status run_bisection(Bisection& search, const CompareCommits& compare);

struct BisectOutput {
  int exit_code = 0;  // 0 one commit, 1 nothing to find, 3 a range or no answer
  std::string text;
  std::string json;      // format stab-bisect, version 1
  std::string markdown;  // a sentence and a table, for a comment
  std::string log;       // as `git bisect replay` reads it
};

BisectOutput bisect_output(const Bisection& search);

}  // namespace stab::commands
