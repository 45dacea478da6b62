// Cells: walk the full crossing like an odometer, leave out what exclude, nested and the fraction say, and check
// that the main effects can still be told apart in what is left. Fractions are in fraction.cc, builds in
// build.cc.
#include "plan/design.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/fraction.h"
#include "plan/limits.h"
#include "plan/schedule.h"
#include "plan/size.h"

namespace stab::plan {
namespace {

// A factor and some of its levels, as numbers: every combination of the crossing is compared with every one of them.
struct LevelSet {
  size_t factor = 0;
  std::vector<bool> has;

  bool contains(const std::vector<int>& levels) const { return has[static_cast<size_t>(levels[factor])]; }
};

LevelSet level_set(const Plan& plan, const std::string& factor, const std::vector<std::string>& names) {
  LevelSet set;
  set.factor = static_cast<size_t>(plan.factor_index(factor));
  const std::set<std::string> wanted(names.begin(), names.end());
  for (const Level& level : plan.factors[set.factor].levels) set.has.push_back(wanted.count(level.name) > 0);
  return set;
}

// What exclude and nested leave out of the crossing.
class LeftOut {
 public:
  explicit LeftOut(const Plan& plan) {
    for (const Exclude& exclude : plan.exclude) {
      excludes_.emplace_back();
      for (const auto& [factor, names] : exclude.when) excludes_.back().push_back(level_set(plan, factor, names));
    }
    for (const Nested& nested : plan.nested)
      nested_.emplace_back(static_cast<size_t>(plan.factor_index(nested.inner)),
                           level_set(plan, nested.outer, nested.outer_levels));
  }
  bool contains(const std::vector<int>& levels) const {
    const auto excludes = [&](const std::vector<LevelSet>& sets) {
      return std::all_of(sets.begin(), sets.end(), [&](const LevelSet& set) { return set.contains(levels); });
    };
    // A nested factor stays at its first level outside the levels that it varies in.
    const auto varies_outside = [&](const std::pair<size_t, LevelSet>& nested) {
      return levels[nested.first] != 0 && !nested.second.contains(levels);
    };
    return std::any_of(excludes_.begin(), excludes_.end(), excludes) ||
           std::any_of(nested_.begin(), nested_.end(), varies_outside);
  }

 private:
  std::vector<std::vector<LevelSet>> excludes_;
  std::vector<std::pair<size_t, LevelSet>> nested_;  // the inner factor, and where it varies
};

bool in_fraction(const std::optional<FractionDesign>& fraction, const std::vector<int>& levels) {
  if (!fraction) return true;
  uint32_t bits = 0;
  for (size_t i = 0; i < fraction->factors.size(); ++i)
    if (levels[static_cast<size_t>(fraction->factors[i])] == 1) bits |= 1u << i;
  return fraction->keeps(bits);
}

template <size_t kCount>
uint8_t word_index(const char* const (&words)[kCount], std::string_view word) {
  static_assert(kCount <= UINT8_MAX);
  for (size_t i = 0; i < kCount; ++i)
    if (word == words[i]) return static_cast<uint8_t>(i);
  return 0;
}

template <typename Mode, size_t kCount>
bool is_one_of(const std::string& word, std::initializer_list<Mode> modes, const char* const (&words)[kCount]) {
  return std::any_of(modes.begin(), modes.end(), [&](Mode mode) { return word == words[static_cast<size_t>(mode)]; });
}

Cell make_cell(const Plan& plan, const std::vector<int>& levels, int index) {
  Cell cell;
  cell.index = index;
  cell.levels = levels;
  if (plan.counters.simulation.on()) cell.layout.epoch_ns = 0;  // its time is not the program's
  for (size_t f = 0; f < plan.factors.size(); ++f) {
    const Factor& factor = plan.factors[f];
    const Level& level = factor.levels[static_cast<size_t>(levels[f])];
    cell.name += (cell.name.empty() ? "" : " ") + factor.name + "=" + level.name;
    Layout& layout = cell.layout;
    switch (factor.kind) {
      case FactorKind::kCode:
        layout.code = code_mode(level.value);
        break;
      case FactorKind::kStack:
        layout.stack = static_cast<abi::StackMode>(word_index(abi::kStackWords, level.value));
        break;
      case FactorKind::kHeap:
        layout.heap = static_cast<abi::HeapMode>(word_index(abi::kHeapWords, level.value));
        layout.heap_varies = factor.levels.size() > 1;
        break;
      case FactorKind::kEpoch: {
        const bool by_visits = level.value.starts_with(kVisitsMark);
        const uint64_t length = std::strtoull(level.value.c_str() + (by_visits ? 1 : 0), nullptr, 10);
        layout.epoch_ns = by_visits ? 0 : length;
        layout.epoch_visits = by_visits ? length : 0;
        break;
      }
      case FactorKind::kStackRange:
        layout.stack_range_bytes = static_cast<uint32_t>(std::strtoul(level.value.c_str(), nullptr, 10));
        break;
      case FactorKind::kEnvSize: layout.env_size_bytes = std::strtoull(level.value.c_str(), nullptr, 10); break;
      case FactorKind::kLoad: cell.load_permille = static_cast<uint32_t>(std::strtoul(level.value.c_str(), nullptr, 10)); break;
      case FactorKind::kTreatment: break;
    }
  }
  if (cell.name.empty()) cell.name = "all";
  cell.fixed_code =
      keeps_layout(FactorKind::kCode, {.name = {}, .value = abi::kCodeWords[static_cast<size_t>(cell.layout.code)]});
  cell.binaries_of = index;
  return cell;
}

// Which cells of fixed code run the same binaries.
void find_binaries(const Plan& plan, std::vector<Cell>& cells) {
  std::map<std::vector<int>, int> first_of;  // by the levels of the treatments
  for (Cell& cell : cells) {
    if (!cell.fixed_code) continue;
    std::vector<int> treatments;
    for (size_t f = 0; f < plan.factors.size(); ++f)
      if (plan.factors[f].kind == FactorKind::kTreatment) treatments.push_back(cell.levels[f]);
    cell.binaries_of = first_of.try_emplace(std::move(treatments), cell.index).first->second;
  }
}

// Row space of the main-effects model (intercept, then levels - 1 treatment contrasts a factor), kept in echelon
// form, so that each cell costs one reduction. Entries are 0 and 1; pivots stay exact enough for a rank.
class RowSpace {
 public:
  explicit RowSpace(size_t columns) : by_pivot_(columns) {}
  void add(std::vector<double> row) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (std::fabs(row[c]) < 1e-9) continue;
      if (by_pivot_[c].empty()) {
        const double pivot = row[c];
        for (double& entry : row) entry /= pivot;
        by_pivot_[c] = std::move(row);
        ++rank_;
        return;
      }
      const double times = row[c];
      for (size_t k = c; k < row.size(); ++k) row[k] -= times * by_pivot_[c][k];
    }
  }
  size_t rank() const { return rank_; }

