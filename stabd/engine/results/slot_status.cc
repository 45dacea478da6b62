#include "stabd/engine/results/slot_status.h"

#include <algorithm>
#include <cstdio>

#include "stabd/engine/build/expand.h"
#include "stabd/engine/build/slots.h"
#include "stabd/engine/results/node_preflight.h"

namespace stab::engine {
namespace {

// A plan is bounded by its number of trials; a bundle that somebody made may claim any number of blocks.
constexpr int64_t kMostBlocks = 10'000'000;
// Of so many experiments at most what was read of the store is kept for the next question.
constexpr size_t kMostKnown = 256;

// What is stored of them, and by slot its share of the blocks. No slots: no [machines].
struct Stored {
  int slots = 0;
  std::vector<store::SlotEpochRow> epochs;
  std::vector<store::SlotParts> parts;  // of slots that there are
  std::map<int, int64_t> share, done;
  bool is_over = false;
};

Result<Stored> stored(store::Store& store, DealtBlocks& dealt, store::Id experiment) {
  Stored of;
  STAB_TRY(of.epochs, store.slot_epochs(experiment));
  if (of.epochs.empty()) return of;
  STAB_TRY(const store::ExperimentSummary row, store.summary(experiment));
  of.is_over = store::is_over(row.state);
  STAB_TRY(const auto known, dealt.of(store, experiment, row.replicates));
  of.slots = known->slots;
  if (of.slots < 1) return of;
  of.share = known->share;
  STAB_TRY(of.parts, store.recorded_parts(experiment));
  std::erase_if(of.parts, [&](const store::SlotParts& parts) { return parts.slot < 0 || parts.slot >= of.slots; });
  for (const store::SlotParts& parts : of.parts) of.done[parts.slot] = parts.parts;
  return of;
}

// A slot's time for a block is that of all its epochs over the blocks that they brought; one that has brought none yet is taken
// for as slow as the slowest.
std::optional<int64_t> left_of(const Stored& of, int64_t now_ns) {
  std::map<int, double> ran;  // ns
  for (const store::SlotEpochRow& row : of.epochs) {
    const int64_t end = row.ended_at_ns != 0 ? row.ended_at_ns : now_ns;
    ran[row.slot] += static_cast<double>(std::max<int64_t>(end - row.granted_at_ns, 0));
  }
  double slowest = 0;
  for (const auto& [slot, done] : of.done)
    if (done > 0) slowest = std::max(slowest, ran[slot] / static_cast<double>(done));
  if (slowest <= 0) return {};
  double left = 0;
  for (const auto& [slot, share] : of.share) {
    const auto found = of.done.find(slot);
    const int64_t done = found == of.done.end() ? 0 : found->second;
    const double of_block = done > 0 ? ran[slot] / static_cast<double>(done) : slowest;
    left = std::max(left, of_block * static_cast<double>(share - done));
  }
  return static_cast<int64_t>(left);
}

// Times stand beside the names of their cells, so that to read them before a look that the plan declares would be a look: they
// are told when the experiment is over.
std::vector<std::string> preflight_text(const store::SlotEpochRow& epoch, bool with_times) {
  const std::vector<NodePreflight> cells = preflight_of(epoch.facts);
  std::vector<std::string> lines;
  if (cells.empty()) return lines;
  const auto passed = std::count_if(cells.begin(), cells.end(), [](const NodePreflight& cell) { return cell.passed; });
  lines.push_back("  preflight: " + std::to_string(passed) + " of " + std::to_string(cells.size()) + " passed");
  for (const NodePreflight& cell : cells) {
    if (cell.passed && !with_times) continue;
    char time[32] = "";
    if (with_times && cell.wall_ns) std::snprintf(time, sizeof time, " in %.6f s", static_cast<double>(*cell.wall_ns) / 1e9);
    lines.push_back("    " + cell.subject + ", " + cell.cell + ": " + (cell.passed ? "passed" : "failed") + time +
                    (cell.failure.empty() ? "" : ": " + cell.failure));
  }
  return lines;
}

}  // namespace

// Two who ask at once may both read it.
Result<std::shared_ptr<const DealtBlocks::Dealt>> DealtBlocks::of(store::Store& store, store::Id experiment, int64_t replicates) {
  const std::pair key(experiment, replicates);
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  if (replicates < 0 || replicates > kMostBlocks)
    return Error{ErrorCode::kCorrupt,
                 "experiment " + std::to_string(experiment) + " claims to have " + std::to_string(replicates) + " blocks",
                 {}};
  auto made = std::make_shared<Dealt>();
  made->slots = expanded.plan.machines.count;
  if (made->slots > 0)
    for (const int slot : deal_blocks(row.seed, made->slots, static_cast<int>(replicates))) ++made->share[slot];
  const std::lock_guard<std::mutex> held(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[key] = made;
  return std::shared_ptr<const Dealt>(std::move(made));
}

Result<std::optional<MachinesStatus>> machines_status(store::Store& store, DealtBlocks& dealt, store::Id experiment,
                                                      const std::map<int, int64_t>& signs, int64_t now_ns) {
  STAB_TRY(const Stored of, stored(store, dealt, experiment));
  if (of.slots < 1) return std::optional<MachinesStatus>();
  MachinesStatus status;
  status.slots.resize(static_cast<size_t>(of.slots));
  for (int slot = 0; slot < of.slots; ++slot) {
    SlotStatus& one = status.slots[static_cast<size_t>(slot)];
    one.slot = slot;
    if (const auto share = of.share.find(slot); share != of.share.end()) one.blocks = share->second;
    if (const auto done = of.done.find(slot); done != of.done.end()) one.done = done->second;
    if (const auto sign = signs.find(slot); sign != signs.end()) one.sign_at_ns = sign->second;
  }
  for (const store::SlotEpochRow& row : of.epochs) {  // by slot and epoch
    if (row.slot < 0 || row.slot >= of.slots) continue;
    SlotStatus& one = status.slots[static_cast<size_t>(row.slot)];
    one.epoch = row.epoch;
    one.state = row.state;
    one.host = row.host;
    one.machine = row.machine;
    one.why = row.why;
    one.preflight_passed = one.preflight_failed = 0;
    for (const NodePreflight& cell : preflight_of(row.facts)) ++(cell.passed ? one.preflight_passed : one.preflight_failed);
    one.losses += row.state == store::SlotState::kLost || row.state == store::SlotState::kRefused;
  }
  for (const store::SlotParts& parts : of.parts) {
    SlotStatus& one = status.slots[static_cast<size_t>(parts.slot)];
    one.sign_at_ns = std::max(one.sign_at_ns.value_or(0), parts.newest_at_ns);
  }
  status.left_ns = left_of(of, now_ns);
  return std::optional(std::move(status));
}

Result<std::vector<std::string>> slots_text(store::Store& store, store::Id experiment) {
  DealtBlocks dealt;
  STAB_TRY(Stored of, stored(store, dealt, experiment));
  std::vector<std::string> lines;
  if (of.slots < 1) return lines;
  for (const store::SlotEpochRow& epoch : of.epochs) {
    lines.push_back("slot " + std::to_string(epoch.slot) + ", epoch " + std::to_string(epoch.epoch) + ": " +
                    std::string(store::name(epoch.state)) + (epoch.host.empty() ? "" : " on " + epoch.host) +
                    (epoch.machine.empty() ? "" : ", machine " + epoch.machine) + ", " + std::to_string(of.done[epoch.slot]) +
                    " of " + std::to_string(of.share[epoch.slot]) + " blocks of the slot" +
                    (epoch.why.empty() ? "" : ": " + epoch.why));
    const std::vector<std::string> more = preflight_text(epoch, of.is_over);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines;
}

}  // namespace stab::engine
