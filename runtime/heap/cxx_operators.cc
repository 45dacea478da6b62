// operator new and delete in all their forms.
//
// They come from libstdc++ or libc++ in most programs; ours save a call and know sizes and alignments. They
// are weak, so that a program may replace any one of them, and the forms call each other as the C++ standard
// says ([new.delete]): array forms the single ones, sized and nothrow ones the plain ones.
//
// Failure must throw std::bad_alloc, and this folder knows no C++ library. Its entry points for that are
// referenced weakly: present in every C++ program, absent in C programs, which may have loaded one since.
#include <errno.h>
#include <stdlib.h>

#include <new>

#include "runtime/heap/allocate.h"
#include "runtime/heap/cxx_library.h"
#include "runtime/heap/cxx_nothrow.h"
#include "runtime/heap/fault.h"

namespace std {
[[gnu::weak]] new_handler get_new_handler() noexcept;
void __throw_bad_alloc() __attribute__((weak, noreturn));
}  // namespace std

namespace {

constexpr size_t kPlain = 0;  // no alignment asked for

void* try_once(size_t bytes, size_t alignment) {
  return alignment == kPlain ? stab::heap::allocate(bytes) : stab::heap::allocate_aligned(alignment, bytes);
}

// Ours, by names that nobody replaces. Only their addresses are used.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-attributes"
extern "C" {
[[gnu::alias("_Znwm")]] void* stab_own_new(size_t) __attribute__((visibility("hidden")));
[[gnu::alias("_Znam")]] void* stab_own_new_array(size_t) __attribute__((visibility("hidden")));
[[gnu::alias("_ZnwmSt11align_val_t")]] void* stab_own_aligned_new(size_t, std::align_val_t) __attribute__((visibility("hidden")));
[[gnu::alias("_ZnamSt11align_val_t")]] void* stab_own_aligned_new_array(size_t, std::align_val_t)
    __attribute__((visibility("hidden")));
}
#pragma GCC diagnostic pop

template <typename Function>
Function* linked_or_loaded(Function* linked, const char* mangled) {
  return linked != nullptr ? linked : reinterpret_cast<Function*>(stab::heap::find_cxx_function(mangled, nullptr));
}

// Calls the new-handler until there is memory or no handler; then null.
[[gnu::noinline, gnu::cold]] void* try_again(size_t bytes, size_t alignment) {
  auto* const get_handler = linked_or_loaded(std::get_new_handler, "_ZSt15get_new_handlerv");
  for (;;) {
    const std::new_handler handler = get_handler != nullptr ? get_handler() : nullptr;
    if (handler == nullptr) return nullptr;
    handler();
    if (void* got = try_once(bytes, alignment)) return got;
  }
}

[[gnu::noinline, gnu::cold]] void* allocate_or_throw(size_t bytes, size_t alignment) {
  if (stab::heap::decide() == stab::heap::State::kLibc) {
    void* const next = stab::heap::library_operator(alignment == kPlain ? "_Znwm" : "_ZnwmSt11align_val_t");
    // The plain one doesn't look at a second argument.
    if (next != nullptr) return reinterpret_cast<void* (*)(size_t, size_t)>(next)(bytes, alignment);
  }
  if (void* got = try_again(bytes, alignment)) return got;
  if (auto* const throws = linked_or_loaded(std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv")) throws();
  // A library that holds its C++ library has only what it uses of it; but an operator new that we stand in front of
  // throws as well.
  void* const behind = stab::heap::find_cxx_function("_Znwm", reinterpret_cast<void*>(stab_own_new));
  if (behind != nullptr) reinterpret_cast<void* (*)(size_t)>(behind)(PTRDIFF_MAX);
  stab::heap::fault("operator new", nullptr, "could not be replaced by memory, and there is no C++ library to throw");
}

void* make(size_t bytes, size_t alignment = kPlain) {
  void* got = try_once(bytes, alignment);
  return __builtin_expect(got != nullptr, 1) ? got : allocate_or_throw(bytes, alignment);
}

void* make_or_null(size_t bytes, size_t alignment = kPlain) {
  void* got = try_once(bytes, alignment);
  return __builtin_expect(got != nullptr, 1) ? got : stab::heap::null_if_thrown(try_again, bytes, alignment);
}

size_t value(std::align_val_t alignment) { return static_cast<size_t>(alignment); }

using New = void*(size_t);
using AlignedNew = void*(size_t, std::align_val_t);

// Whether the program has an operator of its own in the place of ours. The compiler must not know that they are one.
template <typename Function>
bool is_replaced(Function* seen, Function* own) {
  __asm__("" : "+r"(seen));
  return __builtin_expect(seen != own, 0);
}

void* call_new(size_t bytes, size_t) { return operator new(bytes); }
void* call_new_array(size_t bytes, size_t) { return operator new[](bytes); }
void* call_aligned_new(size_t bytes, size_t alignment) { return operator new(bytes, std::align_val_t{alignment}); }
void* call_aligned_new_array(size_t bytes, size_t alignment) { return operator new[](bytes, std::align_val_t{alignment}); }

}  // namespace

#define STAB_OPERATOR [[gnu::weak, gnu::visibility("default")]]

STAB_OPERATOR void* operator new(size_t bytes) { return make(bytes); }
STAB_OPERATOR void* operator new[](size_t bytes) { return operator new(bytes); }
STAB_OPERATOR void* operator new(size_t bytes, std::align_val_t alignment) { return make(bytes, value(alignment)); }
STAB_OPERATOR void* operator new[](size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
STAB_OPERATOR void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  if (is_replaced<New>(operator new, stab_own_new)) return stab::heap::null_if_thrown(call_new, bytes, kPlain);
  return make_or_null(bytes);
}
STAB_OPERATOR void* operator new[](size_t bytes, const std::nothrow_t& tag) noexcept {
  if (is_replaced<New>(operator new[], stab_own_new_array)) return stab::heap::null_if_thrown(call_new_array, bytes, kPlain);
  return operator new(bytes, tag);
}
STAB_OPERATOR void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (is_replaced<AlignedNew>(operator new, stab_own_aligned_new))
    return stab::heap::null_if_thrown(call_aligned_new, bytes, value(alignment));
  return make_or_null(bytes, value(alignment));
}
STAB_OPERATOR void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  if (is_replaced<AlignedNew>(operator new[], stab_own_aligned_new_array))
    return stab::heap::null_if_thrown(call_aligned_new_array, bytes, value(alignment));
  return operator new(bytes, alignment, tag);
}

