// Where each function of a build lies as it was linked, and runs of one build whose functions lie where another build has
// them: what `stabctl explain` asks of which function the place is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/statistics/places/cause.h"
#include "analysis/statistics/places/place_effects.h"
#include "base/result.h"
#include "stabd/engine/results/build_bodies.h"
#include "stabd/engine/results/layout_tool.h"
#include "stabd/engine/results/library_samples.h"
#include "store/store.h"

namespace stab::engine {

// A function that two builds have, or that builds of a library have which they load. It is known by its identity, also where the
// builds have no symbols or several functions of its name; in lists without identities by a name that no other function has.
struct SharedFunction {
  std::string name;          // as a layout script names it in the new build, without its library
  std::string library;       // "libfoo.so.1"; empty: it is the program's own
  std::string shown;         // for people
  bool is_named = true;      // by a symbol that no other function has
  uint64_t old_linked = 0, new_linked = 0;  // link-time addresses
  uint64_t bytes = 0;        // in the new build
  double share = 0;          // of the samples of both builds, 0 to 1; where nothing was sampled 0
  // A place is the address's remainder, up to the 16 bytes that a copy keeps anyway.
  uint32_t old_place() const { return static_cast<uint32_t>(old_linked % 4096) & ~15u; }
  uint32_t new_place() const { return static_cast<uint32_t>(new_linked % 4096) & ~15u; }
  bool is_moved() const { return old_place() != new_place(); }
};

// A function of one build, as stab-layout lists it, and the samples that hit it.
struct ListedFunction {
  uint64_t linked = 0, bytes = 0;
  std::string name;
  bool moves = false;
  double samples = 0;
  uint64_t identity = 0;  // 0: its list has none
};

struct ListedBuild {
  std::vector<ListedFunction> functions;  // in the order of the metadata
  std::string text_hash;
  double samples = 0;  // of all, wherever
  LibrarySamples in_libraries;
  BuildBodies bodies;
  std::map<std::string, BuildBodies> libraries;  // that it brings along and szc built, by the names of their files

  void add(ListedFunction function) {
    const auto put = [this](auto& where, const auto& key) {
      const auto [found, is_new] = where.emplace(key, functions.size());
      if (!is_new) found->second = kSeveral;
    };
    put(named_, function.name);
    if (function.identity != 0) put(identified_, function.identity);
    functions.push_back(std::move(function));
  }

  // The library with this code, and the name of its file. Null: it is none of these.
  const std::pair<const std::string, BuildBodies>* library_of(uint64_t hash) const {
    for (const auto& one : libraries)
      if (one.second.text_hash == hash) return &one;
    return nullptr;
  }

  // Null where none or several have the name.
  const ListedFunction* find(const std::string& name) const { return at(named_, name); }
  // The one that is `other` of another build. Null where none or several are.
  const ListedFunction* find_same(const ListedFunction& other) const {
    return other.identity != 0 && !identified_.empty() ? at(identified_, other.identity) : find(other.name);
  }

 private:
  static constexpr size_t kSeveral = SIZE_MAX;
  template <typename Where, typename Key>
  const ListedFunction* at(const Where& where, const Key& key) const {
    const auto found = where.find(key);
    return found == where.end() || found->second == kSeveral ? nullptr : &functions[found->second];
  }

