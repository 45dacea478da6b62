// Catches running threads: one sample of a thread's registers and of the top of its stack, taken by the kernel in
// a timer interrupt. No signal is involved and no system call is interrupted.
//
// A thread is armed, and its sample is collected when it is there: at once if the thread runs now, in a later
// epoch if it has to wait for a CPU. An old sample is as good as a new one, for it speaks of the images that were
// retired when the thread was armed.
#pragma once

#include <stdint.h>

#include "runtime/helper/watched_process.h"

namespace stab::helper {

class Sampler {
 public:
  // Threads that wait for a CPU stay armed until they get one, so more than there are CPUs. Each takes 68 KiB of
  // locked memory; a user may lock 516 KiB a CPU, and what is refused is tried again in a later round.
  static constexpr uint32_t kMostArmed = 24;

  enum class Arming : uint8_t { kArmed, kGone, kFull, kDenied };
  Arming arm(int process, int thread, SlotSet retired);
  bool is_armed(int process, int thread) const { return find(process, thread) != kMostArmed; }
  void disarm(int process, int thread);
  // Disarms threads that have ended: those without a row.
  void forget_ended(code::ThreadLedger& threads);

  // Slots that are used again: samples that are on their way say nothing about them.
  void forget(SlotSet slots);

  // Waits until every armed thread has its sample, or the time is over.
  void wait_until(uint64_t deadline_ns);

  // The sample of an armed thread, if it is there: kSeen or kSeenRunning with `live` and the `retired` it was
  // armed with; kRunning: not yet. `fresh`: it was armed and waited for just now, so that its stack may be read
  // on where the copy ends. The thread stays armed only while the answer is kRunning.
  Look collect(const Looker& looker, const Process& process, int thread, bool fresh, SlotSet& retired, SlotSet& live);

 private:
  struct Armed {
    int process = 0;
    int thread = 0;
    int event = -1;
    uint8_t* mapped = nullptr;
    SlotSet retired = 0;
    bool hung_up = false;  // the thread has ended: nothing more comes
  };
  uint32_t find(int process, int thread) const;

  Armed armed_[kMostArmed];
};

}  // namespace stab::helper
