#include "stabd/engine/trial/causal_outcome.h"

#include <algorithm>
#include <map>

namespace stab::engine {
namespace {

int64_t number(uint64_t value) { return static_cast<int64_t>(value); }  // bounded when it was read

}  // namespace

std::string why_not_causal(const CausalRecord& record, bool is_load) {
  if (record.finished == causal::kNobodyCame || record.attached == 0)
    return "the program never loaded stab's library, so it was not sampled: it is linked statically, or is setuid, or clears "
           "LD_PRELOAD; link it dynamically (drop -static, also with szc)";
  if (record.finished == causal::kBadScript) return "stab-causal refused the trial's script: parts of two versions of Stab "
      "are installed; install all of it again";
  if (record.finished != causal::kFinished) return "stab-causal ended before it had reported; run the trial again";
  const auto has = [&](const char* word) {
    return std::find(record.degradations.begin(), record.degradations.end(), word) != record.degradations.end();
  };
  if (has("no-arrivals"))
    return "no thread visited an arrival point, so there are no arrivals to multiply: put STAB_ARRIVAL(\"name\") "
           "(stab/progress.h) where a task comes in; COZ's own header has no such macro";
  if (has("points-elsewhere") && is_load)
    return "its progress points could not be watched: build it with this version of szc, or without szc";
  if (has("no-samples"))
    return "neither perf nor a timer may sample the program: lower kernel.perf_event_paranoid to 2, or allow perf_event_open in "
           "this container; 'stabctl doctor' shows what is allowed";
  if (record.pauses == causal::Pauses::kCpuTime && record.state.cpus > 1)
    return "pauses = 'cpu-time' is for one CPU, and the program may run on " + std::to_string(record.state.cpus) +
           ", where threads that wait for each other would count as if they worked in turns: leave pauses out of [causal], or "
           "write cpus = \"auto\" below [machine]";
  if (has("traced"))
    return "a debugger or tracer (gdb, strace) has the program, and the signal of its samples with it: measure it without";
  if (has("sandboxed"))
    return "the program put itself into a sandbox (seccomp), where a sample might end it, so nothing was sampled from there on: "
           "measure it with its sandbox off";
  return {};
}

store::CausalRun run_of(const CausalRecord& record, const CausalScript& script) {
  store::CausalRun run;
  const causal::State& state = record.state;
  run.pauses = causal::kPausesWords[static_cast<uint32_t>(record.pauses)];
  run.cpus = state.cpus;
  run.period_ns = number(script.period_ns);
  run.run_ns = number(state.run_ns);
  run.cpu_ns = number(state.cpu_ns);
  run.growth_ns = number(state.global);
  run.start_ns = number(state.start_ns);
  run.spun_wall_ns = number(state.spun_wall_ns);
  run.spun_counted_ns = number(state.spun_counted_ns);
  run.world_ns = number(state.world_blocked_ns);
  run.samples = number(state.samples);
  run.samples_in_regions = number(state.samples_in_ranges);
  run.samples_unattributed = number(state.samples_unattributed);
  run.samples_late = number(state.samples_late);
  run.samples_lost = number(state.samples_lost);
  run.waits = number(state.waits);
  run.waits_classified = number(state.waits_classified);
  for (const std::string& word : record.degradations) run.degradations += (run.degradations.empty() ? "" : " ") + word;

  // Two numbers may be of one point; their visits are one's.
  std::map<uint32_t, uint32_t> place;  // by number on the board
  for (const CausalRecord::Point& point : record.points) {
    const store::ProgressPointRow row{point.name, point.kind};
    const auto at = std::find(run.points.begin(), run.points.end(), row);
    place[point.number] = static_cast<uint32_t>(at - run.points.begin());
    if (at == run.points.end()) run.points.push_back(row);
  }
  for (const causal::WindowRecord& window : record.windows) {
    store::WindowRow row;
    row.position = script.first_position + window.arm;
    row.block = row.position / std::max<int64_t>(script.arms_in_block, 1);
    row.kind = static_cast<uint32_t>(window.kind);
    row.region = window.region;
    row.permille = window.speedup_permille;
    row.flags = window.flags;
    row.start_ns = number(window.start_ns) - number(state.first_attach_ns);
    row.wall_ns = number(window.wall_ns);
    row.cpu_ns = number(window.cpu_ns);
    row.effective_ns = number(window.effective_ns);
    row.growth_ns = number(window.growth_ns);
    row.credited_ns = number(window.credited_ns);
    row.spun_wall_ns = number(window.spun_wall_ns);
    row.spun_counted_ns = number(window.spun_counted_ns);
    row.world_ns = number(window.world_blocked_ns);
    row.samples = number(window.samples);
    row.region_samples = number(window.samples_in_region);
    row.region_ns = number(window.region_ns);
    row.waits = number(window.waits);
    row.waits_classified = number(window.waits_classified);
    row.foreign_ns = window.foreign_ns;
    row.layout = number(window.layout);
    std::map<uint32_t, store::WindowCount> counts;
    for (const auto& [on_board, point] : place) {
      if (window.visits[on_board] == 0 && window.inside_ns[on_board] == 0) continue;
      store::WindowCount& count = counts[point];
      count.point = point;
      count.visits += number(window.visits[on_board]);
      // Each of them has the whole integral: who is inside is known by name.
      count.inside_ns = std::max(count.inside_ns, number(window.inside_ns[on_board]));
    }
    for (const auto& [point, count] : counts) row.counts.push_back(count);
    run.windows.push_back(std::move(row));
  }
  for (uint32_t region = 1; region < script.region_count; ++region)
    if (state.region_samples[region] > 0)
      run.region_samples.push_back({region, number(state.region_samples[region]), number(state.region_ns[region])});
  return run;
}

}  // namespace stab::engine
