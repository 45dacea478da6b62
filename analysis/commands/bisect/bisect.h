// What `stabctl bisect` answers: the steps of a search in, text for people, JSON and Markdown out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/bisect/bisect_place.h"
#include "analysis/commands/bisect/commit_search.h"
#include "analysis/commands/gate/gate.h"
#include "base/result.h"

namespace stab::commands {

// Of a commit's hash, as much as people read.
inline constexpr size_t kShownHash = 12;

struct BisectCommit {
  std::string hash;
  std::string subject;  // its first line
  bool is_merge = false;
};

// A comparison of a commit with another one, as a gate makes it.
struct BisectStep {
  size_t position = 0;  // of the commit; 0 is the good one
  size_t against = 0;   // of the commit that it was compared with
  bool faster = false;  // it was asked whether the commit is faster: words and costs are turned round
  bool may_name = false;  // it was asked whether to name the commit, against the one before it
  double alpha = 0;     // of this comparison
  size_t part = 0;      // of the search: 0 is the first one, then as `further` has them
  CommitFinding finding = CommitFinding::kUnsure;
  // What the search took the commit for in the end; unsure: it lies in the range that is left.
  CommitFinding taken = CommitFinding::kUnsure;
  std::string change, interval;  // as people read them; "-" where there are none
  double cost = 0, cost_low = 0, cost_high = 0;  // as GateQuestion has them
  bool is_share = true;  // of the cost: a share, and no difference in the response's unit
  std::string unit;      // of the cost: "share", or the response's
  double margin = 0;     // by which "not slower" was asked
  uint64_t blocks = 0;
  double standard_error = 0;  // as GateQuestion has it; 0: not known
  double copies_half_width = 0;  // as GateQuestion has it
  std::string workload, response, subject;  // what was compared
  std::string why;      // why there is no answer
  bool by_copies = false;  // which is what random layouts cost by themselves
  bool is_one_program = false;  // known of the ends alone: both run the same files, byte for byte
  std::vector<std::string> care;  // what may turn the answer: caveats of its trials, and what could not be counted
};

// What a gate's answer says as a comparison; who compared with whom is the caller's to fill in.
BisectStep step_of(const GateQuestion& question, double margin);

enum class BisectEnd : uint8_t {
  kCommit,      // one commit, shown to be slower than the one before it
  kRange,       // some commits, which could not be told apart
  kNone,        // the bad commit is not slower by the margin
  kCannotTell,  // not even whether the bad commit is slower
  kPlace,       // the bad commit is not slower by the margin, and the place of its functions makes it slower
};

// A search between two of the commits, once one was found that does not explain what lies between the ends.
struct BisectPart {
  size_t good = 0, bad = 0;           // positions
  bool faster = false;                // for what made it faster
  double alpha = 0;                   // of the comparison that names a commit, or would have
  size_t not_slower = 0, slower = 0;  // as Bisection has them
  // By the model (commit_search.h): that the commit, or one of the range, made it slower; where nothing is to be found, or nobody
  // can tell, that no commit made it slower by the margin. Nothing: it has no numbers.
  std::optional<double> probability;
  BisectEnd end = BisectEnd::kCannotTell;
};

struct Bisection {
  std::vector<BisectCommit> commits;  // [0]: the good one; the last: the bad one
  std::vector<BisectStep> steps;      // in the order of the search; [0]: of the bad commit against the good one
  size_t not_slower = 0, slower = 0;  // the culprit lies behind the first and at the second or before
  std::optional<double> probability;  // as a part has it
  BisectEnd end = BisectEnd::kCannotTell;
  std::vector<BisectPart> further;    // where that is a commit, and others have a part in the difference
  std::vector<BisectPlace> places;    // of the ends, of each workload, where no commit is slower; empty: nobody has asked
  std::string no_places;   // why nobody has; empty: for no reason that has to be said
  std::string subject;     // what is judged, such as a workload; empty where nothing is slower
  double margin = 0;       // of the gate, a share
  double alpha = 0;        // share of searches that name a commit that did nothing
  bool faster = false;     // the search is for what made it faster: words are turned round
  bool is_of_binaries = false;  // commits are compared as they are linked, and not over layouts
  std::string unfinished;  // why it ended before its time; empty: it didn't
  std::string clock;       // which time was compared, and why; empty: as the gate's file says
  std::string command;     // that repeats it
};

// Whether the commit at one position is slower than the one at another, or faster.
struct BisectQuestion {
  size_t position = 0, against = 0;
  std::optional<double> margin;  // by how much it may be slower and still count as not slower; absent: the gate's
  double alpha = 0;
  bool may_name = false;  // the answer names the commit if it is slower
  bool faster = false;
  // So many, as the answer leads the search and names nobody; 0: as many as settle it, kMostBlocksOfComparison at most
  // (comparison_looks.h).
  uint32_t blocks = 0;
  size_t left = 0;  // commits that the culprit is one of, for people
};

// Compares two commits in trials of their own. What was asked is filled in by the caller. Nothing: it was stopped.
using CompareCommits = std::function<Result<std::optional<BisectStep>>(const BisectQuestion&)>;

// The whole search: are the ends apart, where between them, and is it this commit? Takes commits and alpha of `search`, sets the
// rest but what the caller knows, and places (add_places). Where a comparison was stopped, `search` has what was found until
// then.
//
// Once a commit is named, and does not explain what lies between the ends (bisect_rest.h) but for half of the gate's margin, the
// search goes on before and behind it, for what made it slower or faster, whichever is left.
//
// Between two ends each comparison makes some places likelier (commit_search.h). It takes as many blocks as tell a commit that
// costs what is searched from one that costs nothing, by the spread that the comparison of the ends has seen. Whatever that has
// led to, the commit that the search arrives at is named only if it is shown to be slower than the one before it, in trials that
// the search has not seen: if the interval at 1 - alpha of the search, which has as much error on both sides, lies above zero. A
// commit that did nothing passes that in alpha / 2. Where it isn't shown the search goes on with what it has learned, and may
// arrive at another one. The second question whether to name a commit is asked at alpha / 2, the third at alpha / 4, and so on,
// so all of them together are wrong in at most alpha / 2 (1 + 1/2 + 1/4 + ...) = alpha of all searches, however many commits and
// comparisons there are.
// kBadInput: the ends themselves can't be compared.
Status run_bisection(Bisection& search, const CompareCommits& compare);

struct BisectOutput {
  int exit_code = 0;  // 0 one commit, 1 no commit to find, be it the place or nothing, 3 a range or no answer
  std::string text;
  std::string json;      // format stab-bisect, version 3
  std::string markdown;  // a sentence and a table, for a comment
  std::string log;       // as `git bisect replay` reads it
  std::string sentence, next, error;  // the answer, what to do, and how often it is wrong, a line each
  std::vector<std::string> places;    // what explain says of the ends' places, a line each
  std::vector<std::string> care;      // of each comparison what may turn it, a line each
};

BisectOutput bisect_output(const Bisection& search);

}  // namespace stab::commands
