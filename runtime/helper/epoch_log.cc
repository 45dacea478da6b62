// An epoch costs two readings of clocks and, of each point, a word of every row that was ever in use: some microseconds of the
// helper's own time. The program is not asked.
#include "runtime/helper/epoch_log.h"

#include <poll.h>

#include "runtime/helper/cpu_clock.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

void write_magic(const char (&magic)[8], char (&to)[8]) {
  for (size_t i = 0; i < sizeof magic; ++i) to[i] = magic[i];
}

// Whether a pipe takes a page without making us wait.
bool has_room(int fd) {
  pollfd waited{fd, POLLOUT, 0};
  const timespec at_once{0, 0};
  return sys::call(SYS_ppoll, sys::word(&waited), 1, sys::word(&at_once), 0, 8) == 1 && (waited.revents & POLLOUT) != 0;
}

}  // namespace

void EpochLog::begin(const progress::Board* board, int pid, const code::LayoutScript* script, const code::EntryCell* entries) {
  void* memory = sys::map(nullptr, kMostEpochs * sizeof(EpochRecord), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (!sys::is_address(memory)) return;
  records_ = static_cast<EpochRecord*>(memory);
  board_ = board;
  script_ = script;
  entries_ = entries;
  static_assert(code::kMostCounted <= kEpochPoints);
  counted_ = script != nullptr ? script->counted_count : 0;
  cpu_clock_ = pid > 0 ? cpu_clock_of(pid) : 0;
  origin_ns_ = sys::monotonic_ns();
  tells_at_ns_ = origin_ns_ + kProgressPeriodNs;
}

// A point that is found later had not been visited before.
void EpochLog::find_points() {
  const uint32_t used = __atomic_load_n(&board_->points_used, __ATOMIC_ACQUIRE);
  while (counted_ + points_ < kEpochPoints && looked_at_ < used && looked_at_ < progress::kMostNamed) {
    const progress::BoardPoint& point = board_->points[looked_at_ + 1];
    if (__atomic_load_n(&point.ready, __ATOMIC_ACQUIRE) != 1) return;  // it will be
    ++looked_at_;
    if (__atomic_load_n(&point.kind, __ATOMIC_RELAXED) == static_cast<uint32_t>(progress::Kind::kProgress))
      number_[points_++] = looked_at_;
  }
}

void EpochLog::read_visits(uint64_t (&to)[kEpochPoints]) {
  for (uint32_t i = 0; i < counted_; ++i) to[i] = peek(entries_[i].visits);
  if (board_ == nullptr) return;
  find_points();
  for (uint32_t i = 0; i < points_; ++i) to[counted_ + i] = progress::visits_of(*board_, number_[i]);
}

void EpochLog::write_names(char (&to)[kEpochPoints][kEpochNameBytes]) const {
  static_assert(kEpochNameBytes == progress::kNameBytes);
  for (uint32_t i = 0; i < counted_; ++i) code::write_point_name(script_->counted[i], to[i]);
  for (uint32_t i = 0; i < points_; ++i) progress::read_name(*board_, number_[i], to[counted_ + i]);
}

void EpochLog::tell_progress(int fd) {
  const uint64_t now_ns = sys::monotonic_ns();
  tells_at_ns_ = now_ns + kProgressPeriodNs;
  ProgressFrame frame{};
  read_visits(frame.visits);
  frame.count = counted_ + points_;
  if (frame.count == 0 || !has_room(fd)) return;
  write_magic(kProgressMagic, frame.magic);
  frame.elapsed_ns = now_ns - origin_ns_;
  write_names(frame.points);
  sys::write_full(fd, &frame, sizeof frame);
}

void EpochLog::add(uint32_t epoch, uint32_t image, uint32_t refill, int slot, uint8_t flags, const SampledFunctions& samples) {
  if (!is_on()) return;
  // The last place is the end's.
  if (count_ + 1 >= kMostEpochs && (flags & kEpochEnd) == 0) {
    ++unrecorded_;
    return;
  }
  EpochRecord& record = records_[count_++];
  record = EpochRecord{};
  record.start_ns = sys::monotonic_ns() - origin_ns_;
  if (cpu_clock_ == 0 || !read_cpu_clock(cpu_clock_, record.cpu_ns)) flags |= kEpochCpuUnknown;
  read_visits(record.visits);
  record.epoch = epoch;
  record.image = image;
  record.refill = refill;
  record.slot = slot < 0 ? uint8_t{0} : static_cast<uint8_t>(slot);
  record.flags = flags;
  samples.write_sums(record);
}

void EpochLog::note_image(uint32_t image, int slot) {
  if (!is_on() || count_ == 0) return;
  EpochRecord& record = records_[count_ - 1];
  if (record.image != kNoImage) return;
  record.image = image;
  record.slot = slot < 0 ? uint8_t{0} : static_cast<uint8_t>(slot);
}

void EpochLog::write_to(int fd) const {
  if (!is_on()) return;
  EpochHeader header{};
  write_magic(kEpochMagic, header.magic);
  header.record_bytes = sizeof(EpochRecord);
  header.count = count_;
  header.unrecorded = unrecorded_;
  write_names(header.points);
  if (sys::write_full(fd, &header, sizeof header) == 0) sys::write_full(fd, records_, count_ * sizeof(EpochRecord));
}

}  // namespace stab::helper
