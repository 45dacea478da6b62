// Match tables of an experiment: for each program what its builds have in common (runtime/code/match_table.h). They are made of
// the binaries, again whenever they are needed: what a trial followed names its table by a hash, so nothing of one is stored.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stabd/engine/results/layout_tool.h"
#include "stabd/engine/results/renamed_functions.h"

namespace stab::engine {

struct ProgramMatch {
  std::string line;         // "match ROWS 0xHASH"; empty: there is no table
  std::string why_not;      // in words, where there is none
  std::string rows;         // the table's bytes
  size_t builds = 0;
  FirstNames renamed;       // functions that have another name than in the first build, and its place
  double widest = 1;        // how many times as long an image by the table is as the shortest build's own
};

// Of the builds of this program as they are linked without a layout seed. An Error says nothing about them: a stop, or the store.
// `by_contents`: functions that have another name in another build are found by what is in them.
Result<ProgramMatch> match_program(store::Store& store, store::Id experiment, std::string_view program, const Archive& archive,
                                   const LayoutTool& tool, bool by_contents = true);

// A script of that table alone, as stab-layout reads one. pre: `match` has a line
std::string script_of(const ProgramMatch& match);

// An image by a table that is longer than this many times a build's own is another program's: its functions would lie so far
// apart that pages and their look-up buffers are another matter than the build's.
inline constexpr double kWidestMatch = 1.5;

// What stab-layout is to read as the script of a trial: `script`, and behind it the table that it names, if it names one.
Result<std::string> script_with_table(store::Store& store, const store::TrialRow& trial, const std::string& script,
                                      const Archive& archive, const LayoutTool& tool);

}  // namespace stab::engine
