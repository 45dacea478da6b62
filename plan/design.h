// Design: the cells of a plan (combinations of levels that are run), the builds they need, and, for a
// fraction, what is confounded with what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "runtime/modes.h"

namespace stab::plan {

// Layout switches of a cell. Factors that the plan doesn't name are off, the epoch is the default.
struct Layout {
  abi::CodeMode code = abi::CodeMode::kOff;
  abi::StackMode stack = abi::StackMode::kOff;
  abi::HeapMode heap = abi::HeapMode::kOff;
  bool heap_varies = true;  // between cells: what it does is a question of the plan
  uint64_t epoch_ns = abi::kDefaultEpochNs;  // 0: a layout lasts so many visits; 0 visits: as long as the program wants
  uint64_t epoch_visits = 0;
  uint32_t stack_range_bytes = abi::kMaxStackRangeBytes;
  uint64_t env_size_bytes = 0;  // bytes of padding added to the environment
};

struct Cell {
  int index = 0;
  std::vector<int> levels;  // level index by factor, same order as Plan::factors
  std::string name;         // "code=shuffle stack=on heap=page"; "all" where the plan has no factors
  Layout layout;
  uint32_t load_permille = 0;  // of the arrival rate; 0: load is no factor
  bool fixed_code = false;  // code is off or copy: one binary is one layout, so link seeds apply
  // fixed_code: the first cell whose binaries these are, because it has the same treatments. Else this cell.
  int binaries_of = 0;
  // Several trials of this cell may run in one layout: those of one binary, or the runs and counter passes of one seed.
  bool shares_layouts = false;
};

// Which layout of the code a trial runs in. This is where it is decided which trials share one: those of one subject and kind for
// which this number is equal. Where code stays as it was linked that is those of one binary, which a treatment may change
// and a layout factor doesn't; elsewhere those of one seed, which a block draws for each cell. The number is stored with the
// trial, so an extension of an old experiment depends on it: do not renumber, on disk.
constexpr uint64_t layout_id(const Cell& cell, int link, uint32_t block) {
  const uint64_t within = cell.fixed_code ? static_cast<uint64_t>(link) : uint64_t{block} + 1;
  return static_cast<uint64_t>(cell.binaries_of) << 32 | within;
}

// In a fraction: effects that the design can't tell apart, each a product of factor names ("code:stack"), with a minus where its
// sign is opposite to the first one's.
// The first of each set is the lowest-order one.
using AliasSet = std::vector<std::string>;

// What a level of the factor code says; kOff where it is none of its words.
abi::CodeMode code_mode(std::string_view word);
// Null where the plan has none.
const Factor* code_factor(const Plan& plan);
bool has_level(const Factor* code, abi::CodeMode mode);
// Whether a level of code, stack or heap leaves what it names where it was: no layouts are to be expected of it.
bool keeps_layout(FactorKind kind, const Level& level);

// Whether the windows of a causal trial of the cell each ask for a layout of their own: its code moves at their word.
constexpr bool asks_for_layouts(const Cell& cell) {
  return cell.layout.code == abi::CodeMode::kShuffle || cell.layout.code == abi::CodeMode::kPad;
}

// What whoever counts a trial needs to know of its layout.
struct TrialLayout {
  uint64_t id = 0;          // layout_id()
  bool shared = false;      // other trials of its cell may run in it
  bool fixed_code = false;  // it is that of a binary
};
inline TrialLayout layout_of(const Cell& cell, uint64_t id) { return {id, cell.shares_layouts, cell.fixed_code}; }

struct Design {
  std::vector<Cell> cells;        // full crossing in the order of levels, last factor fastest, less the left out
  std::vector<AliasSet> aliases;  // only sets of two or more; empty for a full factorial
  std::vector<std::string> defining_words;  // of the fraction, such as "code:stack:heap"
  int resolution = 0;             // of the fraction; 0: full
  // Layout factors that change together in the cells that are left, two or more of them: plain, or everything on. They have one
  // effect, whatever name it goes by.
  std::vector<std::string> together;
  // Others whose effect can't be estimated in the cells that are left (rank check of the main effects).
  std::vector<std::string> not_estimable;

  // -1 where there is none.
  int find(std::string_view cell_name) const;
  // Whether some cell has more layouts of the code than those that builds are linked in.
  bool moves_code() const;
};

// kBadInput where no cell is left, the fraction doesn't fit, or there are more than kMaxCells
// cells, or walking the crossing is too much (plan/limits.h).
Result<Design> make_design(const Plan& plan);

// --- placeholders ----------------------------------------------------------------------------------------

// What {link} stands for: a seed for the linker, drawn from the plan's seed so that two experiments sample
// different layouts. 0 for link 0: as linked.
uint32_t link_seed(const Plan& plan, int link);

// `text` with {factor} replaced by the level's value in `cell` and {link} by link_seed(); {{ and }} are braces.
// pre: the plan parsed, so every name is known.
std::string substitute(std::string_view text, const Plan& plan, const Cell& cell, int link);
Command substitute(const Command& command, const Plan& plan, const Cell& cell, int link);

// --- builds ----------------------------------------------------------------------------------------------

// One build of one program. Only the levels that its build command and source name tell builds apart, so cells
// that differ in layout switches share a binary.
struct Build {
  int index = 0;
  int program = 0;
  int cell = 0;              // a cell to substitute with; others of this build give the same commands
  int link = 0;              // link layout, 0: as linked
  uint32_t link_seed = 0;    // STAB_LINK_SEED for the build's environment; 0: not set
  std::string name;          // "lua opt=-O2 link=3"; "lua" where nothing varies
  Command command;           // substituted; empty: nothing to build
  Source source;             // substituted
  std::string layout_file;   // text of the layout file that it obeys; empty: none
  std::string strict;        // layout factors that are on in a cell of it, "code,stack,heap": what szc may not link without
  std::string measured;      // names of the files that its cells run, with colons between them
};

class BuildSet {
 public:
  const std::vector<Build>& all() const { return builds_; }
  // Index of the build that trials of this program, cell and link use.
  int of(int program, int cell, int link) const;
  // Index of the build that does the same as this one of another expansion of the plan, such as a confirmation's, which has fewer
  // cells. -1: none does.
  int same_as(const Build& other) const;

 private:
  friend BuildSet make_builds(const Plan&, const Design&);
  std::vector<Build> builds_;
  int cells_ = 0, links_ = 0;
  std::vector<int> index_;  // [program][cell][link]
};
BuildSet make_builds(const Plan& plan, const Design& design);

}  // namespace stab::plan
