// A visit is one addition in the program's own code (runtime/include/stab/progress.h). Here is what comes before the first: a
// number for the point, a row for the thread.
//
// Everything is lock-free, since a point may be visited in a signal handler, and since whoever dies in the middle must not
// stop the others: a number or a row that was being given is then lost, no more. Two threads that meet a new point at once
// may give it two numbers; read_board adds them up.
//
// A thread's end is seen by the destructor of a pthread key. Points that are visited later, by other destructors, count in
// the shared cells. A forked child takes a row of its own; children that are made by a bare clone share their parent's and
// may lose visits to it.
#include "runtime/progress/points.h"

#include <pthread.h>

#include "runtime/api/ask_helper.h"
#include "runtime/arch/arch.h"
#include "runtime/control.h"
#include "runtime/libc_names.h"
#include "runtime/sys.h"

extern "C" {
// What runtime/include/stab/progress.h reads: this thread's row, nullptr while it has none.
__attribute__((visibility("default"))) __thread char* stab_rt_visits __attribute__((tls_model("initial-exec"))) = nullptr;
}

namespace stab::progress {
namespace {

constexpr uint32_t kUnknown = 0;
constexpr uint32_t kNobody = ~0u;  // what a place in the program remembers where nothing counts

Board* board = nullptr;
// The helper's, while the points are led to another one (stab_rt_share_board).
Board* own_board = nullptr;
pthread_key_t key;
constexpr uint32_t kNotMade = 0, kMaking = 1, kMade = 2, kNone = 3;  // none is to be had
uint32_t key_state = kNotMade;
// This thread counts in the shared cells: it is ending, or found no row.
__thread bool shares __attribute__((tls_model("initial-exec"))) = false;
// Told of each visit before it counts (stab_rt_watch_visits). Then no thread has a row, so that none counts without coming here.
void (*watcher)(int kind) = nullptr;

// Without a system call, which the program's own filter may forbid: a thread is told from others by where its variables are.
uint64_t own_identity() {
  return static_cast<uint64_t>(static_cast<uint32_t>(api::own_pid())) << 32 |
         static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&stab_rt_visits) >> 3);
}

