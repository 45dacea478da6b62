// MachineEngine: what starts workers on machines and says whether they live. The seam that Slurm, ssh, local processes and the
// tests' fake share; a worker knows nothing of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace stab::engine {

class MachineEngine {
 public:
  virtual ~MachineEngine() = default;
  // A worker for this epoch of the slot, on this host; "": wherever the engine finds room.
  virtual Status start(int slot, int64_t epoch, const std::string& host) = 0;
  // False only where it is known: no such process or job, also where this engine has never started one.
  virtual Result<bool> lives(int slot, int64_t epoch) = 0;
  // Asks it to end after its trial; that is fenced or over.
  virtual void stop(int slot, int64_t epoch) = 0;
  // For so long after a worker's end its last files may still turn up.
  virtual std::chrono::nanoseconds patience() const = 0;
  // Every block is recorded, or none is wanted any more: what is kept for a controller that follows is kept no longer.
  virtual void forget() {}
};

}  // namespace stab::engine
