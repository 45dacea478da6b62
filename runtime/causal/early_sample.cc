#include "runtime/causal/early_sample.h"

#include <sys/ioctl.h>

#include "runtime/causal/attach.h"
#include "runtime/perf_event.h"

namespace stab::causal {
namespace {

// Threads that have one at the same time; others go without. Each is a descriptor of the program's.
constexpr uint64_t kMost = 32;

// The events that there are: a serial number above, the descriptor below. 0: free; kTaken: about to be one.
uint64_t events[kMost];
constexpr uint64_t kTaken = ~uint64_t{0};
uint64_t ids[kMost];  // the kernel's number of each
uint64_t serials = 0;

int descriptor_of(uint64_t event) { return static_cast<int>(event & 0xffff'ffff); }

uint64_t id_of(int fd) {
  uint64_t id = 0;
  return sys::call(SYS_ioctl, fd, PERF_EVENT_IOC_ID, sys::word(&id)) == 0 ? id : 0;
}

// The program may have taken the number while the event wasn't listed yet, or had looked before it was.
void close_if_ours(uint64_t event, uint64_t id) {
  if (id != 0 && id_of(descriptor_of(event)) == id) sys::close(descriptor_of(event));
}

int open_once(uint64_t after_ns, uint64_t& id) {
  perf_event_attr attr = sys::event_attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  attr.sample_period = after_ns;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  attr.sigtrap = 1;
  attr.remove_on_exec = 1;
  attr.sig_data = kEarlySignal;
  const int fd = sys::open_event(attr, 0, -1);
  if (fd < 0) return -1;
  id = id_of(fd);
  const int moved = out_of_the_way(fd);
  if (moved != fd) return moved;
  sys::close(fd);  // a number that the program may meet
  return -1;
}

uint64_t* free_place() {
  for (uint64_t& event : events) {
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&event, &none, kTaken, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return &event;
  }
  return nullptr;
}

}  // namespace

bool begin_early_sample(uint64_t period_ns) {
  uint64_t* const place = free_place();
  if (place == nullptr) return false;
  const uint64_t serial = __atomic_add_fetch(&serials, 1u, __ATOMIC_RELAXED) & 0x3fff'ffff;
  EarlySample& early = self.early;
  early.begun_ns = thread_cpu_ns();
  // Serial numbers alone would be spread evenly, and in step with threads of two kinds that are started in turns.
  early.after_ns = 1 + ((serial + early.begun_ns + now_ns()) * 0x9e37'79b9'7f4a'7c15u >> 20) % period_ns;
  const int fd = open_once(early.after_ns, ids[place - events]);
  early.event = fd < 0 ? 0 : (serial + 1) << 32 | static_cast<uint64_t>(fd);
  __atomic_store_n(place, early.event, __ATOMIC_RELEASE);
  return fd >= 0;
}

bool is_early_sample_due() {
  constexpr uint64_t kDelayNs = 100'000;  // of an interrupt and its signal, on a stack that nobody has touched
  const EarlySample& early = self.early;
  const uint64_t half_ns = early.after_ns / 2;
  return thread_cpu_ns() - early.begun_ns < early.after_ns + (half_ns > kDelayNs ? half_ns : kDelayNs);
}

void end_early_sample() {
  const uint64_t own = self.early.event;
  self.early.event = 0;
  if (own == 0) return;
  for (uint64_t i = 0; i < kMost; ++i) {
    uint64_t wanted = own;
    const uint64_t id = ids[i];  // the next one's, once the place is free
    if (!__atomic_compare_exchange_n(&events[i], &wanted, uint64_t{0}, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    return close_if_ours(own, id);
  }
}

bool has_early_events(unsigned first, unsigned last) {
  for (const uint64_t& event : events) {
    const uint64_t now = __atomic_load_n(&event, __ATOMIC_ACQUIRE);
    const auto fd = static_cast<unsigned>(descriptor_of(now));
    if (now != 0 && now != kTaken && fd >= first && fd <= last) return true;
  }
  return false;
}

void end_early_events() {
  for (uint64_t i = 0; i < kMost; ++i) {
    uint64_t now = __atomic_load_n(&events[i], __ATOMIC_ACQUIRE);
    if (now == 0 || now == kTaken) continue;
    const uint64_t id = ids[i];
    if (__atomic_compare_exchange_n(&events[i], &now, uint64_t{0}, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      close_if_ours(now, id);
  }
}

void stop_early_events() {
  end_early_events();
  while (free_place() != nullptr) {
  }
}

}  // namespace stab::causal
