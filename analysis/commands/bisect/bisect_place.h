// What `stabctl explain` says of the ends of a search that has found nothing: over random layouts the places of functions average
// away, and what users run has one place for each function, which may be the slower one.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/bisect/commit_search.h"
#include "analysis/commands/gate/gate_places.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {

struct Bisection;

// Of one workload.
struct BisectPlace {
  std::string workload;
  // kSlower: the place of the bad commit's functions is shown to make it slower, or faster where that is searched, by an effect
  // that may reach the margin. kNotSlower: shown not to. kUnsure: that is open, or there is no answer.
  CommitFinding finding = CommitFinding::kUnsure;
  double effect = 0;             // of the place, a share; positive: slower
  std::string change, interval;  // of the place, for people: "16.10 % slower", "[+14.00, +18.20] %"; empty: not known
  std::string functions;         // "'wide'": where it is known which ones make half of that or more
  std::string sentence;          // explain's, or why it has no answer
  std::string command;           // that asks the same by hand
  std::vector<std::string> care;
  bool is_cut = false;           // its time ended it, or its user did, and more of it may decide
  double error = 0;              // at most this share of places that make no difference is called slower
  std::string explained;         // what explain prints with --json
};

BisectPlace bisect_place_of(const GatePlace& place, bool faster);

// What was said of the ends' places is a part of the answer. pre: the search has ended, and no commit is slower
void add_places(Bisection& search, std::vector<BisectPlace> places);

// Of the workload whose place makes the largest difference of those that are slower by it. Null: of none.
const BisectPlace* worst_place(const Bisection& search);

// The answer, of a search that no commit explains.
std::string place_sentence(const Bisection& search);
// What to do where nothing was found.
std::string place_next(const Bisection& search);
// "place of work: place: ...", a line for each workload that was asked about, and what may turn its answer.
std::vector<std::string> place_lines(const Bisection& search);
// "; a place that makes no difference ...", how often such an answer is wrong; empty: the answer is none of a place's.
std::string place_error(const Bisection& search);
// The member "places".
void write_places(text::JsonWriter& json, const Bisection& search);

}  // namespace stab::commands