  std::unordered_map<std::string, size_t> named_;      // by name: where it is in `functions`
  std::unordered_map<uint64_t, size_t> identified_;    // by identity
};

// Where the builds were in files other than their own.
struct SharedLibraryFunction {
  std::string name;                         // "libfoo.so.1!inflate"; the file's alone: the rest of it
  bool moved = false;                       // code of its file is drawn as the program's is; else it stays
  bool lies_alike = false;                  // it stays, and begins at the same place of its page in both
  uint64_t old_linked = 0, new_linked = 0;  // link-time addresses; 0: that build was not seen in it
  double old_share = 0, new_share = 0;      // of the build's samples, 0 to 1
};

struct SharedLibraries {
  std::vector<SharedLibraryFunction> functions;  // that may be busy in one of them, the most sampled first
  double share = 0;                              // of both builds' samples, in all such files
  double unmoved = 0;                            // and in those whose code stays
  double apart = 0;                              // of those, in what begins at another place in each build, or may do so
  double rebuilt = 0;                            // in files that may not be the same one in both, and were not compared
};

// Whether a function with so many of a build's samples may have the share that a place of a percent takes at least. Of few
// samples, two standard errors more may be meant, so that of a short program's 300 one is enough.
bool may_be_busy(double samples, double all);

// What a run in copies has more to do than a plain one, in the mean of its runs.
struct CopiedRun {
  double pointer_entries = 0;  // calls that came by a canonical entry, as through pointers
  double libraries = 0;        // that moved, each time that one was loaded
  double functions = 0;        // that were copied
  double cpu_seconds = 0;
};

// Of two builds with identical copies (`code = ["copy"]`) whose samples were kept, the old one in cell 0. kBadInput: one of them
// has no recorded trial.
Result<std::array<CopiedRun, 2>> copied_runs(store::Store& store, const store::ExperimentRow& row);
// The same by workload; one that isn't there has no recorded trial of one of the two.
Result<std::map<std::string, std::array<CopiedRun, 2>>> copied_runs_by_workload(store::Store& store,
                                                                                const store::ExperimentRow& row);

// Functions of both builds that never move, are as long in both, and begin at another place of their page in each.
struct StillFunctions {
  std::vector<std::string> names;         // that may be busy, the most sampled first
  double old_share = 0, new_share = 0;    // of each build's samples, 0 to 1, in all of them
  double old_error = 0, new_error = 0;    // standard errors of these
};

struct SharedFunctions {
  std::vector<SharedFunction> moved;  // between the builds: what can make a difference, the busiest first
  // Keep the new build's place in every run: those that are busy and lie alike in both, then quiet ones, as many as a script
  // holds. A quiet one may be what a moved one collides with, and would lie elsewhere if nothing were said of it.
  std::vector<SharedFunction> stayed;
  std::string text_hash;              // of the new build
  // `moved` are those that may be busy, then quiet ones where they are few; else all, the largest first.
  bool sampled = false;
  double unmatched = 0;               // share of the samples in functions that only one build has, or that never move
  StillFunctions still;
  size_t left_out = 0;                // moved ones beyond the most that are looked at
  SharedLibraries libraries;
  BodiesOfBoth bodies;
  double changed = 0;  // share of the samples of both in functions whose instructions differ, or that one build alone has
  CopiedRun older, newer;
};

// `most`: moved functions. Of a library that is the same file in both, or stays, none is among them: they lie alike.
SharedFunctions functions_of_both(const ListedBuild& older, const ListedBuild& newer, size_t most);

// As SharedFunctions has it.
double share_of_changed(const ListedBuild& older, const ListedBuild& newer);

SharedLibraries libraries_of_both(const ListedBuild& older, const ListedBuild& newer);

// Why no layout file of its build can place it; empty: one can. A library's function is named by its address here, so of its name
// nothing is said.
std::string why_unplaced(const SharedFunction& function);

// The functions of the build that this trial ran, without samples. `renames`: a script with the table of both builds, where
// functions are called otherwise in one of them; empty: there is none.
Result<ListedBuild> list_build(store::Store& store, const store::TrialRow& trial, const Ran& ran, const std::string& text_hash,
                               const Archive& archive, const LayoutTool& tool, const std::string& renames);

// From the recorded trials of an experiment that ran two builds with identical copies (`code = ["copy"]`), the old one in cell
// 0, and kept samples if it could. `most`: moved functions. `libraries`: paths of those that each build brings along.
Result<SharedFunctions> shared_functions(store::Store& store, const store::ExperimentRow& row, size_t most,
                                         const Archive& archive, const LayoutTool& tool,
                                         const std::array<std::vector<std::string>, 2>& libraries);

// The layout script by which the new build's moved functions each lie, drawn for each run, where one of the two builds has
// them.
std::string script_of_places(const SharedFunctions& functions);

// The functions that such a script moves, in their order: as the recorded trials of an experiment with it ran them. Of the old
// build their places are known, and not their addresses; of a library's, addresses alone. kBadInput: no trial is recorded, or the
// script is none of these.
Result<SharedFunctions> functions_of_script(store::Store& store, const store::ExperimentRow& row, const std::string& script,
                                            const Archive& archive, const LayoutTool& tool);

// What an experiment with that script has measured: its recorded trials that no rule excludes.
Result<std::vector<statistics::PlacedRun>> placed_runs(store::Store& store, const store::ExperimentRow& row,
                                                     const SharedFunctions& functions, const Archive& archive,
                                                     const LayoutTool& tool);

// The whole blocks of an experiment with two builds crossed with code off and code drawn, in this order of factors and levels: of
// CPU time, or of another response that is above zero.
Result<std::vector<statistics::CauseBlock>> cause_blocks(store::Store& store, const store::ExperimentRow& row,
                                                         const std::string& response = "cpu_time");

}  // namespace stab::engine
