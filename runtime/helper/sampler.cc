// Sampling through perf_event_open; sampler.h says what for.
//
// A stack that is deeper than the copy is read through /proc/PID/mem while the thread runs, at once and as a whole, the
// copied part too; that takes some 20 us. What could go wrong: a return address into a retired image is on the stack
// all the time, yet never where we look. Let a frame of that image have called from slot a when the sample was taken,
// and let a lie beyond the copy, or we have seen it. To be missed, slot a must hold something else when it is read: the
// frame was returned to and called again from another slot b, and b must have been read before that, or lie below the
// sampled sp. Slots differ only in a frame that moves its stack pointer (alloca, pushed arguments), and it must be the
// only frame of that image: the others' return addresses stay where they are and are found. So a thread more than
// 60 KiB deep must return to that one frame, which moves on and overwrites its old slot, and be as deep again, within
// the microsecond between the reads of two pages, or must go deeper by its whole depth. A second look, in another epoch,
// must agree (ThreadLedger::saw_running). tests/programs/deep_stack.c does all that as fast as it can.
#include "runtime/helper/sampler.h"

#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/look.h"
#include "runtime/perf_event.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr uint32_t kStackBytes = 60 * 1024;         // a sample's size is 16 bits; copying takes some 5 us
constexpr size_t kRingBytes = 64 * 1024;            // one sample
constexpr size_t kMappedBytes = arch::kPage + kRingBytes;  // behind the control page
constexpr uint64_t kPeriodNs = 50'000;              // of the thread's own CPU time until the sample

constexpr uint32_t kRegisterCount = arch::kSampledRegisterCount;

int open_event(int tid, bool exclude_kernel) {
  perf_event_attr attr = sys::event_attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_period = kPeriodNs;
  attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = arch::kSampledRegisters;
  attr.sample_stack_user = kStackBytes;
  attr.disabled = 1;
  attr.exclude_kernel = exclude_kernel;
  attr.wakeup_events = 1;
  return sys::open_event(attr, tid, -1);
}

struct Sample {
  uint64_t registers[kRegisterCount] = {};
  uint64_t stack_bytes = 0;  // of them in the buffer
};

// The first sample in the ring, which is large enough never to wrap. False: there is none.
bool take_sample(const uint8_t* mapped, uint8_t* buffer, Sample& out) {
  const auto* page = reinterpret_cast<const perf_event_mmap_page*>(mapped);
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  const uint8_t* ring = mapped + arch::kPage;
  for (uint64_t at = 0; at + sizeof(perf_event_header) <= head && head <= kRingBytes;) {
    perf_event_header header;
    memcpy(&header, ring + at, sizeof header);
    if (header.size < sizeof header || at + header.size > head) return false;
    uint64_t words[kRegisterCount + 2];  // abi, registers, size of the stack copy
    if (header.type == PERF_RECORD_SAMPLE && header.size >= sizeof header + sizeof words) {
      memcpy(words, ring + at + sizeof header, sizeof words);
      const uint64_t room = words[kRegisterCount + 1];
      if (words[0] == PERF_SAMPLE_REGS_ABI_64 && sizeof header + sizeof words + room <= header.size) {
        memcpy(out.registers, words + 1, sizeof out.registers);
        if (room > 0) memcpy(&out.stack_bytes, ring + at + sizeof header + sizeof words + room, 8);
        if (out.stack_bytes > room) return false;
        memcpy(buffer, ring + at + sizeof header + sizeof words, out.stack_bytes);
        return true;
      }
    }
    at += header.size;
  }
  return false;
}

Look scan_sample(const Looker& looker, const Process& process, const Sample& sample, bool fresh, SlotSet& live) {
  const uint64_t sp = sample.registers[arch::kSampledSp], pc = sample.registers[arch::kSampledPc];
  live = 0;
  for (const uint64_t value : sample.registers) live |= looker.slot_of(value);
  // Between instructions that push whole words sp is a multiple of 8; anything else is no stack that we know.
  if (sp % 8 != 0) return Look::kBusy;
  SignalFrames frames;
  note_return_from_handler(looker, pc, sp, frames);
  if (!scan_words(looker, looker.buffer, sample.stack_bytes, sp, live, frames)) return Look::kTooLarge;
  Mapping stack;
  if (!find_mapping(process, sp, looker.buffer, stack)) return Look::kBusy;
  const uint64_t copied_to = sp + sample.stack_bytes;
  uint64_t end = end_of_frames(looker, stack, sp);
  while (copied_to >= end && goes_on(looker, process, end, frames, stack)) end = end_of_frames(looker, stack, sp);
  if (copied_to >= end && frames.count == 0) return Look::kSeen;
  if (!fresh) return Look::kBusy;
  Reading reading = scan_stack(looker, process, sp, stack, live, frames);
  if (reading == Reading::kDone) reading = scan_interrupted(looker, process, sp, stack.end, live, frames);
  if (reading == Reading::kTooMuch) return Look::kTooLarge;
  return reading == Reading::kDone ? Look::kSeenRunning : Look::kBusy;
}

}  // namespace

