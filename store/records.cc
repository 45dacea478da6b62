// The words that stand for enums on disk.
#include "store/records.h"

#include <array>
#include <utility>

namespace stab::store {
namespace {

template <typename Enum, size_t kCount>
using Words = std::array<std::pair<Enum, std::string_view>, kCount>;

constexpr Words<ExperimentState, 7> kExperimentStates = {{
    {ExperimentState::kSubmitted, "submitted"},
    {ExperimentState::kReady, "ready"},
    {ExperimentState::kRunning, "running"},
    {ExperimentState::kPaused, "paused"},
    {ExperimentState::kDone, "done"},
    {ExperimentState::kCancelled, "cancelled"},
    {ExperimentState::kFailed, "failed"},
}};
constexpr Words<TrialKind, 4> kTrialKinds = {{
    {TrialKind::kMain, "main"},
    {TrialKind::kPreflight, "preflight"},
    {TrialKind::kWarmup, "warmup"},
    {TrialKind::kReplay, "replay"},
}};
constexpr Words<BuildState, 4> kBuildStates = {{
    {BuildState::kPlanned, "planned"},
    {BuildState::kBuilding, "building"},
    {BuildState::kDone, "done"},
    {BuildState::kFailed, "failed"},
}};

constexpr Words<SlotState, 5> kSlotStates = {{
    {SlotState::kGranted, "granted"},
    {SlotState::kRunning, "running"},
    {SlotState::kDone, "done"},
    {SlotState::kLost, "lost"},
    {SlotState::kRefused, "refused"},
}};
constexpr Words<PartFate, 4> kPartFates = {{
    {PartFate::kRecorded, "recorded"},
    {PartFate::kDuplicate, "duplicate"},
    {PartFate::kSuperseded, "superseded"},
    {PartFate::kRefused, "refused"},
}};
constexpr Words<Wish, 3> kWishes = {{
    {Wish::kCancel, "cancel"},
    {Wish::kPause, "pause"},
    {Wish::kDelete, "delete"},
}};

template <typename Enum, size_t kCount>
std::string_view word_of(const Words<Enum, kCount>& words, Enum value) {
  for (const auto& [known, word] : words)
    if (known == value) return word;
  return "?";
}

template <typename Enum, size_t kCount>
std::optional<Enum> value_of(const Words<Enum, kCount>& words, std::string_view name) {
  for (const auto& [value, word] : words)
    if (word == name) return value;
  return std::nullopt;
}

}  // namespace

std::string_view name(ExperimentState state) { return word_of(kExperimentStates, state); }
std::optional<ExperimentState> experiment_state(std::string_view name) { return value_of(kExperimentStates, name); }
std::string_view name(TrialKind kind) { return word_of(kTrialKinds, kind); }
std::optional<TrialKind> trial_kind(std::string_view name) { return value_of(kTrialKinds, name); }
std::string_view name(BuildState state) { return word_of(kBuildStates, state); }
std::optional<BuildState> build_state(std::string_view name) { return value_of(kBuildStates, name); }
std::string_view name(SlotState state) { return word_of(kSlotStates, state); }
std::optional<SlotState> slot_state(std::string_view name) { return value_of(kSlotStates, name); }
std::string_view name(PartFate fate) { return word_of(kPartFates, fate); }
std::optional<PartFate> part_fate(std::string_view name) { return value_of(kPartFates, name); }
std::string_view name(Wish wish) { return word_of(kWishes, wish); }
std::optional<Wish> wish(std::string_view name) { return value_of(kWishes, name); }

}  // namespace stab::store
