// Book-keeping of slots and threads; ring.h has the argument why it is enough.
#include "runtime/code/ring.h"

namespace stab::code {

int Ring::grow() {
  const int slot = static_cast<int>(made_++);
  free_ |= SlotSet{1} << slot;
  return slot;
}

void Ring::publish(int slot) {
  if (newest_ >= 0) retired_ |= SlotSet{1} << newest_;
  newest_ = slot;
  free_ &= ~(SlotSet{1} << slot);
}

void Ring::release(SlotSet slots) {
  retired_ &= ~slots;
  free_ |= slots;
}

bool Ring::invariant() const {
  const SlotSet newest = newest_ < 0 ? 0 : SlotSet{1} << newest_;
  const SlotSet all = made_ == 64 ? ~SlotSet{0} : (SlotSet{1} << made_) - 1;
  return (free_ & retired_) == 0 && (free_ & newest) == 0 && (retired_ & newest) == 0 &&
         (free_ | retired_ | newest) == all && made_ <= limit_;
}

ThreadLedger::Row* ThreadLedger::list(int32_t process, int32_t thread) {
  for (uint32_t i = 0; i < count_; ++i) {
    if (rows_[i].thread != thread || rows_[i].process != process) continue;
    rows_[i].round = round_;
    return &rows_[i];
  }
  if (count_ == kMaxThreads) return nullptr;
  rows_[count_] = {process, thread, round_, 0, 0, 0};
  return &rows_[count_++];
}

void ThreadLedger::end_round() {
  for (uint32_t i = 0; i < count_;) {
    if (rows_[i].round == round_)
      ++i;
    else
      rows_[i] = rows_[--count_];
  }
}

void ThreadLedger::saw_running(Row& row, SlotSet retired, SlotSet live) {
  row.out_of |= retired & ~live & row.seen_once;
  row.seen_once = retired & ~live;
}

SlotSet ThreadLedger::out_of_all() const {
  SlotSet slots = ~SlotSet{0};
  for (uint32_t i = 0; i < count_; ++i) slots &= rows_[i].out_of;
  return slots;
}

void ThreadLedger::forget(SlotSet slots) {
  for (uint32_t i = 0; i < count_; ++i) {
    rows_[i].out_of &= ~slots;
    rows_[i].seen_once &= ~slots;
  }
}

void ThreadLedger::doubt() {
  for (uint32_t i = 0; i < count_; ++i) rows_[i].out_of = 0;
}

SlotSet CleanRounds::count(SlotSet searched, SlotSet in_use) {
  SlotSet left = 0;
  for (uint32_t i = 0; i < kMaxSlots; ++i) {
    const SlotSet bit = SlotSet{1} << i;
    if ((in_use & bit) != 0) {
      if (clean_[i] > 0 && (came_back_ & bit) == 0) {
        came_back_ |= bit;
        ++came_back_count_;
      }
      clean_[i] = 0;
    } else if ((searched & bit) != 0) {
      if (clean_[i] < kNeeded) ++clean_[i];
      if (clean_[i] == kNeeded) left |= bit;
    }
  }
  return left & ~came_back_;
}

void CleanRounds::forget(SlotSet slots) {
  for (uint32_t i = 0; i < kMaxSlots; ++i)
    if ((slots >> i & 1) != 0) clean_[i] = 0;
}

}  // namespace stab::code
