// The pure part of `stabctl explain`: what was decided of two builds, as a screen of text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/answers/copy_price.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/statistics/places/best_places.h"
#include "analysis/statistics/places/cause.h"
#include "analysis/statistics/places/place_effects.h"
#include "analysis/text/json_writer.h"
#include "base/result.h"

namespace stab::commands {

// A function whose place was drawn: in the order of statistics::PlaceAnswer::functions.
struct PlacedFunctionFacts {
  std::string name;          // for people: "libfoo.so.1!inflate" if it is a library's
  uint64_t old_address = 0, new_address = 0;  // link-time
  uint64_t bytes = 0;
  double share = 0;          // of the samples
  std::string library = {};  // "libfoo.so.1"; empty: it is the program's own
  bool is_named = true;      // by a symbol that no other function has
  std::string why_unplaced = {};  // why no layout file can place it; empty: one can
};

// What to type so that builds keep functions where they are fast.
struct CureCommands {
  std::string emit;    // "stabctl layout emit 17 --out lua.layout"
  std::string file;    // "lua.layout"
  std::string verify;  // "stabctl layout verify lua.layout"; what is built with the file is measured
  bool must_ask_again = false;  // the runs are gone when this ends: explain must be asked, which keeps them
};

// Which of the functions it is; or why that is not known.
struct FunctionSearch {
  std::string not_done;  // why there is no answer; empty: there is one
  std::optional<statistics::PlaceAnswer> answer;
  std::vector<PlacedFunctionFacts> functions;
  bool sampled = false;
  double unmatched = 0;  // share of the samples that is in functions which can't be put elsewhere
  uint64_t left_out = 0;
  std::optional<statistics::BestPlaces> best = {};  // absent: none of those that were found can be placed
  CureCommands cure = {};
};

// Where both programs were in shared libraries.
struct LibraryFacts {
  struct Function {
    std::string name;                           // "libfoo.so.1!inflate"
    bool moved = false;                         // drawn at random as the program's functions are; else it stays
    bool lies_alike = false;                    // it stays, at the same place of its page in both
    uint64_t old_address = 0, new_address = 0;  // link-time; 0: not sampled there
    double old_share = 0, new_share = 0;        // of the samples
  };
  std::string not_known;            // why nothing is known; empty: the rest is
  double share = 0;                 // of the samples of both, in all libraries
  double unmoved = 0;               // and in those whose code stays
  double apart = 0;                 // of those, in functions that begin at another place in each
  std::vector<Function> functions = {};  // the most sampled first
  double rebuilt = 0;                    // share of the samples, in files that are not the same one in both
};

// What each program did when it ran alone, before the blocks.
struct AloneFacts {
  double old_on_cpu = 1, new_on_cpu = 1;    // the share of its time that it was on a CPU; above 1: on several
  bool old_waits = false, new_waits = false;  // for something else, and so much that its CPU time could hide a change
  std::vector<std::string> old_outputs = {}, new_outputs = {};  // hashes of what it printed, each time

  // Each printed the same every time, and not what the other one did. Of one time nobody knows.
  bool print_something_else() const;
};

// What the two programs' own bytes say of what was changed, whatever addresses their functions use.
struct BodyFacts {
  struct Object {
    std::string name;
    uint64_t old_address = 0, new_address = 0;  // link-time
    uint64_t old_bytes = 0, new_bytes = 0;
    bool is_other = false;  // as long, and its contents differ
  };
  uint64_t functions = 0;            // that can be moved, of both
  std::vector<std::string> changed = {};  // whose instructions differ
  std::vector<std::string> constants = {};  // whose instructions are the same, and use other strings or other constants
  bool knows_constants = true;              // what is in them is known of both
  std::vector<std::string> old_alone = {}, new_alone = {};
  std::vector<std::pair<std::string, std::string>> renamed = {};  // the old name and the new one of the same instructions
  std::optional<double> changed_share{};  // of the samples, in those four kinds; absent: nothing was sampled
  double unmatched = 0;              // share of the samples in functions that never move, whose bytes are not compared
  // Functions of both that never move, are as long in both, and begin elsewhere in their page: shares of each one's samples, and
  // their standard errors. What their place makes is in all four runs, and counts as code.
  std::vector<std::string> still = {};
  double old_still = 0, new_still = 0, old_still_error = 0, new_still_error = 0;
  std::vector<Object> data = {};     // data of both that is longer in one, has other contents, or begins elsewhere in its page
  bool are_same() const;
};

// What a simulator counts of both programs, asked the same two questions. It has no noise: what varies is the layouts.
struct SimulatedFacts {
  std::string not_done = {};  // why there is no result; empty: there is one
  std::string model = {};     // what the cost is, and of which caches: "simulated cost = instructions + 10 x ..."
  struct Run {
    double instructions = 0, cost = 0;
  };
  Run old_run = {}, new_run = {};            // as they were linked
  statistics::CauseEffect instructions = {};  // of those runs
  statistics::CauseAnswer answer = {};        // of the cost; blocks are layouts
};

struct Explanation {
  std::string old_name, new_name, command;
  statistics::CauseSettings settings;
  std::optional<statistics::CauseAnswer> answer;  // absent: `not_answered` says why
  std::string not_answered;
  bool is_one_build = false;          // of both sides, so nothing differs: there is no answer, and none is wanted
  bool are_one_program = false;       // two builds with the same bytes, and the same libraries: no difference is theirs
  std::string unfinished;             // why it ended early: "the time of --at-most was over"
  // Its user ended it between two looks, where no answer may be given. pre: the answer is kUnresolved, and its effects are open
  bool is_between_looks = false;
  std::optional<FunctionSearch> search;  // where place is a part of it
  std::optional<LibraryFacts> libraries;  // absent where the answer is nothing
  std::optional<BodyFacts> bodies;        // the same
  std::optional<CopyFacts> copies;        // where both programs ran so
  std::string uncounted;                  // why there are none where they were wanted
  std::optional<AloneFacts> alone;        // where each ran so
  std::optional<SimulatedFacts> simulated;  // where a simulator was to be asked, too
  std::string wall_command;               // what compares wall time: "stabctl compare ./old ./new compares it"
  double seconds = 0;                 // that the blocks took
  std::vector<int64_t> experiments;   // that keep the trials
  std::vector<std::string> care;      // what may turn the answer: caveats of its experiments
};

struct ExplainOutput {
  int exit_code = 0;  // 0 answered, 3 unresolved, 2 no answer
  std::string text, json;
};
ExplainOutput explain_output(const Explanation& explanation, int width);

// What may turn an answer from these trials: their caveats, a line each.
Result<std::vector<std::string>> care_of(const report::Samples& samples);
// The answer as one sentence. pre: there is one
std::string explain_sentence(const Explanation& explanation);
// What the JSON says, as fields of the object that is open.
void write_explanation(text::JsonWriter& json, const Explanation& explanation);

}  // namespace stab::commands
