// The verdict at the end of the time is one of the analysis; here it is written down, and read back.
#include "stabd/engine/results/ended_in_time.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "analysis/report/contrasts/stopping_decision.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::engine {
namespace {

constexpr uint32_t kFewest = 2;  // of judged_when_time_ended

// Absent: a database may be anybody's, and this is no such text.
std::optional<uint32_t> blocks_in(const std::string& text) {
  uint32_t blocks = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), blocks);
  if (fault != std::errc() || end == text.data() || blocks < kFewest) return std::nullopt;
  return blocks;
}

}  // namespace

Result<bool> end_in_time(store::Store& store, store::Id experiment, uint32_t fewest, std::chrono::nanoseconds realtime) {
  STAB_TRY(const store::ExperimentRow row, store.experiment(experiment));
  if (row.state != store::ExperimentState::kRunning) return false;
  STAB_TRY(const uint32_t whole, whole_blocks(store, experiment));
  const uint32_t blocks = std::min<uint32_t>(whole, static_cast<uint32_t>(std::max<int64_t>(0, row.replicates)));
  if (blocks < std::max(fewest, kFewest)) return false;
  STAB_TRY(const report::Samples samples, load_samples(store, row));
  if (!report::judged_when_time_ended(samples, blocks)) return false;
  const int64_t now = realtime.count();
  STAB_CHECK_OK(store.log({now, experiment, kTimeEnded, std::to_string(blocks) + " blocks are whole: the time was over"}));
  if (const auto dropped = store.cancel_planned(experiment, blocks); !dropped) return dropped.error();
  if (const auto done = store.advance(experiment, store::ExperimentEvent::kFinish, "", now); !done) return done.error();
  return true;
}

void judge_as_ended(const std::vector<store::EventRow>& events, report::Samples& samples) {
  const auto event =
      std::find_if(events.rbegin(), events.rend(), [](const store::EventRow& one) { return one.kind == kTimeEnded; });
  if (event == events.rend() || samples.incomplete) return;
  const std::optional<uint32_t> blocks = blocks_in(event->text);
  if (!blocks) return;
  std::optional<report::Samples> ended = report::judged_when_time_ended(samples, *blocks);
  if (!ended) return;
  // The block that the end cut in two has the number of the end.
  const bool went_on = std::any_of(samples.trials.begin(), samples.trials.end(),
                                   [&](const report::Trial& trial) { return trial.block > *blocks; });
  if (went_on) samples.stopping.looks = std::move(ended->stopping.looks);
  else samples = *std::move(ended);
}

}  // namespace stab::engine
