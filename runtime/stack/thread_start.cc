// The stacks of other threads. Every pthread_create, that of libstdc++ and of OpenMP included, ends here. The new
// thread runs our routine first, which moves the stack pointer by the random offset, and then the program's.
//
// Offset and pads must not take from a stack whose size the program chose: it is enlarged by what they can cost.
// pthread_getattr_np leaves that out, so that the size is what the program asked for; but of a small stack it tells
// the truth, because frames would soon lie outside what it says. A stack that the program supplied itself can't
// grow, so it gets neither offset nor pads.
#include "runtime/libc_names.h"
#include "runtime/stack/interposed.h"
#include "runtime/stack/stack_start.h"
#include "runtime/sys.h"

namespace stab {
namespace {

struct Start {
  Routine routine;
  void* argument;
  uint64_t index;
  size_t stack_bytes;  // what the program asked for
  size_t added_bytes;  // what we added to that; 0: none could be, so nothing is moved
};

// What pthread_getattr_np leaves out for this thread. Read from outside through the distance to the thread pointer,
// which pthread_t is, and which is the same in every thread.
__attribute__((tls_model("initial-exec"))) thread_local size_t hidden_bytes = 0;
constexpr size_t kSmallStackBytes = 1 << 20;  // some ten times what is added

uint64_t threads_made = 0;  // main is 0

// Starts on their way from the creating to the new thread. Not from malloc: the program's own allocations would
// then fall differently. Slots are free again as soon as the new thread runs; beyond 64 at once, a page each.
constexpr size_t kPoolSlots = 64;
Start pool[kPoolSlots];
uint64_t pool_used = 0;  // bit i: pool[i] is taken

Start* take_slot() {
  uint64_t used = __atomic_load_n(&pool_used, __ATOMIC_RELAXED);
  while (used != ~uint64_t{0}) {
    const int i = __builtin_ctzll(~used);
    if (__atomic_compare_exchange_n(&pool_used, &used, used | uint64_t{1} << i, true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return &pool[i];
  }
  void* page = sys::map(nullptr, sizeof(Start), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  return sys::is_address(page) ? static_cast<Start*>(page) : nullptr;
}

void give_back(Start* start) {
  const size_t i = static_cast<size_t>(start - pool);
  if (i >= kPoolSlots) {
    sys::unmap(start, sizeof(Start));
    return;
  }
  __atomic_fetch_and(&pool_used, ~(uint64_t{1} << i), __ATOMIC_RELEASE);
}

void* run_thread(void* slot) {
  const Start start = *static_cast<Start*>(slot);
  give_back(static_cast<Start*>(slot));
  hidden_bytes = start.stack_bytes < kSmallStackBytes ? 0 : start.added_bytes;
  const StackStart planned =
      start.added_bytes == 0 ? StackStart{} : plan_stack(start.stack_bytes, start.index);
  void* base = __builtin_alloca(planned.offset_bytes);
  __asm__ volatile("" : : "r"(base));
  begin_stack(planned.offset_bytes == 0 ? __builtin_frame_address(0) : base, planned);
  return start.routine(start.argument);
}

// The size that a thread of these attributes would have, 0 if the program supplies the memory.
size_t requested_stack_bytes(const pthread_attr_t& attributes) {
  void* lowest = nullptr;
  size_t bytes = 0;
  if (libc::stack_of(&attributes, &lowest, &bytes) != 0) return 0;
  const bool supplied = reinterpret_cast<size_t>(lowest) + bytes != 0;  // glibc: the end is 0 unless set
  if (supplied || libc::stack_size_of(&attributes, &bytes) != 0) return 0;
  return bytes;
}

}  // namespace

int create_thread(CreateThread real, pthread_t* thread, const pthread_attr_t* wanted, Routine routine, void* argument) {
  if (largest_cost_bytes(0) == 0) return real(thread, wanted, routine, argument);  // stack is off

  pthread_attr_t attributes;
  const bool own = wanted == nullptr;
  if (own && libc::default_attributes(&attributes) != 0) return real(thread, wanted, routine, argument);
  // A plain copy shares what the original points to, which is only read; only its size is changed.
  if (!own) attributes = *wanted;
  const size_t bytes = requested_stack_bytes(attributes);
  const size_t added = largest_cost_bytes(bytes);
  size_t enlarged = 0;  // a program may ask for all the memory there is, to be refused
  const bool can_grow = bytes != 0 && !__builtin_add_overflow(bytes, added, &enlarged);
  Start* slot = !can_grow || libc::set_stack_size(&attributes, enlarged) != 0 ? nullptr : take_slot();
  int error = EAGAIN;
  if (slot != nullptr) {
    *slot = {routine, argument, __atomic_add_fetch(&threads_made, 1, __ATOMIC_RELAXED), bytes, added};
    error = real(thread, &attributes, run_thread, slot);
    if (error != 0) give_back(slot);
  }
  if (own) libc::destroy_attributes(&attributes);
  // The larger stack may be what there is no memory for.
  return error == EAGAIN ? real(thread, wanted, routine, argument) : error;
}

// thrd_join takes the low half of the result as the int.
int create_c11_thread(CreateThread real, thrd_t* thread, thrd_start_t routine, void* argument) {
  const auto untyped = reinterpret_cast<void (*)()>(routine);
  const int error = create_thread(real, thread, nullptr, reinterpret_cast<Routine>(untyped), argument);
  if (error == 0) return thrd_success;
  return error == ENOMEM ? thrd_nomem : thrd_error;
}

// Our addition is at the stack's low end.
int get_attributes(GetAttributes real, pthread_t thread, pthread_attr_t* attributes) {
  const int error = real(thread, attributes);
  if (error != 0) return error;
  const size_t distance = reinterpret_cast<size_t>(&hidden_bytes) - reinterpret_cast<size_t>(__builtin_thread_pointer());
  const size_t hidden = *reinterpret_cast<const size_t*>(static_cast<size_t>(thread) + distance);
  void* lowest = nullptr;
  size_t bytes = 0;
  if (hidden == 0 || libc::stack_of(attributes, &lowest, &bytes) != 0) return 0;
  return libc::set_stack(attributes, static_cast<char*>(lowest) + hidden, bytes - hidden);
}

}  // namespace stab
