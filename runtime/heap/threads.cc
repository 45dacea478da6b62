// A heap outlives its thread: slots of it are in use elsewhere. At thread exit it goes to a list of idle
// heaps, and the next thread that starts takes it over as it is, with what other threads freed meanwhile.
//
// The exit is seen by the destructor of a pthread key. Destructors of other keys and libc's own clean-up may
// run later: a free there is a remote one, and a malloc attaches a heap for as long as it takes, since no destructor
// may follow that would give it back.
//
// fork: the locks are taken in a fixed order before and given back after, so no list is torn. In the child
// the heaps of other threads may be in the middle of a change: nobody ever takes those over. Their objects
// can be used and freed (a remote free touches only atomics); the slots are not used again. The child draws
// from other streams than its parent, the same ones in every run. It touches no heap but its thread's: each costs a
// copied page, and thousands of threads may have been.
//
// A signal handler may fork while the thread it interrupted holds a lock, in the middle of a change. Then no lock is
// taken: the handler may call nothing here, in the child neither, and when it returns there the thread completes its
// change, with nobody beside it. What another thread changed at that moment stays torn in the child; waiting for it
// could be waiting for ever, since that thread may wait for the lock held here.
#include "runtime/heap/threads.h"

#include <limits.h>
#include <pthread.h>

#include <new>

#include "runtime/heap/large_objects.h"
#include "runtime/heap/libc_heap.h"
#include "runtime/layout_rng.h"
#include "runtime/libc_names.h"
#include "runtime/settings.h"

// What pthread_atfork does. That is in libc_nonshared.a, which a program may be linked without (-nodefaultlibs -l:libc.so.6).
extern "C" {
int __register_atfork(void (*before)(), void (*in_parent)(), void (*in_child)(), void* of) noexcept;
[[gnu::weak, gnu::visibility("hidden")]] extern void* __dso_handle;
}

namespace stab::heap {

constinit std::atomic<State> state{State::kUndecided};
size_t small_limit = kMaxSmall;
Behind called_by_name;
constinit Heap no_heap;
__thread uint32_t locks_held __attribute__((tls_model("initial-exec"))) = 0;
__thread bool forks_with_all_locks __attribute__((tls_model("initial-exec"))) = false;
__thread Heap* my_heap __attribute__((tls_model("initial-exec"))) = &no_heap;

namespace {

// heaps: all ever made, newest first; none ever leaves. idle: those whose thread has ended, last one first.
// to_collect: the idle one whose turn it is to be looked after, to_purge: that of all; null: the first.
struct Registry {
  Lock lock;
  Heap* heaps = nullptr;
  Heap* idle = nullptr;
  Heap* to_collect = nullptr;
  Heap* to_purge = nullptr;
  uint64_t made = 0;
  uint64_t forks = 0;  // begun by this process; may change without the lock
  uint64_t process = 0;  // of the first that allocated; a forked child's is made of its parent's and of `forks`
  uint64_t seed = 0;
  bool random = false;
  bool shuffles = false;
  bool has_key = false;
  pthread_key_t key = 0;
};
constinit Registry registry;

// Forks begun in this thread whose hooks take no locks: in a handler, inside another fork or not.
__thread uint32_t lockless_forks __attribute__((tls_model("initial-exec"))) = 0;

__thread bool ending __attribute__((tls_model("initial-exec"))) = false;

// Runs at thread exit with what attach_thread stored.
void detach_thread(void* heap) {
  Heap* mine = static_cast<Heap*>(heap);
  my_heap = &no_heap;
  ending = true;
  mine->retire();
  Locked locked(registry.lock);
  mine->next_idle = registry.idle;
  registry.idle = mine;
}

State decided(State what) {
  state.store(what, std::memory_order_release);  // whoever sees it sees the rest
  return what;
}

// Whether somebody brings a malloc, and then it serves all calls. Both look: a library's is behind ours, and the program's may be
// behind the operators.
bool is_brought() {
  const bool by_library = library_has_malloc();
  called_by_name = behind;
  const bool by_program = program_has_malloc();
  const Degradation programs = is_passed_over() ? Degradation::kDynamicWeak : Degradation::kHeapOfProgram;
  if (settings().heap != abi::HeapMode::kOff && (by_program || by_library))
    degrade(control(), by_program ? programs : Degradation::kHeapOfLibrary);
  return by_program || by_library;
}

State start() {
  Locked locked(registry.lock);
  if (const State now = state; now != State::kUndecided) return now;
  const abi::Settings& wish = settings();
  const bool brought = is_brought();
  const bool any_behind = behind.malloc != nullptr && behind.free != nullptr;
  if ((wish.heap == abi::HeapMode::kOff && any_behind) || brought) {
    small_limit = 0;
    return decided(State::kLibc);
  }
  // A static program without libc's malloc: ours, without randomness, is the nearest to `off` there is.
  registry.random = wish.heap == abi::HeapMode::kPage || wish.heap == abi::HeapMode::kShuffle;
  registry.shuffles = wish.heap == abi::HeapMode::kShuffle;
  registry.seed = mix(wish.seed ^ mix(kRngHeap));
  registry.process = 0;  // its ancestors' forks change no draws
  large_objects.configure(registry.seed, registry.random);
  raise(control().heap.layouts, 1);
  if (!shared.space.open()) degrade(control(), Degradation::kHeapNoMemory);
  registry.has_key = __pthread_key_create(&registry.key, detach_thread) == 0;
  return decided(State::kOurs);
}

}  // namespace

void find_brought() {
  Locked locked(registry.lock);
  if (state != State::kUndecided || !is_brought()) return;
  small_limit = 0;
  decided(State::kLibc);
}

bool leave_to_libc() {
  Locked locked(registry.lock);
  if (state != State::kUndecided) return false;
  is_brought();
  if (behind.malloc == nullptr || behind.free == nullptr) return false;
  small_limit = 0;
  decided(State::kLibc);
  return true;
}

namespace {

void before_fork() {
  if (locks_held != 0) {
    ++lockless_forks;
    return;
  }
  registry.lock.take();
  large_objects.lock().take();
  shared.space.lock().take();
  shared.bookkeeping.lock().take();
  forks_with_all_locks = true;
}

void after_fork_in_parent() {
  __atomic_fetch_add(&registry.forks, 1, __ATOMIC_RELAXED);
  if (lockless_forks != 0) {
    --lockless_forks;
    return;
  }
  forks_with_all_locks = false;
  shared.bookkeeping.lock().give();
  shared.space.lock().give();
  large_objects.lock().give();
  registry.lock.give();
}

void after_fork_in_child() {
  shared.bookkeeping.lock().reset();
  shared.space.lock().reset();
  large_objects.lock().reset();
  registry.lock.reset();
  if (lockless_forks != 0) {
    --lockless_forks;
  } else {
    forks_with_all_locks = false;
    locks_held = 0;
  }
  const uint64_t branch = ++registry.forks;
  registry.seed = mix(registry.seed ^ mix(branch));
  registry.forks = 0;
  registry.process = mix(registry.process ^ mix(branch));
  large_objects.branch(branch);
  if (my_heap != &no_heap) my_heap->take_over(registry.process);  // idle ones follow when a thread gets them
}

// Early, so that of most fork handlers ours is the innermost. Libraries that are loaded before may have theirs inside.
[[gnu::constructor(101)]] void register_fork_handlers() {
  __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, &__dso_handle != nullptr ? __dso_handle : nullptr);
}

// Before the runtime asks for its dose report, which is the last thing an executable does. Without the lock: programs
// call exit in signal handlers, and this one may have interrupted who holds it.
[[gnu::destructor]] void report_all() {
  if (state.load(std::memory_order_acquire) != State::kOurs) return;
  for (Heap* heap = __atomic_load_n(&registry.heaps, __ATOMIC_ACQUIRE); heap != nullptr; heap = heap->next)
    if (heap->serves(registry.process)) heap->report();
}

}  // namespace

