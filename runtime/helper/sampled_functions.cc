// The rings are the kernel's to write and ours to read; what they say of addresses is the program's doing, so an address is held
// against what there is before anything is read by it.
#include "runtime/helper/sampled_functions.h"

#include <sched.h>

#include "runtime/arch/arch.h"
#include "runtime/code/partition_point.h"
#include "runtime/perf_event.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// A sample is 24 bytes: 1365 of them, more than a second of a CPU. Small, since what a user may lock is little.
constexpr size_t kRingBytes = 32 * 1024;
constexpr size_t kMappedBytes = arch::kPage + kRingBytes;
// Lengths of a list of records that is read at once; a hole in it (a record that ends beyond) ends the reading.
constexpr size_t kMostRecordBytes = 256;

// As PERF_SAMPLE_IP | PERF_SAMPLE_TID lays a sample out behind its header.
struct SampleBody {
  uint64_t ip;
  uint32_t pid, tid;
};
// And PERF_RECORD_LOST.
struct LostBody {
  uint64_t id, lost;
};

int open_event(int pid, int cpu, bool exclude_kernel) {
  perf_event_attr attr = sys::event_attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  attr.sample_period = kSamplePeriodNs;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
  attr.inherit = 1;
  attr.exclude_kernel = exclude_kernel;
  // Nobody waits for it.
  attr.watermark = 1;
  attr.wakeup_watermark = kRingBytes;
  return sys::open_event(attr, pid, cpu);
}

void copy_from_ring(const uint8_t* ring, uint64_t at, void* to, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) static_cast<uint8_t*>(to)[i] = ring[(at + i) % kRingBytes];
}

// The function whose original bytes hold this offset in the text; function_count where none does.
uint32_t function_holding(const code::Metadata& code, uint64_t offset) {
  const uint32_t all = code.header->function_count;
  const uint32_t behind = code::partition_point(all, [&](uint32_t i) { return code.functions[i].start <= offset; });
  if (behind == 0 || offset - code.functions[behind - 1].start >= code.functions[behind - 1].bytes) return all;
  return behind - 1;
}

// nullptr: it is of another family, or not known yet.
const Process* member_of(const Family& family, int pid) {
  if (family.program.pid == pid) return &family.program;
  for (const Process& process : family.kin)
    if (process.pid == pid) return &process;
  return nullptr;
}

template <typename T>
T* allocate(uint64_t count) {
  void* memory = sys::map(nullptr, count * sizeof(T) + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  return sys::is_address(memory) ? static_cast<T*>(memory) : nullptr;
}

}  // namespace

bool SampledFunctions::open_ring(int pid, int cpu, bool exclude_kernel) {
  if (ring_count_ == kMostRings) return false;
  const int event = open_event(pid, cpu, exclude_kernel);
  if (event < 0) return false;
  void* mapped = sys::map(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event);
  if (!sys::is_address(mapped)) {
    sys::close(event);
    return false;
  }
  rings_[ring_count_++] = {event, static_cast<uint8_t*>(mapped)};
  return true;
}

bool SampledFunctions::begin(const Family& family, const Images& images) {
  if (!family.numbered) return false;
  const code::Metadata& code = images.program.code;
  counts_ = allocate<Counts>(code.header == nullptr ? 0 : code.header->function_count);
  stayed_ = allocate<StayedFunction>(kMostStayed);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int pid = family.program.pid;
  if (counts_ == nullptr || stayed_ == nullptr || !files_.begin() ||
      sys::call(SYS_sched_getaffinity, pid, sizeof allowed, sys::word(&allowed)) <= 0)
    return false;
  bool exclude_kernel = false;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    if (!open_ring(pid, cpu, exclude_kernel)) {
      // Whether the kernel may be sampled shows on the first CPU already: it holds for all.
      if (exclude_kernel || ring_count_ > 0 || !open_ring(pid, cpu, exclude_kernel = true)) return end(), false;
    }
  }
  was_begun_ = ring_count_ > 0;
  return was_begun_;
}

void SampledFunctions::end() {
  while (ring_count_ > 0) {
    Ring& ring = rings_[--ring_count_];
    sys::unmap(ring.mapped, kMappedBytes);
    sys::close(ring.event);
    ring = Ring{};
  }
}

void SampledFunctions::count_in(Module& module, const code::Ring& ring, uint64_t pc, Counted& out) const {
  const uint64_t into_ring = pc - module.ring_address;
  const uint32_t all = module.code.header->function_count;
  out.function = all;
  if (into_ring < ring.made() * module.slot_bytes) {
    const int slot = static_cast<int>(into_ring / module.slot_bytes);
    code::ImageEntry entry;
    if (code::find_executed(module.slot_memory(slot), static_cast<uint32_t>(into_ring % module.slot_bytes), entry))
      out.function = code::function_at(module.code, entry.start);
    out.in = slot == ring.newest() ? SampledIn::kNewest : SampledIn::kOlder;
  } else if (pc - module.place.text < module.code.header->text_bytes) {
    out.function = function_holding(module.code, pc - module.place.text);
    out.in = SampledIn::kOriginal;
  }
  out.found = out.function != all;
}

