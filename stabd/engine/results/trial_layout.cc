// Of a trial are stored its seed, its dose report, which says what it ran with and where, and, where the plan asks for it, which
// image and which pads were in place in each epoch. stab-layout draws these again. Its answer and the dose both name the hash
// of the code: if they differ, this is another binary than the one that ran.
#include "stabd/engine/results/trial_layout.h"

#include <string_view>

#include "base/split.h"
#include "stabd/engine/results/layout_tool.h"
#include "stabd/engine/results/match_tables.h"
#include "stabd/engine/trial/epoch_series.h"

namespace stab::engine {
namespace {

// Which layout was in place, and in which slot of the ring.
struct Chosen {
  uint32_t epoch = 1;
  uint32_t image = helper::kNoImage, refill = helper::kNoImage;
  uint64_t slot = 0;
  std::string script;
};

Result<Chosen> choose(store::Store& store, store::Id trial, std::optional<uint32_t> epoch, const Ran& ran) {
  STAB_TRY(const std::string stored, store.epochs(trial));
  Chosen chosen;
  chosen.epoch = epoch.value_or(1);
  const EpochSeries none;
  const Result<EpochSeries> decoded = stored.empty() ? Result<EpochSeries>(none) : decode_epochs(stored);
  if (!decoded) return decoded.error();
  const EpochSeries& series = *decoded;
  chosen.script = series.script;
  if (series.records.empty()) {
    if (chosen.epoch != 1)
      return bad_input("the epochs of trial " + std::to_string(trial) + " were not kept, so only its first layout is known; " +
                       "write record_epochs = true under [experiment]");
    if (ran.layouts > 0) chosen.image = 0;
    if (ran.refills > 0) chosen.refill = 0;
    return chosen;
  }
  uint32_t first = 0, last = 0;
  for (const helper::EpochRecord& record : series.records) {
    if ((record.flags & helper::kEpochEnd) != 0) continue;
    if (first == 0) first = record.epoch;
    last = record.epoch;
    if (record.epoch != chosen.epoch) continue;
    chosen.image = record.image;
    chosen.refill = record.refill;
    chosen.slot = record.slot;
    return chosen;
  }
  return Error{ErrorCode::kNotFound,
               "trial " + std::to_string(trial) + " has no epoch " + std::to_string(chosen.epoch) + "; it has " +
                   std::to_string(first) + " to " + std::to_string(last),
               {}};
}

}  // namespace

Result<TrialLayout> layout_of(store::Store& store, store::Id id, std::optional<uint32_t> epoch, const LayoutTool& tool,
                              const Archive& archive) {
  STAB_TRY(const store::TrialRow trial, store.trial(id));
  STAB_TRY(const store::Outcome outcome, store.outcome(id));
  if (outcome.dose_json.empty())
    return bad_input("trial " + std::to_string(id) + " has no layout report: it had no helper, and nothing of it moved");
  STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
  STAB_TRY(const Chosen chosen, choose(store, id, epoch, ran));
  TrialLayout out;
  STAB_TRY(const BinaryFile binary, find_binary(store, trial, archive, !ran.text_hash.empty()));
  out.binary = binary.path;
  out.epoch = chosen.epoch;
  out.code = ran.code;
  out.stack = ran.stack;
  out.seed = ran.seed;
  out.libraries_moved = ran.libraries_moved;
  std::vector<std::string> words = {"--code", ran.code, "--stack", ran.stack, "--range",
                                    std::to_string(ran.range), "--seed", std::to_string(ran.seed)};
  const auto ask = [&words](const char* option, uint32_t which, std::optional<uint32_t>& said) {
    if (which == helper::kNoImage) return;
    said = which;
    words.insert(words.end(), {option, std::to_string(which)});
  };
  ask("--image", chosen.image, out.image);
  ask("--refill", chosen.refill, out.refill);
  STAB_TRY(const std::string script, script_with_table(store, trial, chosen.script, archive, tool));
  STAB_TRY(const std::string text, tool.output(binary, words, ran, script));

  const Error strange{ErrorCode::kCorrupt, "'" + tool.path + "' is of another version", {}};
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.empty() || !lines.back().empty()) return strange;
  lines.pop_back();
  uint64_t slot_bytes = 0, text_start = 0;
  const std::vector<std::string_view> head = lines.empty() ? std::vector<std::string_view>() : split(lines[0], ' ');
  if (head.size() != 6 || head[0] != "stab-layout" || head[1] != "1" || !take(head[3], 10, slot_bytes) ||
      !take(head[5], 16, text_start))
    return strange;
  if (!ran.text_hash.empty() && (ran.text_hash != head[2] || ran.slot_bytes != slot_bytes))
    return Error{ErrorCode::kCorrupt,
                 "'" + out.binary + "' is not what trial " + std::to_string(id) + " ran: its code has hash " +
                     std::string(head[2]) + " and images of " + std::to_string(slot_bytes) + " bytes, the trial's " +
                     ran.text_hash + " and " + std::to_string(ran.slot_bytes),
                 {}};
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> fields = split(lines[i], '\t');
    PlacedFunction function;
    uint32_t offset = 0, pad = 0;
    if (fields.size() != 5 || !take(fields[0], 16, function.linked) || !take(fields[1], 10, function.bytes)) return strange;
    function.moved = fields[2] != "-";
    if (function.moved && !take(fields[2], 10, offset)) return strange;
    if (fields[3] != "-") {
      if (!take(fields[3], 10, pad)) return strange;
      function.pad = pad;
    }
    if (function.moved) function.address = ran.ring_address + chosen.slot * ran.slot_bytes + offset;
    else if (ran.text_address != 0) function.address = ran.text_address + (function.linked - text_start);
    function.name = fields[4];
    out.functions.push_back(std::move(function));
  }
  return out;
}

}  // namespace stab::engine
