// Naming: which experiment a user means by a word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

struct Asker {
  int64_t uid = 0;
  bool sees_all = false;  // others' experiments too
};

// Digits alone are a number, never a name. A name is the newest of that name of one's own; "user/name" is somebody else's,
// for those who see all. Nothing: one's newest. kNotFound also for what the asker may not see.
Result<store::ExperimentSummary> experiment_named(store::Store& store, std::string_view word, const Asker& asker);

// The number, if the word is one.
std::optional<store::Id> number_of(std::string_view word);

}  // namespace stab::engine