 private:
  std::vector<std::vector<double>> by_pivot_;
  size_t rank_ = 0;
};

// Rank of the main-effects model over the cells; `without` leaves one factor out, -1: none.
size_t model_rank(const Plan& plan, const std::vector<Cell>& cells, int without) {
  size_t columns = 1;
  for (size_t f = 0; f < plan.factors.size(); ++f)
    if (static_cast<int>(f) != without) columns += plan.factors[f].levels.size() - 1;
  RowSpace space(columns);
  for (const Cell& cell : cells) {
    if (space.rank() == columns) break;
    std::vector<double> row(columns, 0.0);
    row[0] = 1;
    size_t at = 1;
    for (size_t f = 0; f < plan.factors.size(); ++f) {
      if (static_cast<int>(f) == without) continue;
      if (cell.levels[f] > 0) row[at + static_cast<size_t>(cell.levels[f]) - 1] = 1;
      at += plan.factors[f].levels.size() - 1;
    }
    space.add(std::move(row));
  }
  return space.rank();
}

// Whether each level of one comes with one level of the other, and the other way around.
bool change_together(const std::vector<Cell>& cells, size_t one, size_t other) {
  std::map<int, int> there, back;
  for (const Cell& cell : cells) {
    const auto a = there.emplace(cell.levels[one], cell.levels[other]), b = back.emplace(cell.levels[other], cell.levels[one]);
    if (a.first->second != cell.levels[other] || b.first->second != cell.levels[one]) return false;
  }
  return there.size() > 1;
}

// Those that change together with the first layout factor that changes. A treatment among them would be confounded with layouts,
// which nobody means.
std::vector<std::string> changing_together(const Plan& plan, const std::vector<Cell>& cells) {
  std::vector<std::string> out;
  const auto is_layout = [&](size_t f) {
    return plan.factors[f].kind != FactorKind::kTreatment && plan.factors[f].kind != FactorKind::kLoad;
  };
  for (size_t first = 0; first < plan.factors.size() && out.empty(); ++first) {
    for (size_t f = first; is_layout(first) && f < plan.factors.size(); ++f)
      if (is_layout(f) && change_together(cells, first, f)) out.push_back(plan.factors[f].name);
    for (size_t f = 0; f < plan.factors.size(); ++f)
      if (!is_layout(f) && change_together(cells, first, f)) out.clear();
    if (out.size() < 2) out.clear();
  }
  return out;
}

