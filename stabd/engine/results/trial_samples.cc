// The program's functions are known by their index in its metadata, so the binary is asked for names; functions of other files
// have told theirs.
#include "stabd/engine/results/trial_samples.h"

#include <algorithm>
#include <optional>

#include "stabd/engine/results/trial_layout.h"
#include "stabd/engine/trial/epoch_series.h"

namespace stab::engine {
namespace {

void add_file(const SampledFile& file, std::vector<FunctionSampled>& out) {
  FunctionSampled rest{file.file, 0, file.newest, file.older, file.original};
  const auto take = [](uint64_t& from, uint64_t count) { from -= std::min(from, count); };
  for (const SampledFile::Function& function : file.functions) {
    out.push_back({name_in_file(file, function), function.linked, function.newest, function.older, function.original});
    take(rest.newest, function.newest);
    take(rest.older, function.older);
    take(rest.original, function.original);
  }
  if (rest.samples() > 0) out.push_back(rest);
}

}  // namespace

Result<TrialSamples> samples_of(store::Store& store, store::Id trial, const LayoutTool& tool, const Archive& archive) {
  STAB_TRY(const std::string stored, store.epochs(trial));
  std::optional<FunctionProfile> profile;
  if (!stored.empty()) {
    STAB_TRY(EpochSeries series, decode_epochs(stored));
    profile = std::move(series.profile);
  }
  if (!profile)
    return Error{
        ErrorCode::kNotFound,
        "the samples of trial " + std::to_string(trial) + " were not kept; write record_samples = true under [experiment]",
        {}};
  const helper::SampleHeader& totals = profile->totals;
  if (totals.period_ns == 0)
    return bad_input("trial " + std::to_string(trial) +
                     " could not be sampled; its runtime report says why under degradations (stabctl logs)");
  TrialSamples out;
  out.period_ns = totals.period_ns;
  out.all = totals.newest + totals.older + totals.original + totals.elsewhere + totals.kernel;
  out.kernel = totals.kernel;
  out.lost = totals.lost;
  out.elsewhere = totals.elsewhere;
  for (const SampledFile& file : profile->files) {
    add_file(file, out.functions);
    if (!file.moved) out.elsewhere -= std::min(out.elsewhere, file.samples());
  }
  if (!profile->functions.empty()) {
    STAB_TRY(const std::vector<PlacedFunction> functions, program_functions(store, trial, tool, archive));
    if (functions.size() != totals.function_count)
      return Error{ErrorCode::kCorrupt,
                   "its binary has another number of functions than trial " + std::to_string(trial) + " has told samples of",
                   {}};
    for (const helper::FunctionSamples& one : profile->functions) {
      const PlacedFunction& function = functions[one.function];
      out.functions.push_back({function.name, function.linked, one.newest, one.older, one.original});
    }
  }
  std::stable_sort(out.functions.begin(), out.functions.end(),
                   [](const auto& a, const auto& b) { return a.samples() > b.samples(); });
  return out;
}

}  // namespace stab::engine
