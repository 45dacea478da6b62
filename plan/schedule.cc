// The schedule, version 2. Frozen: what a stored experiment ran is described by its plan and seed only as long
// as this file gives the same trials for them.
//
// Every draw comes from a stream named by its purpose and by what it is for (Rng::stream), never from one shared
// sequence: a block's order doesn't depend on how many blocks there are, a seed doesn't depend on the order.
//
//   for each block b:    the subjects in random order        stream("round", b)
//     for each subject:  cells x passes x runs, shuffled     stream("block <subject>", b)
//   layout seed:         stream("layout <subject> <cell>", b), shared by the runs and passes of the block;
//                        where layouts are matched      stream("layout <subject>", b), shared by the cells, too
//   link layout:         block b takes element b mod n of a permutation of 1..n drawn anew
//                        for each n blocks                   stream("link <subject> <cell>", b / n)
//                        (of 0..n, for n + 1 blocks, where link 0 is one of them)
//   in a replay (plan/layout_replay.h) one of the two cells always has the seed, the link and the layout of a recorded
//   trial; the other one's streams are named for the draw, too, where that is not the first
//   order = "random":    all of the above, then one shuffle  stream("random order", first block)
#include "plan/schedule.h"

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "plan/layout_replay.h"

namespace stab::plan {
namespace {

// Linux's software events live in the kernel, not in the PMU's registers: they fit into every pass.
bool needs_no_register(std::string_view event) {
  constexpr std::string_view kSoftware[] = {
      "task-clock",       "cpu-clock",       "page-faults",      "faults",
      "minor-faults",     "major-faults",    "context-switches", "cs",
      "cpu-migrations",   "migrations",      "alignment-faults", "emulation-faults",
      "cgroup-switches",  "bpf-output",      "dummy"};
  return std::find(std::begin(kSoftware), std::end(kSoftware), event) != std::end(kSoftware);
}

uint16_t link_of(const Plan& plan, const Cell& cell, const std::string& stream_name, uint32_t block) {
  if (!cell.fixed_code || plan.link.seeds == 0) return 0;
  const uint32_t n = static_cast<uint32_t>(plan.link.seeds) + (plan.link.as_linked ? 1 : 0);
  std::vector<uint16_t> order(n);
  std::iota(order.begin(), order.end(), static_cast<uint16_t>(plan.link.as_linked ? 0 : 1));
  Rng::stream(plan.experiment.seed, stream_name, block / n).shuffle(order);
  return order[block % n];
}

// What a plan that replays a trial has for every trial of this cell; nothing elsewhere.
const LayoutReplay* replayed_in(const Plan& plan, const Cell& cell) {
  if (!plan.layout.replay) return nullptr;
  const auto factor = static_cast<size_t>(plan.factor_index(kReplayFactor));
  const Level& level = plan.factors[factor].levels[static_cast<size_t>(cell.levels[factor])];
  return level.name == kFreshLevel ? nullptr : &*plan.layout.replay;
}

// A replay compares a layout with fresh ones.
bool shares_seeds(const Plan& plan) { return plan.experiment.layouts == Layouts::kMatched && !plan.layout.replay; }

std::string draw_suffix(const Plan& plan) {
  return plan.layout.replay && plan.layout.replay->draw > 1 ? " draw " + std::to_string(plan.layout.replay->draw) : "";
}

}  // namespace

std::vector<std::vector<std::string>> counter_passes(const Counters& counters) {
  if (counters.sharing == CounterSharing::kMultiplex) return {counters.events};
  std::vector<std::string> shared;
  std::vector<std::vector<std::string>> groups;
  for (const std::string& event : counters.events) {
    if (needs_no_register(event)) {
      shared.push_back(event);
      continue;
    }
    if (groups.empty() || groups.back().size() == static_cast<size_t>(counters.per_pass)) groups.emplace_back();
    groups.back().push_back(event);
  }
  if (groups.empty()) groups.emplace_back();
  for (std::vector<std::string>& group : groups) group.insert(group.begin(), shared.begin(), shared.end());
  return groups;
}

Schedule make_schedule(const Plan& plan, const Design& design, int first_block, int blocks) {
  const uint64_t seed = plan.experiment.seed;
  const std::vector<Subject> all_subjects = subjects(plan);
  const int passes = static_cast<int>(counter_passes(plan.counters).size());
  const int runs = plan.experiment.runs_per_seed;
  // Names are joined once, not once a trial.
  std::vector<std::string> block_streams, layout_streams, link_streams;
  for (const Subject& subject : all_subjects) {
    block_streams.push_back("block " + subject.name + draw_suffix(plan));
    for (const Cell& cell : design.cells) {
      layout_streams.push_back("layout " + subject.name + (shares_seeds(plan) ? "" : " " + cell.name) + draw_suffix(plan));
      link_streams.push_back("link " + subject.name + " " + cell.name + draw_suffix(plan));
    }
  }

  Schedule schedule;
  std::vector<PlannedTrial>& trials = schedule.trials;
  const size_t block_size = design.cells.size() * static_cast<size_t>(passes) * static_cast<size_t>(runs);
  trials.reserve(static_cast<size_t>(blocks) * all_subjects.size() * block_size);
  std::vector<uint32_t> round(all_subjects.size());
  std::vector<PlannedTrial> block;
  for (int b = first_block; b < first_block + blocks; ++b) {
    const uint32_t number = static_cast<uint32_t>(b);
    std::iota(round.begin(), round.end(), 0u);
    Rng::stream(seed, "round", number).shuffle(round);
    for (uint32_t subject : round) {
      block.clear();
      for (uint32_t c = 0; c < design.cells.size(); ++c) {
        const size_t stream = subject * design.cells.size() + c;
        PlannedTrial trial;
        trial.subject = subject;
        trial.cell = c;
        trial.block = number;
        trial.seed = Rng::stream(seed, layout_streams[stream], number).next();
        trial.link = link_of(plan, design.cells[c], link_streams[stream], number);
        trial.layout = layout_id(design.cells[c], trial.link, number);
        if (const LayoutReplay* replay = replayed_in(plan, design.cells[c])) {
          trial.seed = replay->seed;
          trial.link = static_cast<uint16_t>(replay->link);
          trial.layout = layout_id(design.cells[c], trial.link, 0);
        }
        for (int pass = 0; pass < passes; ++pass) {
          for (int run = 0; run < runs; ++run) {
            trial.pass = static_cast<uint16_t>(pass);
            trial.run = static_cast<uint16_t>(run);
            block.push_back(trial);
          }
        }
      }
      Rng::stream(seed, block_streams[subject], number).shuffle(block);
      trials.insert(trials.end(), block.begin(), block.end());
    }
  }
  if (plan.experiment.order == Order::kRandom)
    Rng::stream(seed, "random order", static_cast<uint64_t>(first_block)).shuffle(trials);
  const uint32_t first_order =
      static_cast<uint32_t>(static_cast<size_t>(first_block) * all_subjects.size() * block_size);
  for (size_t i = 0; i < trials.size(); ++i) trials[i].order = first_order + static_cast<uint32_t>(i);
  return schedule;
}

Schedule make_schedule(const Plan& plan, const Design& design) {
  return make_schedule(plan, design, 0, plan.experiment.replicates);
}

Schedule make_preflight(const Plan& plan, const Design& design) {
  Schedule schedule;
  const std::vector<Subject> all_subjects = subjects(plan);
  for (uint32_t s = 0; s < all_subjects.size(); ++s) {
    for (uint32_t c = 0; c < design.cells.size(); ++c) {
      PlannedTrial trial;
      trial.order = static_cast<uint32_t>(schedule.trials.size());
      trial.subject = s;
      trial.cell = c;
      trial.seed =
          Rng::stream(plan.experiment.seed, "preflight " + all_subjects[s].name + " " + design.cells[c].name).next();
      trial.link = design.cells[c].fixed_code && plan.link.seeds > 0 ? 1 : 0;
      trial.layout = layout_id(design.cells[c], trial.link, trial.block);
      schedule.trials.push_back(trial);
    }
  }
  return schedule;
}

uint64_t fingerprint(const Schedule& schedule) { return fingerprint(schedule, 0); }

uint64_t fingerprint(const Schedule& schedule, uint64_t of_parts_before) {
  // FNV-1a over the fields, 8 bytes each
  uint64_t hash = of_parts_before == 0 ? 0xcbf29ce484222325u : of_parts_before;
  const auto mix = [&hash](uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ (value >> shift & 0xff)) * 0x100000001b3u;
  };
  for (const PlannedTrial& trial : schedule.trials)
    for (uint64_t field : {uint64_t{trial.order}, uint64_t{trial.subject}, uint64_t{trial.cell},
                           uint64_t{trial.block}, uint64_t{trial.run}, uint64_t{trial.pass},
                           uint64_t{trial.link}, trial.seed})
      mix(field);
  return hash;
}

}  // namespace stab::plan
