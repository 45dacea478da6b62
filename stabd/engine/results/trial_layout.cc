// Of a trial are stored its seed, its dose report, which says what it ran with and where, and, where the plan asks for it, which
// image and which pads were in place in each epoch. stab-layout draws these again. Its answer and the dose both name the hash
// of the code: if they differ, this is another binary than the one that ran.
#include "stabd/engine/results/trial_layout.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

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

// Of one file, as stab-layout tells of it.
struct ToldFile {
  LayoutHead head;
  std::vector<std::string_view> lines;  // behind the first one
};

// kUnavailable: it has more functions than are told. pre: `text` outlives it
Result<ToldFile> read_answer(const std::string& text, const LayoutTool& tool) {
  STAB_TRY(std::vector<std::string_view> lines, lines_of_functions(text));
  const std::optional<LayoutHead> head = read_head(lines[0]);
  if (!head || lines.size() < 2 || !lines.back().empty()) return tool.another_version();
  return ToldFile{*head, {lines.begin() + 1, lines.end() - 1}};
}

// Where a file's images and its text lay.
struct Place {
  uint64_t slot_address = 0, text_address = 0;  // text_address 0: not known
};

Result<std::vector<PlacedFunction>> functions_in(const ToldFile& told, const Place& place, const LayoutTool& tool) {
  std::vector<PlacedFunction> out;
  for (const std::string_view line : told.lines) {
    const std::vector<std::string_view> fields = split(line, '\t');
    PlacedFunction function;
    uint32_t offset = 0, pad = 0;
    if (fields.size() != 5 || !take(fields[0], 16, function.linked) || !take(fields[1], 10, function.bytes))
      return tool.another_version();
    function.moved = fields[2] != "-";
    if (function.moved && !take(fields[2], 10, offset)) return tool.another_version();
    if (fields[3] != "-") {
      if (!take(fields[3], 10, pad)) return tool.another_version();
      function.pad = pad;
    }
    if (function.moved) function.address = place.slot_address + offset;
    else if (place.text_address != 0) function.address = place.text_address + (function.linked - told.head.text_start);
    function.name = (told.head.library.empty() ? "" : told.head.library + "!") + std::string(fields[4]);
    out.push_back(std::move(function));
  }
  return out;
}

Status add_program(store::Store& store, const store::TrialRow& trial, const Ran& ran, const Chosen& chosen,
                   const std::string& script, const LayoutTool& tool, const Archive& archive, TrialLayout& out) {
  STAB_TRY(const BinaryFile binary, find_binary(store, trial, archive, !ran.text_hash.empty()));
  out.binary = binary.path;
  std::vector<std::string> words = {"--code", ran.code, "--stack", ran.stack, "--range",
                                    std::to_string(ran.range), "--seed", std::to_string(ran.seed)};
  if (out.image) words.insert(words.end(), {"--image", std::to_string(*out.image)});
  if (out.refill) words.insert(words.end(), {"--refill", std::to_string(*out.refill)});
  STAB_TRY(const std::string text, tool.output(binary, words, ran, script));
  STAB_TRY(const ToldFile told, read_answer(text, tool));
  if (!ran.text_hash.empty() && (ran.text_hash != told.head.text_hash || ran.slot_bytes != told.head.slot_bytes))
    return Error{ErrorCode::kCorrupt,
                 "'" + out.binary + "' is not what trial " + std::to_string(trial.id) + " ran: its code has hash " +
                     told.head.text_hash + " and images of " + std::to_string(told.head.slot_bytes) + " bytes, the trial's " +
                     ran.text_hash + " and " + std::to_string(ran.slot_bytes),
                 {}};
  STAB_TRY(out.functions, functions_in(told, {ran.ring_address + chosen.slot * ran.slot_bytes, ran.text_address}, tool));
  return {};
}

Status add_library(const Ran& ran, const MovedFile& library, const Chosen& chosen, const std::string& script,
                   const LayoutTool& tool, TrialLayout& out) {
  std::vector<std::string> words = words_for_library(ran, library.drawn_by);
  words.insert(words.end(), {"--image", std::to_string(*out.image)});
  STAB_TRY(const std::string text, tool.output({library.path, false}, words, ran, script));
  STAB_TRY(const ToldFile told, read_answer(text, tool));
  if (library.text_hash != told.head.text_hash) return bad_input("its file is another build than the one that ran");
  const Place place{library.ring_address + chosen.slot * library.slot_bytes, library.text_address};
  STAB_TRY(std::vector<PlacedFunction> functions, functions_in(told, place, tool));
  std::move(functions.begin(), functions.end(), std::back_inserter(out.in_libraries));
  return {};
}

// What can't be told of one library says nothing of the others.
void add_libraries(const Ran& ran, const Chosen& chosen, const std::string& script, const LayoutTool& tool, TrialLayout& out) {
  for (const MovedFile& library : ran.libraries) {
    const std::string name = library.path.empty() ? "a library" : library.path;
    const auto leave_out = [&](const std::string& why) { out.untold.push_back({name, why}); };
    if (library.path.empty()) leave_out("where its file is, is not known: it was closed, or the program ended suddenly");
    else if (!out.image || *out.image < library.first_image) leave_out("it was not loaded yet, or loaded again later");
    else if (const Status added = add_library(ran, library, chosen, script, tool, out); !added) leave_out(added.error().message);
  }
  const auto told = static_cast<int64_t>(ran.libraries.size());
  if (ran.libraries_moved > 0 && told == 0)
    out.untold.push_back({"shared libraries", "the layout report of this trial names none of those that moved"});
}

// Its own code stayed, and szc may not have built it.
bool may_be_host(const Ran& ran) { return ran.text_hash.empty() && !ran.libraries.empty(); }

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
  out.epoch = chosen.epoch;
  out.code = ran.code;
  out.stack = ran.stack;
  out.seed = ran.seed;
  out.libraries_moved = ran.libraries_moved;
  if (chosen.image != helper::kNoImage) out.image = chosen.image;
  if (chosen.refill != helper::kNoImage) out.refill = chosen.refill;
  STAB_TRY(const std::string script, script_with_table(store, trial, chosen.script, archive, tool));
  const Status added = add_program(store, trial, ran, chosen, script, tool, archive, out);
  if (!added && !may_be_host(ran)) return added.error();
  if (!added) out.untold.push_back({out.binary.empty() ? "the program" : out.binary, added.error().message});
  add_libraries(ran, chosen, script, tool, out);
  return out;
}

Result<std::vector<PlacedFunction>> program_functions(store::Store& store, store::Id id, const LayoutTool& tool,
                                                      const Archive& archive) {
  STAB_TRY(const store::TrialRow trial, store.trial(id));
  STAB_TRY(const store::Outcome outcome, store.outcome(id));
  STAB_TRY(const Ran ran, read_dose(outcome.dose_json));
  STAB_TRY(const Chosen chosen, choose(store, id, {}, ran));
  STAB_TRY(const std::string script, script_with_table(store, trial, chosen.script, archive, tool));
  TrialLayout out;
  STAB_CHECK_OK(add_program(store, trial, ran, chosen, script, tool, archive, out));
  return std::move(out.functions);
}

}  // namespace stab::engine
