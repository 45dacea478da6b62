#include "runtime/causal/windows.h"

#include "runtime/causal/clock.h"

namespace stab::causal {
namespace {

uint32_t points_of(const Area& area) {
  const uint64_t used = __atomic_load_n(&area.board.points_used, __ATOMIC_ACQUIRE);
  return used < progress::kMostNamed ? static_cast<uint32_t>(used) : progress::kMostNamed;
}

}  // namespace

void RunningRegions::look_at(const Area& area, uint64_t cpu_ns) {
  if (!has_begun_) begun_cpu_ns_ = cpu_ns;
  has_begun_ = true;
  for (uint32_t region = 1; region < area.script.region_count && region < kMaxRegions; ++region) {
    const uint64_t samples = look(area.state.region_samples[region]);
    if (samples == samples_[region]) continue;
    samples_[region] = samples;
    newest_cpu_ns_[region] = cpu_ns;
  }
}

bool RunningRegions::is_running(uint32_t region, uint64_t cpu_ns, uint64_t look_ns) const {
  if (look_ns == 0 || !has_begun_ || cpu_ns - begun_cpu_ns_ < look_ns) return true;
  return region < kMaxRegions && samples_[region] != 0 && cpu_ns - newest_cpu_ns_[region] <= look_ns;
}

uint64_t length_ns(ArmKind kind, Pauses pauses, const Snapshot& from, const Snapshot& to) {
  if (kind == ArmKind::kNull) return effective_ns(pauses, from, to);
  if (pauses != Pauses::kCpuTime) return to.at_ns - from.at_ns;
  return to.cpu_ns - from.cpu_ns + world_blocked_ns(from, to);
}

uint64_t wanted_ns(const Script& script, ArmKind kind, uint32_t speedup_permille, uint64_t region_ns, uint64_t run_ns) {
  if (kind != ArmKind::kNull || run_ns == 0) return script.window_ns;
  constexpr double kMostPaused = 3;  // of what it has besides
  const double paused =
      static_cast<double>(speedup_permille) / 1000 * static_cast<double>(region_ns) / static_cast<double>(run_ns);
  return static_cast<uint64_t>(static_cast<double>(script.window_ns) / (1 + (paused < kMostPaused ? paused : kMostPaused)));
}

uint64_t busiest(const Snapshot& from, const Snapshot& to) {
  uint64_t most = 0;
  for (uint32_t point = 1; point < kPointSlots; ++point)
    if (const uint64_t visits = to.visits[point] - from.visits[point]; visits > most) most = visits;
  return most;
}

void write_record(const Area& area, uint32_t arm, const Snapshot& from, const Snapshot& to, WindowRecord& out) {
  out.arm = arm;
  if (arm < area.script.arm_count) {
    out.kind = area.arms[arm].kind;
    out.region = area.arms[arm].region;
    out.speedup_permille = area.arms[arm].speedup_permille;
  }
  out.start_ns = from.at_ns;
  out.end_ns = to.at_ns;
  out.wall_ns = to.at_ns - from.at_ns;
  out.cpu_ns = to.cpu_ns - from.cpu_ns;
  out.effective_ns = effective_ns(area.state.pauses, from, to);
  out.growth_ns = to.global - from.global;
  out.credited_ns = to.credited_ns - from.credited_ns;
  out.spun_wall_ns = to.spun_wall_ns - from.spun_wall_ns;
  out.spun_counted_ns = to.spun_counted_ns - from.spun_counted_ns;
  out.world_blocked_ns = area.state.pauses == Pauses::kCpuTime ? world_blocked_ns(from, to)
                                                               : to.world_blocked_ns - from.world_blocked_ns;
  out.samples = to.samples - from.samples;
  out.samples_in_region = to.region_samples - from.region_samples;
  out.region_ns = to.region_ns - from.region_ns;
  out.waits = to.waits - from.waits;
  out.waits_classified = to.waits_classified - from.waits_classified;
  out.layout = from.layouts_asked;
  for (uint32_t point = 0; point < kPointSlots; ++point) {
    out.visits[point] = to.visits[point] - from.visits[point];
    out.inside_ns[point] = arm < area.script.arm_count ? look(area.inside.sum_ns[point]) : 0;
  }
}

void write_points(Area& area) {
  for (uint32_t point = 1; point <= points_of(area); ++point) {
    if (__atomic_load_n(&area.board.points[point].ready, __ATOMIC_ACQUIRE) != 1) continue;
    progress::read_name(area.board, point, area.points[point].name);
    const uint32_t kind = area.board.points[point].kind;
    area.points[point].kind = kind < static_cast<uint32_t>(progress::Kind::kCount) ? kind : 0;
    if (area.state.points_used < point) area.state.points_used = point;
  }
}

}  // namespace stab::causal
