// operator new and delete in all their forms.
//
// They come from libstdc++ or libc++ in most programs; ours save a call and know sizes and alignments. They
// are weak, so that a program may replace any one of them, and the forms call each other as the C++ standard
// says ([new.delete]): array forms the single ones, sized and nothrow ones the plain ones.
//
// Failure must throw std::bad_alloc, and this folder knows no C++ library. Its entry points for that are
// referenced weakly: present in every C++ program, absent in C programs, which may have loaded one since.
//
// A shared library may replace them, too, for all of the program, and ours stand before its: they hand on to those, each form by
// itself, as a plain program finds each of them by itself.
#include <errno.h>
#include <stdlib.h>

#include <new>

#include "runtime/heap/allocate.h"
#include "runtime/heap/cxx_library.h"
#include "runtime/heap/cxx_nothrow.h"
#include "runtime/heap/fault.h"
#include "runtime/heap/libc_heap.h"

namespace std {
[[gnu::weak]] new_handler get_new_handler() noexcept;
void __throw_bad_alloc() __attribute__((weak, noreturn));
}  // namespace std

namespace {

constexpr size_t kPlain = 0;  // no alignment asked for

// All forms, in the order of kNames.
enum Form {
  kNew, kNewArray, kAlignedNew, kAlignedNewArray,
  kNewNothrow, kNewArrayNothrow, kAlignedNewNothrow, kAlignedNewArrayNothrow,
  kDelete, kDeleteArray, kSizedDelete, kSizedDeleteArray,
  kAlignedDelete, kAlignedDeleteArray, kSizedAlignedDelete, kSizedAlignedDeleteArray,
  kDeleteNothrow, kDeleteArrayNothrow, kAlignedDeleteNothrow, kAlignedDeleteArrayNothrow,
  kForms
};
constexpr const char* kNames[kForms] = {
    "_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t",
    "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm",
    "_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t", "_ZdaPvmSt11align_val_t",
    "_ZdlPvRKSt9nothrow_t", "_ZdaPvRKSt9nothrow_t", "_ZdlPvSt11align_val_tRKSt9nothrow_t", "_ZdaPvSt11align_val_tRKSt9nothrow_t"};

// What libraries replace, looked up by the runtime's start, or by a constructor's call before that. Libraries that are opened
// later come behind the C++ library.
enum Replaced : int { kUnknown, kNone, kSome };
Replaced replaced = kUnknown;
void* in_libraries[kForms];  // null: not replaced; written before `replaced`

}  // namespace

void stab::heap::find_library_operators() {
  Replaced found = kNone;
  for (int i = 0; i < kForms; ++i) {
    void* const other = library_operator(kNames[i]);
    __atomic_store_n(&in_libraries[i], other, __ATOMIC_RELAXED);
    if (other != nullptr) found = kSome;
  }
  __atomic_store_n(&replaced, found, __ATOMIC_RELEASE);
}

