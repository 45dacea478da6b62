// Counters that a broker opens: it may where we may not.
#pragma once

#include <memory>

#include "counters/perf_calls.h"
#include "stabd/broker/wire/client.h"

namespace stab::engine {

// Opens what `broker` has launched, and says whether it could open this process's.
std::unique_ptr<counters::PerfCalls> counters_at(broker::Client& broker);

}  // namespace stab::engine
