// How much room a directory takes on its disk.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "stabd/worker/worker_wire.h"

namespace stab::worker {

// Counts no more than about `max_files`, and goes into no other file system. An Error: the directory can't be looked into.
Result<Measure::Answer> measure(const std::string& path, uint64_t max_files);

}  // namespace stab::worker