// Only its owner's: a forked child has inherited the key's value, not the row.
void free_row(BoardRow* row) {
  uint64_t mine = own_identity();
  __atomic_compare_exchange_n(&row->owner, &mine, uint64_t{0}, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void thread_ends(void* row) {
  stab_rt_visits = nullptr;
  shares = true;
  free_row(static_cast<BoardRow*>(row));
}

// kMade, kMaking while somebody else makes it, or kNone.
uint32_t state_of_key() {
  uint32_t state = __atomic_load_n(&key_state, __ATOMIC_ACQUIRE);
  if (state == kNotMade &&
      __atomic_compare_exchange_n(&key_state, &state, kMaking, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    state = __pthread_key_create(&key, thread_ends) == 0 ? kMade : kNone;
    __atomic_store_n(&key_state, state, __ATOMIC_RELEASE);
  }
  return state;
}

// Rows are looked at from the first, so that as few as possible are in use and have to be read.
BoardRow* find_row() {
  const uint64_t mine = own_identity();
  for (uint32_t i = 0; i < kRows; ++i) {
    BoardRow& row = board->rows[i];
    uint64_t free = 0;
    if (__atomic_load_n(&row.owner, __ATOMIC_RELAXED) != 0 ||
        !__atomic_compare_exchange_n(&row.owner, &free, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    uint32_t used = __atomic_load_n(&board->rows_used, __ATOMIC_RELAXED);
    while (used < i + 1 && !__atomic_compare_exchange_n(&board->rows_used, &used, i + 1, true, __ATOMIC_RELEASE,
                                                        __ATOMIC_RELAXED)) {
    }
    return &row;
  }
  return nullptr;
}

void take_row() {
  // Without the key rows would never come back. Whoever meets its making, a handler inside it included, counts beside.
  const uint32_t state = state_of_key();
  if (state == kMaking) return;
  BoardRow* const row = state == kMade ? find_row() : nullptr;
  if (row == nullptr) {
    shares = true;
    __atomic_fetch_add(&board->threads_sharing, uint64_t{1}, __ATOMIC_RELAXED);
    degrade(control(), Degradation::kThreadsShareCells);
    return;
  }
  stab_rt_visits = reinterpret_cast<char*>(row);
  libc::set_specific(key, row);
}

bool is(const BoardPoint& point, Kind kind, const char* name) {
  if (point.kind != static_cast<uint32_t>(kind)) return false;
  size_t at = 0;
  while (at < kNameBytes && name[at] != 0 && name[at] == point.name[at]) ++at;
  return at < kNameBytes && name[at] == point.name[at];
}

size_t length_of(const char* name) {
  size_t length = 0;
  while (length < kNameBytes && name[length] != 0) ++length;
  return length;
}

uint32_t drop() {
  __atomic_fetch_add(&board->points_dropped, uint64_t{1}, __ATOMIC_RELAXED);
  degrade(control(), Degradation::kPointsDropped);
  return kDropped;
}

// The number of a point, a new one if it has none.
uint32_t number_of(Kind kind, const char* name) {
  uint32_t used = __atomic_load_n(&board->points_used, __ATOMIC_ACQUIRE);
  for (uint32_t number = 1; number <= used && number <= kMostNamed; ++number) {
    const BoardPoint& point = board->points[number];
    if (__atomic_load_n(&point.ready, __ATOMIC_ACQUIRE) == 1 && is(point, kind, name)) return number;
  }
  const size_t length = length_of(name);
  if (length == 0 || length >= kNameBytes) return drop();
  do {
    if (used >= kMostNamed) return drop();
  } while (!__atomic_compare_exchange_n(&board->points_used, &used, used + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  BoardPoint& point = board->points[used + 1];
  for (size_t i = 0; i < length; ++i) point.name[i] = name[i];
  point.kind = static_cast<uint32_t>(kind);
  __atomic_store_n(&point.ready, 1u, __ATOMIC_RELEASE);
  return used + 1;
}

// In a program that has a helper there should be a board; it is said where somebody misses it.
bool has_board() {
  if (board == nullptr && control().nonce != 0) degrade(control(), Degradation::kNoBoard);
  return board != nullptr;
}

bool is_kind(int kind) { return kind > 0 && kind < static_cast<int>(Kind::kCount); }

}  // namespace

void use_board(Board* mapped) { board = mapped; }

bool lead_to(Board* other) {
  // Before main, and no thread but this: what has been visited already has its numbers, and keeps them.
  const uint32_t used = board == nullptr ? 0 : board->points_used;
  if (used != 0 && other->points_used != 0) return false;
  if (used != 0) {
    for (uint32_t number = 1; number <= used && number <= kMostNamed; ++number) {
      other->points[number] = board->points[number];
      other->shared[number].visits = visits_of(*board, number);
    }
    __atomic_store_n(&other->points_used, used, __ATOMIC_RELEASE);
  }
  give_row_back();
  shares = false;
  own_board = board;
  board = other;
  return true;
}

void bring_back() {
  if (own_board == nullptr) return;
  const uint32_t used = __atomic_load_n(&board->points_used, __ATOMIC_ACQUIRE);
  for (uint32_t number = 1; number <= used && number <= kMostNamed; ++number) {
    if (__atomic_load_n(&board->points[number].ready, __ATOMIC_ACQUIRE) != 1) continue;
    own_board->points[number] = board->points[number];
    // What it had before it was led away is part of the other's.
    own_board->shared[number].visits += visits_of(*board, number) - visits_of(*own_board, number);
  }
  own_board->points_dropped = board->points_dropped;
  own_board->threads_sharing = board->threads_sharing;
  __atomic_store_n(&own_board->points_used, used, __ATOMIC_RELEASE);
  board = own_board;
  own_board = nullptr;
}

void leave_row_to_parent() {
  // The thread that was making it is not here.
  uint32_t making = kMaking;
  __atomic_compare_exchange_n(&key_state, &making, kNotMade, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  stab_rt_visits = nullptr;
  shares = false;
}

void give_row_back() {
  char* const row = stab_rt_visits;
  if (row == nullptr) return;
  stab_rt_visits = nullptr;
  shares = true;
  free_row(reinterpret_cast<BoardRow*>(row));
}

}  // namespace stab::progress

extern "C" {

// A visit that the inline part of STAB_PROGRESS could not count. *site is 0 at first, then what the inline part needs: the
// distance from stab_rt_visits to the count, or all ones where nothing counts.
__attribute__((visibility("default"))) void stab_rt_visit(uint32_t* site, int kind, const char* name) {
  using namespace stab::progress;
  if (!has_board() || !is_kind(kind)) return __atomic_store_n(site, kNobody, __ATOMIC_RELAXED);
  uint32_t offset = __atomic_load_n(site, __ATOMIC_RELAXED);
  if (offset == kUnknown) {
    offset = offset_of(number_of(static_cast<Kind>(kind), name));
    __atomic_store_n(site, offset, __ATOMIC_RELAXED);
  }
  if (watcher != nullptr) {
    watcher(kind);
  } else if (stab_rt_visits == nullptr && !shares) {
    take_row();
  }
  if (char* const row = stab_rt_visits; row != nullptr) {
    stab::arch::add_one(reinterpret_cast<uint64_t*>(row + offset));
    return;
  }
  __atomic_fetch_add(&board->shared[offset / 8].visits, uint64_t{1}, __ATOMIC_RELAXED);
}

// A causal profile's library leads the points to a board that its companion reads. 0: they have numbers there that are others'.
__attribute__((visibility("default"))) int stab_rt_share_board(void* other) {
  return stab::progress::lead_to(static_cast<stab::progress::Board*>(other)) ? 1 : 0;
}

// Before main, by a causal profile's library: each visit of STAB_PROGRESS and its kin comes to `to` first.
__attribute__((visibility("default"))) void stab_rt_watch_visits(void (*to)(int kind)) {
  stab::progress::give_row_back();
  stab::progress::watcher = to;
}

// COZ's own entry, which its header and its bindings for other languages look up by dlsym: a pair of words of which the
// program itself raises the first. nullptr: nothing counts.
__attribute__((visibility("default"))) void* _coz_get_counter(int kind, const char* name) {
  using namespace stab::progress;
  if (!has_board() || name == nullptr || kind < 1 || kind > 3) return nullptr;
  return &board->shared[number_of(static_cast<Kind>(kind), name)];
}

}  // extern "C"
