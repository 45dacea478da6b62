// A sample outside the scope, in libc say, counts for the nearest caller inside, where the script asks for it.
//
// The unwinder is libgcc's, which the program may not have: it is loaded before main, and only then. It takes no lock where
// libc has _dl_find_object (2.35), so it may be called in a trap, and goes through signal frames and, in a program of szc's,
// through moved code.
#include <dlfcn.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/regions.h"

namespace stab::causal {
namespace {

// Of the unwinder's interface (Itanium C++ ABI, level 1).
struct Context;
using Look = int (*)(Context*, void*);
int (*backtrace)(Look, void*) = nullptr;
uint64_t (*get_ip)(Context*, int*) = nullptr;

constexpr int kGoOn = 0, kEnough = 4;
constexpr int kDeepest = 128;

struct Search {
  Area* area;
  uint64_t interrupted;  // frames above it are ours and the signal's
  bool found_start;
  int depth;
  Place place;
};

int look_at(Context* context, void* given) {
  auto& search = *static_cast<Search*>(given);
  if (++search.depth > kDeepest) return kEnough;
  int before = 0;
  const uint64_t ip = get_ip(context, &before);
  if (!search.found_start) {
    search.found_start = ip == search.interrupted;
    return kGoOn;
  }
  // A return address may be the next line's, or the next function's.
  const Place place = find_place(*search.area, original_of(before != 0 ? ip : ip - 1));
  if (!place.in_scope) return kGoOn;
  search.place = place;
  return kEnough;
}

}  // namespace

void load_unwinder() {
  void* const library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return degrade(*program.area, Degraded::kNoUnwinder);
  get_ip = reinterpret_cast<uint64_t (*)(Context*, int*)>(dlsym(library, "_Unwind_GetIPInfo"));
  backtrace = reinterpret_cast<int (*)(Look, void*)>(dlsym(library, "_Unwind_Backtrace"));
  if (get_ip == nullptr || backtrace == nullptr) {
    backtrace = nullptr;
    degrade(*program.area, Degraded::kNoUnwinder);
  }
}

bool find_caller(uint64_t interrupted, Place& place) {
  if (backtrace == nullptr) return false;
  Search search{program.area, interrupted, false, 0, {}};
  backtrace(look_at, &search);
  if (search.place.in_scope) place = search.place;
  return search.place.in_scope;
}

}  // namespace stab::causal
