// What the daemon answers about series of experiments (docs/reference/protocol.md): which there are, and the trend of one.
//
// A trend is computed from experiments that are over, so nothing of it is masked; it is bounded (kSeriesForMany) and belongs on
// a thread for long work.
#pragma once

#include <string>

#include "base/result.h"
#include "stabd/daemon/protocol/protocol.h"
#include "stabd/engine/build/naming.h"
#include "store/store.h"

namespace stab::daemon {

// Columns that a client asks for, within reason; the methods that print have them.
int width_asked(const RpcRequest& request);

// JSON of the series that the asker may see.
Result<std::string> series_answer(store::Store& store, const engine::Asker& asker);
// The same form as a report's.
Result<std::string> trend_answer(store::Store& store, const engine::Asker& asker, const RpcRequest& request);

}  // namespace stab::daemon