namespace {

[[gnu::noinline, gnu::cold]] void* find_in_libraries(Form form) {
  if (__atomic_load_n(&replaced, __ATOMIC_ACQUIRE) == kUnknown) stab::heap::find_library_operators();
  return __atomic_load_n(&in_libraries[form], __ATOMIC_RELAXED);
}

// A library's operator of that form, which is to be called instead; null: no library replaces it.
template <typename Function>
Function* in_library(Form form) {
  if (__builtin_expect(__atomic_load_n(&replaced, __ATOMIC_RELAXED) == kNone, 1)) return nullptr;
  return reinterpret_cast<Function*>(find_in_libraries(form));
}

void* try_once(size_t bytes, size_t alignment) {
  using namespace stab::heap;
  return alignment == kPlain ? allocate(bytes, called_by_name) : allocate_aligned(alignment, bytes, called_by_name);
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
using NewNothrow = void*(size_t, const std::nothrow_t&) noexcept;
using AlignedNewNothrow = void*(size_t, std::align_val_t, const std::nothrow_t&) noexcept;
using Delete = void(void*) noexcept;
using SizedDelete = void(void*, size_t) noexcept;
using AlignedDelete = void(void*, std::align_val_t) noexcept;
using SizedAlignedDelete = void(void*, size_t, std::align_val_t) noexcept;
using DeleteNothrow = void(void*, const std::nothrow_t&) noexcept;
using AlignedDeleteNothrow = void(void*, std::align_val_t, const std::nothrow_t&) noexcept;

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

STAB_OPERATOR void* operator new(size_t bytes) {
  if (auto* const other = in_library<New>(kNew)) return other(bytes);
  return make(bytes);
}
STAB_OPERATOR void* operator new[](size_t bytes) {
  if (auto* const other = in_library<New>(kNewArray)) return other(bytes);
  return operator new(bytes);
}
STAB_OPERATOR void* operator new(size_t bytes, std::align_val_t alignment) {
  if (auto* const other = in_library<AlignedNew>(kAlignedNew)) return other(bytes, alignment);
  return make(bytes, value(alignment));
}
STAB_OPERATOR void* operator new[](size_t bytes, std::align_val_t alignment) {
  if (auto* const other = in_library<AlignedNew>(kAlignedNewArray)) return other(bytes, alignment);
  return operator new(bytes, alignment);
}
STAB_OPERATOR void* operator new(size_t bytes, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<NewNothrow>(kNewNothrow)) return other(bytes, tag);
  if (is_replaced<New>(operator new, stab_own_new) || in_library<New>(kNew) != nullptr)
    return stab::heap::null_if_thrown(call_new, bytes, kPlain);
  return make_or_null(bytes);
}
STAB_OPERATOR void* operator new[](size_t bytes, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<NewNothrow>(kNewArrayNothrow)) return other(bytes, tag);
  if (is_replaced<New>(operator new[], stab_own_new_array) || in_library<New>(kNewArray) != nullptr)
    return stab::heap::null_if_thrown(call_new_array, bytes, kPlain);
  return operator new(bytes, tag);
}
STAB_OPERATOR void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<AlignedNewNothrow>(kAlignedNewNothrow)) return other(bytes, alignment, tag);
  if (is_replaced<AlignedNew>(operator new, stab_own_aligned_new) || in_library<AlignedNew>(kAlignedNew) != nullptr)
    return stab::heap::null_if_thrown(call_aligned_new, bytes, value(alignment));
  return make_or_null(bytes, value(alignment));
}
STAB_OPERATOR void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<AlignedNewNothrow>(kAlignedNewArrayNothrow)) return other(bytes, alignment, tag);
  if (is_replaced<AlignedNew>(operator new[], stab_own_aligned_new_array) || in_library<AlignedNew>(kAlignedNewArray) != nullptr)
    return stab::heap::null_if_thrown(call_aligned_new_array, bytes, value(alignment));
  return operator new(bytes, alignment, tag);
}

STAB_OPERATOR void operator delete(void* freed) noexcept {
  if (auto* const other = in_library<Delete>(kDelete)) return other(freed);
  stab::heap::release(freed, stab::heap::called_by_name);
}
STAB_OPERATOR void operator delete[](void* freed) noexcept {
  if (auto* const other = in_library<Delete>(kDeleteArray)) return other(freed);
  operator delete(freed);
}
STAB_OPERATOR void operator delete(void* freed, size_t bytes) noexcept {
  if (auto* const other = in_library<SizedDelete>(kSizedDelete)) return other(freed, bytes);
  operator delete(freed);
}
STAB_OPERATOR void operator delete[](void* freed, size_t bytes) noexcept {
  if (auto* const other = in_library<SizedDelete>(kSizedDeleteArray)) return other(freed, bytes);
  operator delete[](freed);
}
STAB_OPERATOR void operator delete(void* freed, std::align_val_t alignment) noexcept {
  if (auto* const other = in_library<AlignedDelete>(kAlignedDelete)) return other(freed, alignment);
  stab::heap::release(freed, stab::heap::called_by_name);
}
STAB_OPERATOR void operator delete[](void* freed, std::align_val_t alignment) noexcept {
  if (auto* const other = in_library<AlignedDelete>(kAlignedDeleteArray)) return other(freed, alignment);
  operator delete(freed, alignment);
}
STAB_OPERATOR void operator delete(void* freed, size_t bytes, std::align_val_t alignment) noexcept {
  if (auto* const other = in_library<SizedAlignedDelete>(kSizedAlignedDelete)) return other(freed, bytes, alignment);
  operator delete(freed, alignment);
}
STAB_OPERATOR void operator delete[](void* freed, size_t bytes, std::align_val_t alignment) noexcept {
  if (auto* const other = in_library<SizedAlignedDelete>(kSizedAlignedDeleteArray)) return other(freed, bytes, alignment);
  operator delete[](freed, alignment);
}
STAB_OPERATOR void operator delete(void* freed, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<DeleteNothrow>(kDeleteNothrow)) return other(freed, tag);
  operator delete(freed);
}
STAB_OPERATOR void operator delete[](void* freed, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<DeleteNothrow>(kDeleteArrayNothrow)) return other(freed, tag);
  operator delete[](freed);
}
STAB_OPERATOR void operator delete(void* freed, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<AlignedDeleteNothrow>(kAlignedDeleteNothrow)) return other(freed, alignment, tag);
  operator delete(freed, alignment);
}
STAB_OPERATOR void operator delete[](void* freed, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  if (auto* const other = in_library<AlignedDeleteNothrow>(kAlignedDeleteArrayNothrow)) return other(freed, alignment, tag);
  operator delete[](freed, alignment);
}
