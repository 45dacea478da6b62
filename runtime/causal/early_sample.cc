#include "runtime/causal/early_sample.h"

#include <sys/mman.h>

#include "runtime/arch/arch.h"
#include "runtime/causal/attach.h"
#include "runtime/causal/moment.h"
#include "runtime/causal/sampling_event.h"

namespace stab::causal {
namespace {

// Threads that have one at the same time; others go without. Each is a page of what the kernel lets a user lock for perf.
constexpr uint32_t kMost = 32;
using arch::kPage;

// Their pages; nullptr: free; kTaken: about to be one, or never again.
void* pages[kMost];
char taken;
constexpr void* kTaken = &taken;

bool exchange(void*& page, void* from, void* to) {
  return __atomic_compare_exchange_n(&page, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void** free_place() {
  for (void*& page : pages)
    if (exchange(page, nullptr, kTaken)) return &page;
  return nullptr;
}

// The mapping keeps the event, so its descriptor is closed at once.
void* open_once(uint64_t after_ns) {
  const int fd = sys::open_event(sampling_event(after_ns, kEarlySignal), 0, -1);
  if (fd < 0) return nullptr;
  void* const page = sys::map(nullptr, kPage, PROT_READ, MAP_SHARED, fd);
  sys::close(fd);
  return sys::is_address(page) ? page : nullptr;
}

}  // namespace

bool begin_early_sample(uint64_t period_ns) {
  void** const place = free_place();
  if (place == nullptr) return false;
  EarlySample& early = self.early;
  early.begun_ns = thread_cpu_ns();
  early.after_ns = 1 + drawn(now_ns(), period_ns);
  early.page = open_once(early.after_ns);
  __atomic_store_n(place, early.page, __ATOMIC_RELEASE);
  return early.page != nullptr;
}

bool is_early_sample_due() {
  constexpr uint64_t kDelayNs = 100'000;  // of an interrupt and its signal, on a stack that nobody has touched
  const EarlySample& early = self.early;
  const uint64_t half_ns = early.after_ns / 2;
  return thread_cpu_ns() - early.begun_ns < early.after_ns + (half_ns > kDelayNs ? half_ns : kDelayNs);
}

void end_early_sample() {
  void* const own = self.early.page;
  self.early.page = nullptr;
  if (own == nullptr) return;
  for (void*& page : pages)
    if (exchange(page, own, nullptr)) {
      sys::unmap(own, kPage);
      return;
    }
}

void stop_early_samples() {
  for (void*& page : pages) {
    void* const now = __atomic_exchange_n(&page, kTaken, __ATOMIC_ACQ_REL);
    if (now != nullptr && now != kTaken) sys::unmap(now, kPage);
  }
}

void forget_early_samples() {
  for (void*& page : pages) __atomic_store_n(&page, nullptr, __ATOMIC_RELAXED);
}

}  // namespace stab::causal
