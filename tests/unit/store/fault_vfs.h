// A SQLite VFS over the real one that counts writes and syncs, and at the n-th one fails, or kills the process
// as SIGKILL would (what was written stays, nothing after it is).
#pragma once

namespace stab::store {

enum class Fault { kNone, kDiskFull, kIoError, kDie };

inline constexpr char kFaultVfs[] = "stab-faults";
inline constexpr int kDeathStatus = 42;

struct FaultControl {
  Fault fault = Fault::kNone;
  int at = 0;       // the n-th operation from now on, from 1; it and (but for kDie) all later ones fail
  int count = 0;    // operations seen since the last arm()
  int syncs = 0;
  void arm(Fault what, int when) { *this = {what, when, 0, 0}; }
};
FaultControl& fault_control();

// Registers the VFS once.
void install_fault_vfs();

}  // namespace stab::store
