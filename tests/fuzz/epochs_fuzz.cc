// Feeds bytes as what follows a dose report, and as what a store holds of it: whatever is taken keeps the invariant, goes into
// the store and comes back the same.
#include <cstdint>
#include <cstring>
#include <string_view>

#include "stabd/engine/trial/epoch_series.h"

namespace {

void check(const stab::engine::EpochSeries& series) {
  using namespace stab;
  if (series.points.size() > helper::kEpochPoints || series.records.size() > helper::kMostEpochs) __builtin_trap();
  const auto back = engine::decode_epochs(engine::encode_epochs(series));
  if (!back || back->records.size() != series.records.size() || back->points != series.points) __builtin_trap();
  if (!series.records.empty() &&
      std::memcmp(back->records.data(), series.records.data(), series.records.size() * sizeof(helper::EpochRecord)) != 0)
    __builtin_trap();
  if (back->script != series.script || back->profile.has_value() != series.profile.has_value()) __builtin_trap();
  if (series.profile && (back->profile->functions.size() != series.profile->functions.size() ||
                         back->profile->stayed.size() != series.profile->stayed.size() ||
                         back->profile->totals.kernel != series.profile->totals.kernel ||
                         back->profile->files.size() != series.profile->files.size()))
    __builtin_trap();
  for (size_t i = 0; series.profile && i < series.profile->files.size(); ++i) {
    const engine::SampledFile &file = series.profile->files[i], &again = back->profile->files[i];
    if (again.file != file.file || again.samples() != file.samples() || again.functions.size() != file.functions.size())
      __builtin_trap();
    for (size_t k = 0; k < file.functions.size(); ++k)
      if (engine::name_in_file(again, again.functions[k]) != engine::name_in_file(file, file.functions[k])) __builtin_trap();
  }
  const auto epochs = engine::epochs_of(series);
  if (epochs.size() + 1 != series.records.size() && !series.records.empty()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto series = stab::engine::parse_epochs(bytes)) check(*series);
  if (const auto series = stab::engine::decode_epochs(bytes)) check(*series);
  return 0;
}