State decide() {
  const State now = state.load(std::memory_order_acquire);
  return now == State::kUndecided ? start() : now;
}

namespace {

// Gives the thread a heap: that of a thread that ended, or a new one. Null: no memory.
// pre: state is kOurs, my_heap is no_heap.
Heap* attach_thread() {
  Heap* mine = nullptr;
  {
    Locked locked(registry.lock);
    if (registry.idle != nullptr) {
      mine = registry.idle;
      registry.idle = mine->next_idle;
      if (registry.to_collect == mine) registry.to_collect = mine->next_idle;
      mine->take_over(registry.process);
    } else {
      void* memory = shared.bookkeeping.allocate(sizeof(Heap));
      if (memory == nullptr) return nullptr;
      mine = new (memory) Heap(registry.seed, registry.made++, registry.process, registry.random, registry.shuffles);
      mine->next = registry.heaps;
      __atomic_store_n(&registry.heaps, mine, __ATOMIC_RELEASE);  // report_all walks the list without the lock
    }
  }
  my_heap = mine;
  // Without the key a thread's heap is lost when the thread ends, not more.
  if (registry.has_key && !ending) libc::set_specific(registry.key, mine);
  mine->collect();
  return mine;
}

}  // namespace

void* allocate_in_thread(int size_class) {
  Heap* heap = my_heap != &no_heap ? my_heap : attach_thread();
  if (heap == nullptr) return nullptr;
  void* got = heap->allocate_slow(size_class);
  if (ending) detach_thread(heap);
  return got;
}

namespace {

// pre: the lock is held.
void collect_idle_heaps(int most) {
  Heap* const first = registry.to_collect != nullptr ? registry.to_collect : registry.idle;
  if (first == nullptr) return;
  Heap* heap = first;
  do {
    heap->collect();
    heap = heap->next_idle != nullptr ? heap->next_idle : registry.idle;
  } while (--most > 0 && heap != first);
  registry.to_collect = heap;
}

}  // namespace

bool look_after_heaps(bool all) {
  const Heap* newest = __atomic_load_n(&registry.heaps, __ATOMIC_ACQUIRE);
  if (newest == nullptr || (newest->next == nullptr && newest == my_heap)) return false;
  Locked locked(registry.lock);
  collect_idle_heaps(all ? INT_MAX : kIdleHeapsToCollect);
  bool any = false;
  Heap* heap = registry.to_purge != nullptr && !all ? registry.to_purge : registry.heaps;
  do {
    if (heap != my_heap && heap->purge_returned(all)) any = true;
    heap = heap->next;
  } while (all && heap != nullptr);
  registry.to_purge = heap;
  return any;
}

bool trim() {
  bool any = false;
  if (my_heap != &no_heap) {
    any = my_heap->collect();
    my_heap->retire();
  }
  if (look_after_heaps(true)) any = true;
  if (shared.space.trim()) any = true;
  return large_objects.trim() || any;
}

}  // namespace stab::heap