std::vector<std::string> not_estimable(const Plan& plan, const std::vector<Cell>& cells) {
  std::vector<std::string> out;
  size_t columns = 1;
  for (const Factor& factor : plan.factors) columns += factor.levels.size() - 1;
  const size_t full = model_rank(plan, cells, -1);
  if (full == columns) return out;
  for (size_t f = 0; f < plan.factors.size(); ++f)
    if (full - model_rank(plan, cells, static_cast<int>(f)) < plan.factors[f].levels.size() - 1)
      out.push_back(plan.factors[f].name);
  return out;
}

std::string effect_name(const Plan& plan, const FractionDesign& fraction, uint32_t word) {
  std::string name;
  for (size_t i = 0; i < fraction.factors.size(); ++i)
    if (word >> i & 1)
      name += (name.empty() ? "" : ":") + plan.factors[static_cast<size_t>(fraction.factors[i])].name;
  return name;
}

}  // namespace

abi::CodeMode code_mode(std::string_view word) { return static_cast<abi::CodeMode>(word_index(abi::kCodeWords, word)); }

const Factor* code_factor(const Plan& plan) {
  for (const Factor& factor : plan.factors)
    if (factor.kind == FactorKind::kCode) return &factor;
  return nullptr;
}

bool has_level(const Factor* code, abi::CodeMode mode) {
  const auto is = [mode](const Level& level) { return code_mode(level.value) == mode; };
  return code != nullptr && std::any_of(code->levels.begin(), code->levels.end(), is);
}

bool keeps_layout(FactorKind kind, const Level& level) {
  switch (kind) {
    case FactorKind::kCode: return is_one_of(level.value, {abi::CodeMode::kOff, abi::CodeMode::kCopy}, abi::kCodeWords);
    case FactorKind::kStack: return is_one_of(level.value, {abi::StackMode::kOff, abi::StackMode::kZero}, abi::kStackWords);
    case FactorKind::kHeap: return is_one_of(level.value, {abi::HeapMode::kOff, abi::HeapMode::kBase}, abi::kHeapWords);
    default: return false;
  }
}

int Design::find(std::string_view cell_name) const {
  for (const Cell& cell : cells)
    if (cell.name == cell_name) return cell.index;
  return -1;
}

bool Design::moves_code() const {
  return std::any_of(cells.begin(), cells.end(), [](const Cell& cell) { return !cell.fixed_code; });
}

Result<Design> make_design(const Plan& plan) {
  STAB_CHECK_OK(check_crossing(plan));
  const uint64_t crossing = crossing_of(plan);
  const LeftOut left_out(plan);
  std::optional<FractionDesign> fraction;
  if (plan.fraction.halvings > 0) {
    STAB_TRY(fraction, make_fraction(plan));
  }

  Design design;
  std::vector<int> levels(plan.factors.size(), 0);
  for (uint64_t n = 0; n < crossing; ++n) {
    uint64_t rest = n;
    for (size_t f = plan.factors.size(); f-- > 0;) {
      levels[f] = static_cast<int>(rest % plan.factors[f].levels.size());
      rest /= plan.factors[f].levels.size();
    }
    if (left_out.contains(levels) || !in_fraction(fraction, levels)) continue;
    if (design.cells.size() == kMaxCells)
      return bad_input("the plan has more than " + std::to_string(kMaxCells) + " cells");
    design.cells.push_back(make_cell(plan, levels, static_cast<int>(design.cells.size())));
  }
  if (design.cells.empty()) return bad_input("exclude leaves no cell; nothing would run");
  find_binaries(plan, design.cells);
  const bool seeds_repeat = plan.experiment.runs_per_seed > 1 || counter_passes(plan.counters).size() > 1;
  for (Cell& cell : design.cells) cell.shares_layouts = cell.fixed_code || seeds_repeat || plan.layout.replay;

  if (fraction) {
    design.resolution = fraction->resolution;
    const auto with_sign = [&](int sign, uint32_t word) { return (sign < 0 ? "-" : "") + effect_name(plan, *fraction, word); };
    for (uint32_t word : fraction->defining) design.defining_words.push_back(with_sign(fraction->sign(word), word));
    for (const std::vector<uint32_t>& set : fraction->aliases()) {
      AliasSet names;
      for (uint32_t word : set) names.push_back(with_sign(word == set[0] ? 1 : fraction->sign(word ^ set[0]), word));
      design.aliases.push_back(std::move(names));
    }
  }
  design.not_estimable = not_estimable(plan, design.cells);
  design.together = changing_together(plan, design.cells);
  std::erase_if(design.not_estimable, [&](const std::string& name) {
    return std::find(design.together.begin(), design.together.end(), name) != design.together.end();
  });
  return design;
}

}  // namespace stab::plan
