// Catching a running thread: one sample of a software clock event carries its sp, its pc and a copy of the top
// of its stack, all of one moment, taken by the kernel in the timer interrupt that the thread gets anyway. No
// signal is involved and no system call is interrupted.
//
// A stack deeper than the copy is read on through /proc/PID/mem while the thread runs. The deep part of a stack
// changes only after the thread has returned all the way to it, so one look may in theory miss a frame that
// came back to the top just then; a second look at another time must agree (ThreadLedger::saw_running).
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "runtime/helper/look.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr uint32_t kStackBytes = 32 * 1024;        // copied in the interrupt: about 2 us
constexpr size_t kRingBytes = 64 * 1024;           // one sample at a time
constexpr size_t kMappedBytes = 4096 + kRingBytes;  // behind the control page
constexpr uint64_t kPeriodNs = 50'000;             // of the thread's own CPU time until the sample
constexpr uint64_t kRegisterSp = 7, kRegisterPc = 8;  // asm/perf_regs.h

int open_event(int tid, bool exclude_kernel) {
  perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = kPeriodNs;
  attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = (1u << kRegisterSp) | (1u << kRegisterPc);
  attr.sample_stack_user = kStackBytes;
  attr.exclude_kernel = exclude_kernel;
  attr.exclude_hv = 1;
  attr.wakeup_events = 1;
  return static_cast<int>(
      sys::call(SYS_perf_event_open, sys::word(&attr), tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// Copies `size` bytes at ring position `at`.
void copy_out(const uint8_t* ring, uint64_t at, void* to, size_t size) {
  for (size_t i = 0; i < size;) {
    const size_t from = (at + i) % kRingBytes;
    const size_t step = kRingBytes - from < size - i ? kRingBytes - from : size - i;
    memcpy(static_cast<uint8_t*>(to) + i, ring + from, step);
    i += step;
  }
}

struct Sample {
  uint64_t sp = 0, pc = 0;
  uint64_t stack_bytes = 0;  // of them in looker.buffer
};

// The first complete sample in the ring.
bool take_sample(const uint8_t* mapped, uint8_t* buffer, Sample& out) {
  const perf_event_mmap_page* page = reinterpret_cast<const perf_event_mmap_page*>(mapped);
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  const uint8_t* ring = mapped + 4096;
  for (uint64_t at = 0; at < head && head <= kRingBytes;) {
    perf_event_header header;
    copy_out(ring, at, &header, sizeof header);
    if (header.size < sizeof header) return false;
    if (header.type == PERF_RECORD_SAMPLE) {
      uint64_t words[4];  // abi, sp, pc, size of the stack copy
      copy_out(ring, at + sizeof header, words, sizeof words);
      if (words[0] != PERF_SAMPLE_REGS_ABI_64) {
        at += header.size;
        continue;
      }
      out.sp = words[1];
      out.pc = words[2];
      const uint64_t room = words[3];
      if (room > kStackBytes) return false;
      uint64_t copied = 0;
      if (room > 0) copy_out(ring, at + sizeof header + 32 + room, &copied, 8);
      out.stack_bytes = copied <= room ? copied : 0;
      copy_out(ring, at + sizeof header + 32, buffer, out.stack_bytes);
      return true;
    }
    at += header.size;
  }
  return false;
}

Look scan_sample(const Looker& looker, const Process& process, const Sample& sample, SlotSet& live) {
  live = looker.ring.slot_of(sample.pc);
  const uint64_t sp = sample.sp & ~uint64_t{7};
  SignalFrames frames;
  // pre: the copy begins at sample.sp; words are aligned to 8 from there on, as sp is between instructions that
  // push whole words.
  const uint64_t skew = sample.sp - sp;
  if (skew != 0) return Look::kBusy;
  Mapping stack;
  if (!scan_words(looker, looker.buffer, sample.stack_bytes, sp, live, frames)) return Look::kUnreadable;
  if (!find_mapping(process, sp, looker.buffer, stack)) return Look::kBusy;
  const uint64_t copied_to = sp + sample.stack_bytes;
  const bool whole = copied_to >= stack.end && frames.count == 0;
  if (whole) return Look::kSeen;
  if (!scan_memory(looker, process, copied_to & ~uint64_t{7}, stack.end, live, frames) ||
      !scan_interrupted(looker, process, sp, stack.end, live, frames))
    return Look::kBusy;
  return Look::kSeenRunning;
}

}  // namespace

Look look_at_running(const Looker& looker, const Process& process, int tid, uint64_t patience_ns, SlotSet& live) {
  int event = open_event(tid, false);
  if (event == -EACCES || event == -EPERM) event = open_event(tid, true);
  if (event < 0) return event == -ESRCH ? Look::kGone : Look::kUnreadable;
  void* mapped = sys::map(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event);
  if (!sys::is_address(mapped)) {
    sys::close(event);
    return Look::kUnreadable;
  }
  pollfd waited{event, POLLIN, 0};
  const timespec patience{static_cast<time_t>(patience_ns / 1'000'000'000u),
                          static_cast<long>(patience_ns % 1'000'000'000u)};
  sys::call(SYS_ppoll, sys::word(&waited), 1, sys::word(&patience), 0, 8);
  sys::call(SYS_ioctl, event, PERF_EVENT_IOC_DISABLE, 0);
  Sample sample;
  const bool caught = take_sample(static_cast<const uint8_t*>(mapped), looker.buffer, sample);
  sys::unmap(mapped, kMappedBytes);
  sys::close(event);
  return caught ? scan_sample(looker, process, sample, live) : Look::kBusy;
}

}  // namespace stab::helper
