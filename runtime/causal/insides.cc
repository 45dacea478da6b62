#include "runtime/causal/insides.h"

#include "runtime/causal/clock.h"
#include "runtime/causal/load.h"
#include "runtime/causal/moment.h"

namespace stab::causal {
namespace {

uint32_t points_of(const Area& area) {
  const uint32_t used = __atomic_load_n(&area.board.points_used, __ATOMIC_ACQUIRE);
  return used < progress::kMostNamed ? used : progress::kMostNamed;
}

bool is_kind(const Area& area, uint32_t point, progress::Kind kind) {
  const progress::BoardPoint& on_board = area.board.points[point];
  return __atomic_load_n(&on_board.ready, __ATOMIC_ACQUIRE) == 1 && on_board.kind == static_cast<uint32_t>(kind);
}

bool same_name(const Area& area, uint32_t a, uint32_t b) {
  const char* const first = area.board.points[a].name;
  const char* const second = area.board.points[b].name;
  for (size_t i = 0; i < progress::kNameBytes; ++i) {
    if (first[i] != second[i]) return false;
    if (first[i] == 0) return true;
  }
  return true;
}

}  // namespace

bool has_ends(const Area& area) {
  for (uint32_t point = 1; point <= points_of(area); ++point)
    if (is_kind(area, point, progress::Kind::kEnd)) return true;
  return false;
}

uint64_t inside_of(const Area& area, uint32_t end_point) {
  uint64_t begun = 0, ended = 0;
  for (uint32_t point = 1; point <= points_of(area); ++point) {
    const bool begins = is_kind(area, point, progress::Kind::kBegin), ends = is_kind(area, point, progress::Kind::kEnd);
    if ((!begins && !ends) || !same_name(area, point, end_point)) continue;
    (begins ? begun : ended) += progress::visits_of(area.board, point);
  }
  return begun > ended ? begun - ended : 0;
}

namespace {

bool may_add(Area& area) { return __atomic_exchange_n(&area.inside.busy, 1u, __ATOMIC_ACQUIRE) == 0; }

// pre: may_add()
void add(Area& area, int own_pid) {
  InsideSums& sums = area.inside;
  Snapshot now;
  if (is_loaded(area.script)) take_wall_times(area, now);
  else take_times(area, own_pid, now);
  const uint64_t effective = effective_ns(area.state.pauses, area.state.begin, now);
  if (effective > sums.last_effective_ns) {  // credits may run ahead of the clock for a moment
    const uint64_t since_ns = effective - sums.last_effective_ns;
    sums.last_effective_ns = effective;
    for (uint32_t point = 1; point <= points_of(area); ++point)
      if (is_kind(area, point, progress::Kind::kEnd)) sums.sum_ns[point] += inside_of(area, point) * since_ns;
  }
  __atomic_store_n(&sums.busy, 0u, __ATOMIC_RELEASE);
}

}  // namespace

void begin_insides(Area& area) {
  area.inside.last_effective_ns = 0;
  for (uint64_t& sum : area.inside.sum_ns) sum = 0;
  __atomic_store_n(&area.inside.busy, 0u, __ATOMIC_RELEASE);  // whoever died while it was adding
}

void add_insides(Area& area, int own_pid) {
  if (has_ends(area) && may_add(area)) add(area, own_pid);
}

void add_insides_surely(Area& area, int own_pid) {
  // Whoever adds is through in a microsecond, unless it has lost its CPU in the middle.
  constexpr int kTries = 10'000;
  if (!has_ends(area)) return;
  for (int i = 0; i < kTries; ++i) {
    if (may_add(area)) return add(area, own_pid);
    __builtin_ia32_pause();
  }
}

}  // namespace stab::causal