STAB_OPERATOR void operator delete(void* freed) noexcept { stab::heap::release(freed); }
STAB_OPERATOR void operator delete[](void* freed) noexcept { operator delete(freed); }
STAB_OPERATOR void operator delete(void* freed, size_t) noexcept { operator delete(freed); }
STAB_OPERATOR void operator delete[](void* freed, size_t) noexcept { operator delete[](freed); }
STAB_OPERATOR void operator delete(void* freed, std::align_val_t) noexcept { stab::heap::release(freed); }
STAB_OPERATOR void operator delete[](void* freed, std::align_val_t alignment) noexcept {
  operator delete(freed, alignment);
}
STAB_OPERATOR void operator delete(void* freed, size_t, std::align_val_t alignment) noexcept {
  operator delete(freed, alignment);
}
STAB_OPERATOR void operator delete[](void* freed, size_t, std::align_val_t alignment) noexcept {
  operator delete[](freed, alignment);
}
STAB_OPERATOR void operator delete(void* freed, const std::nothrow_t&) noexcept { operator delete(freed); }
STAB_OPERATOR void operator delete[](void* freed, const std::nothrow_t&) noexcept { operator delete[](freed); }
STAB_OPERATOR void operator delete(void* freed, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  operator delete(freed, alignment);
}
STAB_OPERATOR void operator delete[](void* freed, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  operator delete[](freed, alignment);
}
