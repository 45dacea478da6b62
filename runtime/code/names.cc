// Names of moved code, in a dynamic executable. dladdr and backtrace see addresses in images, which belong to no
// object; ours hand them on as the original addresses, so that every symbolizer finds its function, and backtrace_symbols takes
// addresses that the program has found on its stack. A return address that the program takes itself (__builtin_return_address)
// stays what it is; what tools ask for is an original's (own_addresses.cc).
//
// dlsym(RTLD_NEXT) and dlvsym ask who their caller is, and one in an image is nobody: calls of the executable, and only
// those (they are not exported), go through a function that stays.
//
// All are weak: a program that has a function of such a name, `backtrace` for instance, keeps it.
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "runtime/arch/arch.h"
#include "runtime/code/moved_library.h"
#include "runtime/libc_names.h"
#include "runtime/sys.h"

namespace stab {
namespace {

void* original_of(const void* pointer) {
  return reinterpret_cast<void*>(code::original_of(reinterpret_cast<uint64_t>(pointer)));
}

// libc's by its version, as ours are in front of it here.
extern "C" void* stab_libc_dlvsym(void* handle, const char* name, const char* version);
__asm__(".symver stab_libc_dlvsym, dlvsym@" STAB_FIRST_LIBC_VERSION);

template <typename Function>
Function real_function(Function& cached, const char* name) {
  Function found = __atomic_load_n(&cached, __ATOMIC_ACQUIRE);
  if (found != nullptr) return found;
  found = reinterpret_cast<Function>(libc::find_symbol(RTLD_NEXT, name));
  __atomic_store_n(&cached, found, __ATOMIC_RELEASE);
  return found;
}

using Dladdr = int (*)(const void*, Dl_info*);
using Dladdr1 = int (*)(const void*, Dl_info*, void**, int);
using Backtrace = int (*)(void**, int);
using BacktraceSymbols = char** (*)(void* const*, int);
using BacktraceSymbolsFd = void (*)(void* const*, int, int);
Dladdr real_dladdr;
Dladdr1 real_dladdr1;
Backtrace real_backtrace;
BacktraceSymbols real_backtrace_symbols;
BacktraceSymbolsFd real_backtrace_symbols_fd;

// A copy of an array of addresses; the array itself where there is no memory.
class Originals {
 public:
  Originals(void* const* addresses, int count) : addresses_(addresses) {
    if (count <= 0) return;
    bytes_ = static_cast<size_t>(count) * sizeof(void*);
    void* const memory = sys::map(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (!sys::is_address(memory)) return;
    copy_ = static_cast<void**>(memory);
    for (int i = 0; i < count; ++i) copy_[i] = original_of(addresses[i]);
  }
  Originals(const Originals&) = delete;
  ~Originals() {
    if (copy_ != nullptr) sys::unmap(copy_, bytes_);
  }
  void* const* begin() const { return copy_ != nullptr ? copy_ : addresses_; }

 private:
  void* const* addresses_;
  size_t bytes_ = 0;
  void** copy_ = nullptr;
};

}  // namespace
}  // namespace stab

#define STAB_OF_PROGRAM __attribute__((weak, visibility("hidden")))
#define STAB_OF_ALL __attribute__((weak, visibility("default")))

extern "C" {

// No tail calls: the caller that libc sees is these functions.
STAB_OF_PROGRAM void* dlsym(void* __restrict handle, const char* __restrict name) noexcept {
  void* const found = stab::libc::find_symbol(handle, name);
  __asm__ volatile("" : : "r"(found));
  return found;
}

STAB_OF_PROGRAM void* dlvsym(void* __restrict handle, const char* __restrict name, const char* __restrict version) noexcept {
  void* const found = stab::stab_libc_dlvsym(handle, name, version);
  __asm__ volatile("" : : "r"(found));
  return found;
}

STAB_OF_ALL int dladdr(const void* address, Dl_info* info) noexcept {
  const stab::Dladdr real = stab::real_function(stab::real_dladdr, "dladdr");
  return real == nullptr ? 0 : real(stab::original_of(address), info);
}

STAB_OF_ALL int dladdr1(const void* address, Dl_info* info, void** extra, int flags) noexcept {
  const stab::Dladdr1 real = stab::real_function(stab::real_dladdr1, "dladdr1");
  return real == nullptr ? 0 : real(stab::original_of(address), info, extra, flags);
}

// The real one's first entry is its caller, this function: it is left out. A long buffer is used itself, so the last of
// very many entries is missing. A short one's copy is no longer than it must be: handlers of crashes run on small stacks.
__attribute__((noinline)) STAB_OF_ALL int backtrace(void** buffer, int size) {
  constexpr int kMost = 1024;
  const stab::Backtrace real = stab::real_function(stab::real_backtrace, "backtrace");
  if (real == nullptr || size <= 0) return 0;
  const bool fits = size < kMost;
  void** const frames =
      fits ? static_cast<void**>(__builtin_alloca((static_cast<size_t>(size) + 1) * sizeof(void*))) : buffer;
  const int found = real(frames, fits ? size + 1 : size);
  for (int i = 1; i < found; ++i) buffer[i - 1] = stab::original_of(frames[i]);
  return found > 0 ? found - 1 : 0;
}

STAB_OF_ALL char** backtrace_symbols(void* const* addresses, int count) noexcept {
  const stab::BacktraceSymbols real = stab::real_function(stab::real_backtrace_symbols, "backtrace_symbols");
  if (real == nullptr) return nullptr;
  const stab::Originals originals(addresses, count);
  return real(originals.begin(), count);
}

STAB_OF_ALL void backtrace_symbols_fd(void* const* addresses, int count, int fd) noexcept {
  const stab::BacktraceSymbolsFd real = stab::real_function(stab::real_backtrace_symbols_fd, "backtrace_symbols_fd");
  if (real == nullptr) return;
  // One at a time, as a handler of crashes may call this on a small stack.
  for (int i = 0; i < count; ++i) {
    void* const original = stab::original_of(addresses[i]);
    real(&original, 1, fd);
  }
}

}  // extern "C"
