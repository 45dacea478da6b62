// Lets others at the store while a trial or a build runs.
#pragma once

#include "stabd/engine/build/store_gate.h"

namespace stab::engine {

// pre: the gate is held; it is again at the end.
class GateOpen {
 public:
  explicit GateOpen(Gate& gate) : gate_(gate) { gate_.unlock(); }
  ~GateOpen() { gate_.lock(); }
  GateOpen(const GateOpen&) = delete;
  GateOpen& operator=(const GateOpen&) = delete;

 private:
  Gate& gate_;
};

}  // namespace stab::engine
