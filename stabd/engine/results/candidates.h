// From samples to lines, and from lines to what a trial is told of them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/causal.h"
#include "stabd/engine/trial/area_file.h"
#include "stabd/lines/wire/lines_wire.h"
#include "store/causal_records.h"

namespace stab::engine {

// Samples of several pilot trials by place, each place once; modules by path.
class PilotSamples {
 public:
  // Only of modules whose names the plan has: the executable `main`, and others by the last part of their path.
  void add(const CausalRecord& record, const std::string& main, const std::vector<std::string>& wanted_modules);
  const std::vector<lines::Module>& modules() const { return modules_; }
  const std::vector<lines::Place>& places() const { return places_; }
  const std::vector<uint64_t>& counts() const { return counts_; }
  uint64_t all() const { return all_; }         // elsewhere, too
  uint64_t in_modules() const { return in_modules_; }
  // "libc.so.6 41 %, app 3 %": where the others are.
  std::string elsewhere() const;

 private:
  std::vector<lines::Module> modules_;
  std::vector<lines::Place> places_;
  std::vector<uint64_t> counts_;
  std::vector<std::pair<std::string, uint64_t>> others_;
  uint64_t all_ = 0, in_modules_ = 0;
};

// Whether a plan's list of modules means this one.
bool is_wanted_module(const std::vector<std::string>& wanted, const std::string& path, const std::string& main);

// Regions by their samples, most first, numbered from 1: as many candidates as the plan wants, then others. `answer`: to the
// places of `pilot`.
std::vector<store::RegionRow> regions_by_samples(const lines::Answer& answer, const std::vector<uint64_t>& counts, int candidates,
                                                 uint32_t most_others);

// The regions that the plan names, in its order. "compress.c:212", or with `unit` a function.
std::vector<store::RegionRow> regions_of_plan(const plan::Causal& causal);
lines::Region as_wanted(const store::RegionRow& region, plan::Causal::Unit unit);

// "src/a.c:12", "compress (src/a.c)"
std::string words_of(const store::RegionRow& region);

// Ranges of a script: those of each region, and the rest of the scope as region 0. `numbers`: of each wanted its region.
// Modules are
// as in the answer. kBadInput where two regions are the same code.
Result<std::vector<causal::Range>> ranges_of(const lines::Answer& answer, const std::vector<uint32_t>& numbers);

}  // namespace stab::engine
