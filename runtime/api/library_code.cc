// What a library leaves behind, a mapped ring and an entry of the control block, is taken back when the next library comes, if
// the loader has unmapped its text by then. Forked children may still run in it at the same addresses, and see the same control
// block: while there are any, nothing is taken back. The helper finds those that no hook of fork() has announced.
#include "runtime/api/library_code.h"

#include "runtime/api/ask_helper.h"
#include "runtime/api/loaded_file.h"
#include "runtime/settings.h"
#include "runtime/start.h"

namespace stab::api {
namespace {

using code::MovedLibrary;

// FNV-1a of a path's last part: what a library's layouts are drawn by, wherever it lies. Never 0.
uint64_t hash_of_name(const char* path) {
  constexpr uint64_t kBasis = 0xcbf29ce484222325u, kPrime = 0x100000001b3u;
  uint64_t hash = kBasis;
  for (const char* at = path; *at != 0; ++at) hash = *at == '/' ? kBasis : (hash ^ static_cast<uint8_t>(*at)) * kPrime;
  return hash == 0 ? 1 : hash;
}

// One thread asks at a time. dlopen holds the loader's lock, but constructors of what is loaded at the start run without it, next
// to threads that an earlier one has made. Held by the number of a process: a child that was forked meanwhile has another one,
// and no thread that holds anything.
class Turn {
 public:
  Turn() {
    const auto own = static_cast<uint32_t>(own_pid());
    for (uint32_t seen = 0; !take(seen, own); seen = __atomic_load_n(&holder_, __ATOMIC_RELAXED))
      if (seen == own) sys::futex_wait_for(&holder_, own, kLookNs);
  }
  ~Turn() {
    __atomic_store_n(&holder_, 0u, __ATOMIC_RELEASE);
    sys::futex_wake(&holder_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  // From nobody, or from a process that isn't this one. `seen` becomes who has it.
  static bool take(uint32_t& seen, uint32_t own) {
    return seen != own && __atomic_compare_exchange_n(&holder_, &seen, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }

  static uint32_t holder_;  // a futex word; 0: nobody
};
uint32_t Turn::holder_ = 0;

bool has_kin() {
  const Control& block = control();
  if (block.kin_overflowed != 0 || __atomic_load_n(&block.forks_pending, __ATOMIC_ACQUIRE) != 0) return true;
  for (const int32_t& pid : block.kin)
    if (__atomic_load_n(&pid, __ATOMIC_ACQUIRE) != 0) return true;
  return false;
}

uint32_t state_of(const MovedLibrary& library) { return __atomic_load_n(&library.state, __ATOMIC_SEQ_CST); }
void set_state(MovedLibrary& library, uint32_t state) { __atomic_store_n(&library.state, state, __ATOMIC_SEQ_CST); }

void write_ring(MovedLibrary& library, uint64_t ring_address, uint64_t ring_bytes, uint64_t slot_bytes, uint64_t text_address) {
  const auto store = [](uint64_t& field, uint64_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); };
  __atomic_fetch_add(&library.version, 1u, __ATOMIC_ACQ_REL);
  store(library.ring_address, ring_address);
  store(library.ring_bytes, ring_bytes);
  store(library.slot_bytes, slot_bytes);
  store(library.text_address, text_address);
  __atomic_fetch_add(&library.version, 1u, __ATOMIC_ACQ_REL);
}

// Whether a library that has left is unloaded, not in the middle of it. `coming` may have been loaded in its place.
bool is_gone(const MovedLibrary& library, const LoadedFile& coming) {
  const LoadedFile there = file_holding(library.text_address);
  return !there.found || there.extent.low == coming.extent.low || hash_of_name(there.name) != library.name;
}

// False: the file does not move.
template <typename Each>
bool for_each_moving_in(const LoadedFile& file, Each each) {
  bool any = false;
  for (MovedLibrary& library : control().libraries) {
    if (state_of(library) != code::kLibraryMoves) continue;
    if (library.text_address - file.extent.low >= file.extent.high - file.extent.low) continue;
    each(library);
    any = true;
  }
  return any;
}

void take_back_what_is_gone(const LoadedFile& coming) {
  for (MovedLibrary& library : control().libraries) {
    if (state_of(library) != code::kLibraryLeft || !is_gone(library, coming)) continue;
    unmap_library_ring(library);
    write_ring(library, 0, 0, 0, 0);
    set_state(library, code::kLibraryFree);
  }
}

bool set_step(uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(&control().library.step, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

// Waits until the helper has gone on from this step. False: it did not.
bool wait_beyond(uint32_t step) {
  return send_orders() && wait_for(control().library.step, [step](uint32_t value) { return value != step; });
}

// Whether a library has left, or is gone: then something could be taken back.
bool any_has_left() {
  for (const MovedLibrary& library : control().libraries)
    if (library.name != 0 && state_of(library) != code::kLibraryMoves) return true;
  return false;
}

// Whether nobody but this process can run in what libraries have left. pre: it is this thread's turn
bool is_alone() {
  if (has_kin()) return false;
  control().library.moves = 0;
  if (!set_step(code::kMoveIdle, code::kMoveLook)) return false;
  if (!wait_beyond(code::kMoveLook) && set_step(code::kMoveLook, code::kMoveIdle)) return false;
  return control().library.moves == 1 && !has_kin();
}

// The place in the control block that a library of this name is to have; kMaxLibraries: none is free. The same again where it is
// free, as the helper still knows the library there.
uint32_t choose_place(const LoadedFile& coming, uint64_t name) {
  const bool may_reuse = any_has_left() && is_alone();
  if (may_reuse) take_back_what_is_gone(coming);
  uint32_t chosen = code::kMaxLibraries;
  for (uint32_t i = 0; i < code::kMaxLibraries; ++i) {
    const MovedLibrary& library = control().libraries[i];
    if (library.name == 0) return i;
    if (!may_reuse || state_of(library) != code::kLibraryFree) continue;
    if (library.name == name) return i;
    if (chosen == code::kMaxLibraries) chosen = i;
  }
  return chosen;
}

// Through the steps of code::LibraryMove. pre: it is this thread's turn, and the descriptor is open
bool move_file(const LoadedFile& file, int descriptor, uint32_t place, uint64_t name) {
  code::LibraryMove& asked = control().library;
  MovedLibrary& library = control().libraries[place];
  asked.place = place;
  asked.file = descriptor;
  asked.moves = 0;
  asked.bias = file.extent.bias;
  asked.name = name;
  if (!set_step(code::kMoveIdle, code::kMoveAsked)) return false;
  if (!wait_beyond(code::kMoveAsked) && set_step(code::kMoveAsked, code::kMoveIdle)) return false;
  if (const uint32_t fault = __atomic_load_n(&control().script_fault, __ATOMIC_RELAXED))
    refuse_layout_script(fault, control().script_line);
  if (__atomic_load_n(&asked.step, __ATOMIC_SEQ_CST) != code::kMovePlanned) return false;
  if (!map_library(file.extent, asked)) {
    set_step(code::kMovePlanned, code::kMoveIdle);
    return false;
  }
  __atomic_store_n(&library.name, name, __ATOMIC_RELAXED);
  write_ring(library, asked.ring_address, asked.slots * asked.slot_bytes, asked.slot_bytes, asked.text_address);
  set_state(library, code::kLibraryMoves);
  set_step(code::kMovePlanned, code::kMoveMapped);
  // One that is late moves it later: all that it needs is there.
  return !wait_beyond(code::kMoveMapped) || asked.moves == 1;
}

// Where the library lies that stayed last: one that says twice that it has come is counted once. 0: none, or it has left.
uint64_t stayed_last;

bool move_loaded(const LoadedFile& file) {
  if (file.extent.text_relocations || file.name == nullptr || *file.name == 0) return false;
  const uint64_t name = hash_of_name(file.name);
  const uint32_t place = choose_place(file, name);
  if (place == code::kMaxLibraries) {
    degrade(control(), Degradation::kLibrariesDropped);
    return false;
  }
  // The helper opens it through /proc, so that it is this file whatever the path leads to there.
  const int descriptor = sys::open(file.name, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) {
    degrade(control(), Degradation::kLibraryUnread);
    return false;
  }
  const bool moves = move_file(file, descriptor, place, name);
  sys::close(descriptor);
  return moves;
}

}  // namespace

void move_library(const void* inside) {
  const LoadedFile file = file_holding(address_of(inside));
  if (!file.found || file.is_executable) return;
  const Turn turn;
  // It may say so twice: by what our compilers put into it, and by what its link did.
  if (for_each_moving_in(file, [](MovedLibrary&) {})) return;
  if (has_library_memory() && move_loaded(file)) return;
  if (__atomic_exchange_n(&stayed_last, file.extent.low, __ATOMIC_RELAXED) != file.extent.low) add(control().code.libraries_stay);
}

bool leave_library(const void* inside) {
  const LoadedFile file = file_holding(address_of(inside));
  uint64_t stayed = file.extent.low;
  __atomic_compare_exchange_n(&stayed_last, &stayed, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return file.found && for_each_moving_in(file, [](MovedLibrary& library) { set_state(library, code::kLibraryLeft); });
}

}  // namespace stab::api