void SampledFunctions::count(const Process& process, uint64_t pc, Images& images) {
  Counted counted;
  if (images.program.moves) count_in(images.program, images.ring, pc, counted);
  if (counted.found) {
    Counts& counts = counts_[counted.function];
    ++(counted.in == SampledIn::kOriginal ? counts.original : counted.in == SampledIn::kNewest ? counts.newest : counts.older);
  }
  for (uint32_t i = 0; i < images.libraries.count && !counted.found; ++i) {
    Library& library = images.libraries.all[i];
    if (!library.module.moves) continue;
    count_in(library.module, images.ring, pc, counted);
    if (!counted.found) continue;
    const code::Metadata& code = library.module.code;
    const abi::CodeFunction& function = code.functions[counted.function];
    files_.count_in_library(library.sampled_file, code.header->text_start + function.start, function.bytes, counted.in);
  }
  if (!counted.found) {
    ++(files_.count_elsewhere(process, pc, now_ns_) ? original_ : elsewhere_);
    return;
  }
  ++(counted.in == SampledIn::kOriginal ? original_ : counted.in == SampledIn::kNewest ? newest_ : older_);
}

void SampledFunctions::take_ring(Ring& ring, const Family& family, Images& images) {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(ring.mapped);
  const uint8_t* const data = ring.mapped + arch::kPage;
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  uint64_t at = page->data_tail;
  while (at + sizeof(perf_event_header) <= head) {
    perf_event_header header;
    copy_from_ring(data, at, &header, sizeof header);
    if (header.size < sizeof header || header.size > kMostRecordBytes || at + header.size > head) break;
    if (header.type == PERF_RECORD_SAMPLE && header.size == sizeof header + sizeof(SampleBody)) {
      SampleBody body;
      copy_from_ring(data, at + sizeof header, &body, sizeof body);
      const bool user = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
      const Process* const process = user ? member_of(family, static_cast<int>(body.pid)) : nullptr;
      if (!user) ++kernel_;
      else if (process != nullptr)
        count(*process, body.ip, images);
      else ++elsewhere_;
    }
    if (header.type == PERF_RECORD_LOST && header.size >= sizeof header + sizeof(LostBody)) {
      LostBody body;
      copy_from_ring(data, at + sizeof header, &body, sizeof body);
      lost_ += body.lost;
    }
    at += header.size;
  }
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void SampledFunctions::take(const Family& family, Images& images) {
  if (is_on()) now_ns_ = sys::monotonic_ns();
  for (uint32_t i = 0; i < ring_count_; ++i) take_ring(rings_[i], family, images);
}

void SampledFunctions::write_sums(EpochRecord& record) const {
  record.samples_newest = static_cast<uint32_t>(newest_);
  record.samples_older = static_cast<uint32_t>(older_);
  record.samples_elsewhere = static_cast<uint32_t>(original_ + elsewhere_ + kernel_);
}

void SampledFunctions::saw_stay(uint32_t function, uint32_t image, uint32_t epoch) {
  if (stayed_ == nullptr) return;
  for (uint32_t i = stayed_count_; i > 0; --i) {
    StayedFunction& stayed = stayed_[i - 1];
    if (stayed.function != function || stayed.image != image) continue;
    stayed.to_epoch = epoch;
    return;
  }
  if (stayed_count_ < kMostStayed) stayed_[stayed_count_++] = {function, image, epoch, epoch};
}

void SampledFunctions::write_to(int fd, const code::Metadata& code, uint64_t text_hash) {
  if (!is_promised_) return;
  SampleHeader header{};
  for (size_t i = 0; i < sizeof header.magic; ++i) header.magic[i] = kSampleMagic[i];
  header.record_bytes = sizeof(FunctionSamples);
  header.stayed_bytes = sizeof(StayedFunction);
  header.text_hash = text_hash;
  const uint32_t functions = was_begun_ && code.header != nullptr ? code.header->function_count : 0;
  header.function_count = functions;
  if (was_begun_) {
    header.stayed_count = stayed_count_;
    header.looks = looks_;
    header.period_ns = kSamplePeriodNs;
    header.newest = newest_;
    header.older = older_;
    header.original = original_;
    header.elsewhere = elsewhere_;
    header.kernel = kernel_;
    header.lost = lost_;
  }
  const auto is_sampled = [](const Counts& counts) { return (counts.newest | counts.older | counts.original) != 0; };
  for (uint32_t i = 0; i < functions; ++i) header.count += is_sampled(counts_[i]);
  if (sys::write_full(fd, &header, sizeof header) != 0) return;
  constexpr uint32_t kAtOnce = 256;
  FunctionSamples chunk[kAtOnce];
  uint32_t used = 0;
  for (uint32_t i = 0; i < functions; ++i) {
    if (is_sampled(counts_[i])) chunk[used++] = {i, counts_[i].newest, counts_[i].older, counts_[i].original};
    if (used < kAtOnce && i + 1 < functions) continue;
    if (sys::write_full(fd, chunk, used * sizeof chunk[0]) != 0) return;
    used = 0;
  }
  if (sys::write_full(fd, stayed_, header.stayed_count * sizeof(StayedFunction)) != 0) return;
  if (was_begun_) files_.write_to(fd);
}

}  // namespace stab::helper
