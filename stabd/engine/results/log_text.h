// The log of an experiment, for a person: builds, events, and every attempt that did not pass.
#pragma once

#include <string>

#include "base/result.h"
#include "store/store.h"

namespace stab::engine {

// Without control characters. Of more than kLogTextBytes the end is shown, and the first line says so.
inline constexpr size_t kLogTextBytes = 512 << 10;
Result<std::string> log_text(store::Store& store, store::Id experiment);

}  // namespace stab::engine
