// What a library brings is read in its dynamic symbols. Three kinds exist: libraries that are unwinders (both libunwinds), and
// export them; libraries that hold libgcc's, hidden, which asks the loader (_dl_find_object, served by unwind_dynamic.cc) or in
// versions before 12 goes through all files by itself (dl_iterate_phdr); and LLVM's, hidden, which does the latter, too. A hidden
// one shows in that the library handles exceptions, which its frame descriptions tell, and takes no unwinder from elsewhere.
#include "runtime/code/library_unwinders.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "runtime/arch/arch.h"
#include "runtime/code/dynamic_symbols.h"
#include "runtime/code/frame_header.h"
#include "runtime/code/home.h"
#include "runtime/code/unwind.h"
#include "runtime/control.h"
#include "runtime/libc_names.h"

namespace stab::code {
namespace {

// Both libunwinds' own interface. LLVM's has a function of the name that libgcc asks ours by, too, and doesn't call it.
constexpr const char* kOfLibunwind[] = {STAB_LIBUNWIND_STEP_NAME, STAB_LIBUNWIND_BEGIN_NAME, "unw_step", "__unw_step"};
// What all unwinders have.
constexpr const char* kOfUnwinders[] = {"_Unwind_RaiseException", "_Unwind_Backtrace"};

// Whether functions of a file handle exceptions: a common part of its frame descriptions names a routine for that (P).
bool handles_exceptions(const uint8_t* frame_header) {
  if (frame_header == nullptr) return false;
  FrameHeader header;
  memcpy(&header, frame_header, sizeof header);
  if (header.frames_encoding != kRelative4) return true;  // by a linker that we don't know
  for (const uint8_t* at = frame_header + offsetof(FrameHeader, frames) + header.frames;;) {
    uint32_t bytes, common;
    memcpy(&bytes, at, sizeof bytes);
    if (bytes == 0) return false;
    if (bytes == 0xffffffff) return true;  // of 4 GiB: never seen
    memcpy(&common, at + 4, sizeof common);
    if (common == 0 && strchr(reinterpret_cast<const char*>(at + 9), 'P') != nullptr) return true;
    at += 4 + bytes;
  }
}

// `apart`: it doesn't find our names before those of libgcc and the loader. `asks_ours`: it finds our _dl_find_object all the
// same.
bool brings_unwinder(const DynamicSymbols& symbols, const uint8_t* frame_header, bool apart, bool asks_ours) {
  const auto defines_one_of = [&](const auto& names) {
    for (const char* name : names)
      if (symbols.defines(name)) return true;
    return false;
  };
  if (defines_one_of(kOfLibunwind)) return true;
  if (!apart && symbols.defines("_Unwind_Find_FDE")) return false;
  if (defines_one_of(kOfUnwinders)) return true;
  const bool looks_itself = symbols.takes("dl_iterate_phdr") || (!asks_ours && symbols.takes("_dl_find_object"));
  return looks_itself && !symbols.takes_any("_Unwind_") && handles_exceptions(frame_header);
}

// Whether a library switches stacks: functions of ours may rest on them then. Post-link has seen it in libraries of szc's.
// libcrypto takes these names and rarely switches.
bool switches_stacks(const DynamicSymbols& symbols) {
  if (defines_switch(symbols)) return true;
  return (symbols.takes("makecontext") || symbols.takes("swapcontext")) && !symbols.defines("ASYNC_start_job");
}

// Whether who looks in libc's table for _dl_find_object finds ours.
bool is_libc_led;

struct Search {
  size_t skipped = 1;             // the first is the executable
  size_t apart_from = ~size_t{0}; // files that came by RTLD_DEEPBIND are last
  size_t seen = 0;
  bool found = false;
};

int count_file(dl_phdr_info*, size_t, void* count) {
  ++*static_cast<size_t*>(count);
  return 0;
}

int look_at_file(dl_phdr_info* file, size_t, void* context) {
  Search& search = *static_cast<Search*>(context);
  const size_t number = search.seen++;
  if (number < search.skipped) return 0;
  const uint8_t* frame_header = nullptr;
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const uint64_t address = file->dlpi_addr + file->dlpi_phdr[i].p_vaddr;
    if (file->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) frame_header = reinterpret_cast<const uint8_t*>(address);
  }
  const DynamicSymbols symbols(*file);
  if (switches_stacks(symbols)) __atomic_store_n(&control().orders.stacks_switch, 1u, __ATOMIC_SEQ_CST);
  const bool apart = number >= search.apart_from;
  search.found = brings_unwinder(symbols, frame_header, apart, !apart || __atomic_load_n(&is_libc_led, __ATOMIC_RELAXED));
  return search.found;
}

int read_loads(dl_phdr_info* file, size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = file->dlpi_adds;
  return 1;
}

// How many files had ever been loaded when libraries were looked at last, and before the last load with RTLD_DEEPBIND.
unsigned long long looked_at_loads, loads_before;

unsigned long long loads_so_far() {
  unsigned long long loads = 0;
  libc::iterate_files(read_loads, &loads);
  return loads;
}

bool may_move() { return has_images() && !is_at_home(); }

}  // namespace

bool defines_switch(const DynamicSymbols& symbols) {
  constexpr const char* kByName[] = {"jump_fcontext",  "PyInit__greenlet", "boot_Coro__State", "rb_fiber_resume",
                                     "_cgo_topofstack", "fiber_switchContext"};
  for (const char* name : kByName)
    if (symbols.defines(name)) return true;
  return false;
}

bool libraries_bring_unwinder() {
  looked_at_loads = loads_so_far();
  Search search;
  libc::iterate_files(look_at_file, &search);
  return search.found;
}

void before_load(Load* load, int mode) {
  if ((mode & RTLD_DEEPBIND) == 0 || is_at_home()) return;
  __atomic_store_n(&is_libc_led, lead_libc_to_ours(), __ATOMIC_RELAXED);
  load("libgcc_s.so.1", RTLD_LAZY);
  after_load(0);
  __atomic_store_n(&loads_before, loads_so_far(), __ATOMIC_RELAXED);  // that one is not apart
}

void after_load(int mode) {
  if (!may_move()) return;
  const unsigned long long loads = loads_so_far();
  const unsigned long long came = loads - __atomic_exchange_n(&looked_at_loads, loads, __ATOMIC_RELAXED);
  if (came == 0) return;
  // What came last is last in the list.
  size_t files = 0;
  libc::iterate_files(count_file, &files);
  Search search;
  const unsigned long long came_apart = loads - __atomic_load_n(&loads_before, __ATOMIC_RELAXED);
  if ((mode & RTLD_DEEPBIND) != 0) search.apart_from = came_apart < files ? files - came_apart : 0;
  if (came < files) search.skipped = files - came;
  libc::iterate_files(look_at_file, &search);
  if (search.found) go_home(Degradation::kUnwinderCame);
}

void after_load_apart(void* handle) {
  if (!may_move()) return;
  const auto* file = static_cast<const link_map*>(handle);
  while (file->l_prev != nullptr) file = file->l_prev;
  for (; file != nullptr; file = file->l_next) {
    dl_find_object object;
    const bool found = _dl_find_object(file->l_ld, &object) == 0;
    const auto* frame_header = static_cast<const uint8_t*>(found ? object.dlfo_eh_frame : nullptr);
    if (brings_unwinder(DynamicSymbols(file->l_ld, file->l_addr), frame_header, true, false))
      return go_home(Degradation::kUnwinderCame);
  }
}

}  // namespace stab::code