uint32_t Sampler::find(int process, int thread) const {
  uint32_t i = 0;
  while (i < kMostArmed && (armed_[i].event < 0 || armed_[i].thread != thread || armed_[i].process != process)) ++i;
  return i;
}

Sampler::Arming Sampler::arm(int process, int thread, SlotSet retired) {
  uint32_t free = 0;
  while (free < kMostArmed && armed_[free].event >= 0) ++free;
  if (free == kMostArmed) return Arming::kFull;
  int event = open_event(thread, false);
  if (event == -EACCES || event == -EPERM) event = open_event(thread, true);
  if (event == -ESRCH) return Arming::kGone;
  if (event < 0) return event == -EACCES || event == -EPERM || event == -ENOSYS ? Arming::kDenied : Arming::kFull;
  void* mapped = sys::map(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event);
  if (!sys::is_address(mapped)) {
    sys::close(event);
    return Arming::kFull;
  }
  // Enabled until one sample is taken.
  sys::call(SYS_ioctl, event, PERF_EVENT_IOC_REFRESH, 1);
  armed_[free] = {process, thread, event, static_cast<uint8_t*>(mapped), retired, false};
  return Arming::kArmed;
}

void Sampler::disarm(int process, int thread) {
  const uint32_t i = find(process, thread);
  if (i == kMostArmed) return;
  sys::unmap(armed_[i].mapped, kMappedBytes);
  sys::close(armed_[i].event);
  armed_[i] = Armed{};
}

void Sampler::forget_ended(code::ThreadLedger& threads) {
  for (const Armed& armed : armed_) {
    if (armed.event < 0) continue;
    bool listed = false;
    for (uint32_t i = 0; i < threads.size() && !listed; ++i)
      listed = threads.row(i).thread == armed.thread && threads.row(i).process == armed.process;
    if (!listed) disarm(armed.process, armed.thread);
  }
}

void Sampler::forget(SlotSet slots) {
  for (Armed& armed : armed_) armed.retired &= ~slots;
}

void Sampler::wait_until(uint64_t deadline_ns) {
  pollfd waited[kMostArmed];
  Armed* whose[kMostArmed];
  for (Armed& armed : armed_) armed.hung_up = false;
  for (;;) {
    uint32_t missing = 0;
    for (Armed& armed : armed_) {
      if (armed.event < 0 || armed.hung_up) continue;
      const auto* page = reinterpret_cast<const perf_event_mmap_page*>(armed.mapped);
      if (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) != 0) continue;
      whose[missing] = &armed;
      waited[missing++] = {armed.event, POLLIN, 0};
    }
    const uint64_t now = sys::monotonic_ns();
    if (missing == 0 || now >= deadline_ns) return;
    const timespec left{static_cast<time_t>((deadline_ns - now) / 1'000'000'000u),
                        static_cast<long>((deadline_ns - now) % 1'000'000'000u)};
    if (sys::call(SYS_ppoll, sys::word(waited), missing, sys::word(&left), 0, 8) <= 0) return;
    // An event of a thread that ended is ready for ever and has no sample: the others are waited for without it.
    for (uint32_t i = 0; i < missing; ++i)
      if ((waited[i].revents & (POLLHUP | POLLERR)) != 0 && (waited[i].revents & POLLIN) == 0) whose[i]->hung_up = true;
  }
}

Look Sampler::collect(const Looker& looker, const Process& process, int thread, bool fresh, SlotSet& retired,
                      SlotSet& live) {
  const uint32_t i = find(process.pid, thread);
  if (i == kMostArmed) return Look::kBusy;
  const Armed& armed = armed_[i];
  const auto* page = reinterpret_cast<const perf_event_mmap_page*>(armed.mapped);
  if (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) == 0) return Look::kRunning;
  retired = armed.retired;
  Sample sample;
  const bool caught = take_sample(armed.mapped, looker.buffer, sample);
  disarm(process.pid, thread);
  return caught ? scan_sample(looker, process, sample, fresh, live) : Look::kBusy;
}

}  // namespace stab::helper
