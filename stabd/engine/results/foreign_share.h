// Which share of their CPUs' time other programs took in windows of a causal trial.
//
// The kernel counts the idle time of a CPU exactly and prints it in hundredths of a second, so what a window knows of others is
// off by up to 10 ms a CPU: a twentieth of a window of 100 ms on two CPUs, where a fiftieth is what a window is left out for. One
// window can show that others took much. That they took a little shows in several windows together, whose errors cancel.
//
// What isn't idle and isn't the program's is not all others': what the kernel does where a thread goes to sleep and wakes up, the
// switch to nothing and back with the sampling clock stopped and started, is charged to no task. On a virtual machine of two CPUs
// that was 10 us a wait, a hundredth of the CPUs' time of a program with 2,000 waits a second. So much is no foreign load, at
// most as much as a window may have: where a program waits more often, load has to be seen all the same.
#pragma once

#include <cstdint>
#include <vector>

namespace stab::engine {

struct WindowOfCpus {
  double foreign_ns = 0;  // CPU time of others as measured; below 0 where rounding made it so
  double cpus_ns = 0;     // of all CPUs: wall time times their number; 0 or below: no window was open
  bool known = true;      // false: the kernel did not say
  double waits = 0;       // of the program's threads; each thread's come in at its every sixteenth sample
};

// From 0 to 1, one for each of the trial's windows, which come in order of time on `cpus` CPUs. A window that is beyond `most` by
// more than rounding explains has a share of its own. The others have that of the windows around them, of as many as are needed
// for three standard deviations of the rounding to be at most `most`; in a trial that has no such stretch, less what these are
// beyond it. 0 where it isn't known.
std::vector<double> foreign_shares(const std::vector<WindowOfCpus>& windows, uint32_t cpus, double most);

}  // namespace stab::engine
