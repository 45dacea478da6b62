// Before main: settings, and the program's half of the handshake with its helper.
//
// .preinit_array runs before every constructor, when the main thread is alone: nobody else can be in the text
// while its pages are replaced by shared ones with the same bytes. Whatever is missing or denied here leaves the
// program as it is; the dose report says what happened.
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "runtime/code/fork.h"
#include "runtime/control.h"
#include "runtime/helper/detach.h"
#include "runtime/helper/report.h"
#include "runtime/helper/session.h"
#include "runtime/helper/socket.h"
#include "runtime/settings.h"
#include "runtime/sys.h"

extern "C" {
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));
extern uint32_t __start_stab_pads[] __attribute__((weak, visibility("hidden")));
extern uint32_t __stop_stab_pads[] __attribute__((weak, visibility("hidden")));
void __unw_add_dynamic_fde(uintptr_t) __attribute__((weak));
}

namespace stab {
namespace {

using helper::Greeting;
using helper::Handed;
using helper::Hello;
using helper::Mapped;
using helper::Plan;
using helper::Ready;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kReach = 0x7fff0000;  // of a 32-bit displacement, less a little

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

// What the program headers say of this executable in memory.
struct Extent {
  uint64_t bias = 0;
  uint64_t low = ~uint64_t{0};  // of all segments
  uint64_t high = 0;
  bool text_relocations = false;
};

bool find_extent(Extent& out) {
  if (&__ehdr_start == nullptr) return false;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(address_of(&__ehdr_start) + __ehdr_start.e_phoff);
  const Elf64_Dyn* dynamic = nullptr;
  bool based = false;
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_offset == 0) {
      out.bias = address_of(&__ehdr_start) - segment.p_vaddr;
      based = true;
    }
    if (segment.p_vaddr < out.low) out.low = segment.p_vaddr;
    if (segment.p_vaddr + segment.p_memsz > out.high) out.high = segment.p_vaddr + segment.p_memsz;
  }
  for (int i = 0; i < __ehdr_start.e_phnum; ++i)
    if (segments[i].p_type == PT_DYNAMIC)
      dynamic = static_cast<const Elf64_Dyn*>(pointer_to(out.bias + segments[i].p_vaddr));
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic)
    if (dynamic->d_tag == DT_TEXTREL || (dynamic->d_tag == DT_FLAGS && (dynamic->d_un.d_val & DF_TEXTREL) != 0))
      out.text_relocations = true;
  out.low += out.bias;
  out.high += out.bias;
  return based;
}

// glibc gives the kernel the same trampoline with each action, the default one included: set SIGURG to what it
// is and read the kernel's copy.
uint64_t signal_trampoline() {
  struct {
    void (*handler)(int);
    unsigned long flags;
    uint64_t restorer;
    unsigned long mask;
  } before{}, after{};
  if (sys::call(SYS_rt_sigaction, SIGURG, 0, sys::word(&before), 8) != 0) return 0;
  if (before.handler != SIG_DFL && before.handler != SIG_IGN) return before.restorer;
  struct sigaction same;
  memset(&same, 0, sizeof same);
  same.sa_handler = before.handler;
  const int saved_errno = errno;
  if (sigaction(SIGURG, &same, nullptr) == 0) sys::call(SYS_rt_sigaction, SIGURG, 0, sys::word(&after), 8);
  errno = saved_errno;
  sys::call(SYS_rt_sigaction, SIGURG, sys::word(&before), 0, 8);
  return after.restorer;
}

// A descriptor that was ours in another program of this process may be anything by now: an exec of another
// instrumented program inherits the settings, not the descriptor.
bool is_helper_socket(int fd) {
  int type = 0, domain = 0;
  unsigned length = sizeof type;
  if (sys::call(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, sys::word(&type), sys::word(&length)) != 0) return false;
  length = sizeof domain;
  if (sys::call(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, sys::word(&domain), sys::word(&length)) != 0) return false;
  if (type != SOCK_SEQPACKET || domain != AF_UNIX) return false;
  Greeting greeting;
  greeting.magic = 0;
  return helper::peek_message(fd, &greeting, sizeof greeting, helper::kGreetingPatienceMs) &&
         greeting.magic == helper::kProtocolMagic;
}

// Only a memfd of this name is taken for a report's descriptor, for the same reason.
bool is_report_memfd(int fd) {
  char path[32] = "/proc/self/fd/";
  char digits[12];
  int count = 0;
  for (int rest = fd; count == 0 || rest != 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  size_t end = strlen(path);
  while (count > 0) path[end++] = digits[--count];
  path[end] = 0;
  char target[64];
  const long got = sys::call(SYS_readlink, sys::word(path), sys::word(target), sizeof target - 1);
  constexpr char kName[] = "/memfd:stab-report";
  return got >= static_cast<long>(sizeof kName - 1) && memcmp(target, kName, sizeof kName - 1) == 0;
}

int open_report() {
  if (report_path() != nullptr) {
    const int fd = sys::open(report_path(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0666);
    if (fd < 0) degrade(control(), Degradation::kReportFailed);
    return fd;
  }
  const int fd = settings().report;
  return fd >= 0 && is_report_memfd(fd) ? fd : -1;
}

int images_memfd() {
  constexpr unsigned kAllowSealing = 2, kExec = 0x10, kCloexec = 1;  // older headers lack MFD_EXEC
  int fd = sys::memfd("stab", kCloexec | kAllowSealing | kExec);
  if (fd == -EINVAL) fd = sys::memfd("stab", kCloexec | kAllowSealing);
  return fd;
}

// A bare clone with exit signal 0: wait() and its relatives don't see it. Returns our end of a socket pair.
int start_own_helper() {
  int ends[2];
  if (sys::call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sys::word(ends)) != 0) return -1;
  const long pid = sys::call(SYS_clone, 0, 0, 0, 0, 0);
  if (pid == 0) {
    helper::detach(ends[1], -1);
    sys::exit_process(helper::serve(ends[1], -1, false, -1));
  }
  sys::close(ends[1]);
  if (pid > 0) return ends[0];
  sys::close(ends[0]);
  return -1;
}

// Tries the addresses from `first` in steps of `step` until one is free; `tries` bounds it. 0: none.
uint64_t map_ring_near(uint64_t first, int64_t step, uint64_t tries, uint64_t bytes, int images, uint64_t offset) {
  constexpr int kFixedNoReplace = 0x100000;
  uint64_t at = first & ~(kPage - 1);
  for (; tries > 0; --tries, at += static_cast<uint64_t>(step)) {
    void* mapped = sys::map(pointer_to(at), bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE | kFixedNoReplace,
                            images, offset);
    if (sys::is_address(mapped) && address_of(mapped) == at) return at;
    if (sys::is_address(mapped)) {  // a kernel before 4.17 takes the address for a hint
      sys::unmap(mapped, bytes);
      continue;
    }
    if (sys::error_of(mapped) == -EEXIST) continue;
    if (sys::error_of(mapped) != -ENOMEM) degrade(control(), Degradation::kMapDenied);
    return 0;
  }
  return 0;
}

// The ring lies within reach of all of the executable: below a PIE, which leaves the heap's end free to grow, or
// above it where below is taken; above one at a fixed low address, near the top of the low 2 GiB that its 32-bit
// absolute fields reach. Fewer slots where address space is scarce.
uint64_t map_ring(const Extent& extent, const Plan& plan, int images, uint32_t& slots) {
  constexpr int64_t kStep = 16 << 20;
  constexpr uint64_t kGap = 16 * kPage;
  for (slots = static_cast<uint32_t>(plan.slot_limit); slots >= 2; slots /= 2) {
    const uint64_t bytes = slots * plan.slot_bytes;
    if (extent.high - extent.low + bytes + kGap >= kReach) continue;
    const uint64_t tries = (kReach - (extent.high - extent.low) - bytes - kGap) / kStep + 1;
    uint64_t found = 0;
    if (extent.high < 0x80000000u) {
      found = map_ring_near(kReach - bytes, -kStep, tries, bytes, images, plan.ring_offset);
    } else {
      found = map_ring_near(extent.low - bytes - kGap, -kStep, tries, bytes, images, plan.ring_offset);
      if (found == 0) found = map_ring_near(extent.high + kGap, kStep, tries, bytes, images, plan.ring_offset);
    }
    if (found != 0) return found;
  }
  degrade(control(), Degradation::kNoNearMemory);
  return 0;
}

bool map_over(uint64_t address, uint64_t bytes, int protection, int fd, uint64_t offset) {
  return sys::is_address(sys::map(pointer_to(address), bytes, protection, MAP_SHARED | MAP_FIXED, fd, offset));
}

bool move_over(void* from, uint64_t to, uint64_t bytes) {
  constexpr long kMayMoveFixed = 1 | 2;  // MREMAP_MAYMOVE | MREMAP_FIXED
  const long size = static_cast<long>(bytes);
  return sys::call(SYS_mremap, sys::word(from), size, size, kMayMoveFixed, static_cast<long>(to)) ==
         static_cast<long>(to);
}

// The same for code. perf learns of a mapping when it is made, not when it moves: so it goes on to see what was mapped
// at `address` before, the executable, and finds its names.
bool map_code_over(uint64_t address, uint64_t bytes, int fd, uint64_t offset) {
  void* mapped = sys::map(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE, fd, offset);
  if (!sys::is_address(mapped)) return false;
  if (move_over(mapped, address, bytes)) return true;
  sys::unmap(mapped, bytes);
  return false;
}

// perf looks into a map of names only for executable memory without a file: that is what it sees the ring become.
bool hide_file(uint64_t address, uint64_t bytes, int fd, uint64_t offset) {
  void* bare = sys::map(pointer_to(address), bytes, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
  return sys::is_address(bare) && map_code_over(address, bytes, fd, offset);
}

// Moves what was counted so far into the shared block, then that block over the static one.
bool share_control(int fd) {
  void* shared = sys::map(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  if (!sys::is_address(shared)) return false;
  Control& theirs = *static_cast<Control*>(shared);
  const CodeDose code = theirs.code;  // the helper has begun to fill these in
  const StackDose stack = theirs.stack;
  const uint64_t degradations = theirs.degradations;
  memcpy(shared, stab_control_pages.bytes, kControlBytes);
  theirs.code = code;
  theirs.stack = stack;
  theirs.degradations |= degradations;
  return move_over(shared, address_of(stab_control_pages.bytes), kControlBytes);
}

uint64_t draw_nonce() {
  uint64_t nonce = 0;
  constexpr long kInsecure = 4;
  sys::call(SYS_getrandom, sys::word(&nonce), sizeof nonce, kInsecure);
  return nonce | 1;
}

void fill_hello(Hello& hello, const Extent& extent) {
  hello.settings = settings();
  hello.pid = sys::getpid();
  hello.nonce = draw_nonce();
  hello.bias = extent.bias;
  hello.text_relocations = extent.text_relocations;
  // LLVM's libunwind looks code up in the files that are loaded and asks nobody: there is no way to tell it of images.
  hello.foreign_unwinder = __unw_add_dynamic_fde != nullptr;
  hello.control_address = address_of(stab_control_pages.bytes);
  hello.signal_return = signal_trampoline();
  hello.degradations = control().degradations;
  hello.slots_address = address_of(__start_stab_pads);
  hello.slot_count = static_cast<uint32_t>((address_of(__stop_stab_pads) - hello.slots_address) / sizeof(uint32_t));
  if (hello.slot_count == 0) return;
  hello.pads_address = hello.slots_address & ~(kPage - 1);
  hello.pads_bytes = ((address_of(__stop_stab_pads) + kPage - 1) & ~(kPage - 1)) - hello.pads_address;
}

// All descriptors of the handshake; closed together, before main.
struct Descriptors {
  int at[static_cast<int>(Handed::kCount)];

  Descriptors() {
    for (int& fd : at) fd = -1;
  }
  ~Descriptors() {
    for (int fd : at)
      if (fd >= 0) sys::close(fd);
  }
  int& operator[](Handed which) { return at[static_cast<int>(which)]; }
};

void open_all(Descriptors& own, int pid) {
  // Writable: pads of shared libraries lie in private memory and are drawn through it.
  own[Handed::kMemory] = sys::open("/proc/self/mem", O_RDWR);
  if (own[Handed::kMemory] < 0) own[Handed::kMemory] = sys::open("/proc/self/mem", O_RDONLY);  // their pads stay 0 then
  own[Handed::kMaps] = sys::open("/proc/self/maps", O_RDONLY);
  own[Handed::kDirectory] = sys::open("/proc/self", O_RDONLY | O_DIRECTORY);
  own[Handed::kPidfd] = sys::pidfd_open(pid);
  own[Handed::kImages] = images_memfd();
  own[Handed::kControl] = sys::memfd("stab-control", 1);
  if (own[Handed::kControl] < 0) degrade(control(), Degradation::kNoMemfd);
  own[Handed::kExecutable] = sys::open("/proc/self/exe", O_RDONLY);
  own[Handed::kReport] = open_report();
}

bool say_hello(int socket, Hello& hello, Descriptors& own) {
  int sent[static_cast<int>(Handed::kCount)];
  int count = 0;
  for (int i = 0; i < static_cast<int>(Handed::kCount); ++i) {
    if (own.at[i] < 0) continue;
    hello.handed |= 1u << i;
    sent[count++] = own.at[i];
  }
  return helper::send_message(socket, &hello, sizeof hello, sent, count);
}

void map_planned(const Extent& extent, const Hello& hello, const Plan& plan, Descriptors& own, Mapped& mapped) {
  mapped.control = share_control(own[Handed::kControl]);
  if (mapped.control == 0) return;
  const int images = own[Handed::kImages];
  if (plan.text_bytes > 0) {
    mapped.ring_address = map_ring(extent, plan, images, mapped.slots);
    if (mapped.ring_address != 0 &&
        (!hello.settings.perf_map ||
         hide_file(mapped.ring_address, mapped.slots * plan.slot_bytes, images, plan.ring_offset)))
      mapped.text = map_code_over(plan.text_address, plan.text_bytes, images, plan.text_offset);
    if (mapped.ring_address != 0 && mapped.text == 0) {
      sys::unmap(pointer_to(mapped.ring_address), mapped.slots * plan.slot_bytes);
      degrade(control(), Degradation::kMapDenied);
    }
  }
  if (plan.pads_bytes > 0)
    mapped.pads = map_over(hello.pads_address, plan.pads_bytes, PROT_READ, images, plan.pads_offset);
}

// From Hello to Ready. False: no helper came of it, the program runs unmoved.
bool shake_hands(int socket, const Extent& extent, Descriptors& own) {
  Greeting greeting;
  if (!helper::receive_message(socket, &greeting, sizeof greeting, helper::kPatienceMs) ||
      greeting.magic != helper::kProtocolMagic || greeting.version != abi::kAbiVersion)
    return false;
  // Yama: this process, and only this one, may look at our threads.
  sys::call(SYS_prctl, PR_SET_PTRACER, greeting.helper_pid, 0, 0, 0);
  Hello hello;
  open_all(own, sys::getpid());
  fill_hello(hello, extent);
  if (!say_hello(socket, hello, own)) return false;
  Plan plan;
  if (!helper::receive_message(socket, &plan, sizeof plan, helper::kPatienceMs) ||
      plan.magic != helper::kProtocolMagic)
    return false;
  Mapped mapped;
  map_planned(extent, hello, plan, own, mapped);
  mapped.degradations = control().degradations;
  if (!helper::send_message(socket, &mapped, sizeof mapped)) return false;
  Ready ready;
  return helper::receive_message(socket, &ready, sizeof ready, helper::kPatienceMs) &&
         ready.magic == helper::kProtocolMagic;
}

// The process that runs without the helper it wanted; 0: none.
int alone;

void go_on_alone() {
  constexpr uint64_t kKnown = uint64_t{1} << static_cast<unsigned>(Degradation::kNoMemfd);
  if ((control().degradations & kKnown) == 0) degrade(control(), Degradation::kNoHelper);
  alone = sys::getpid();
}

// Nobody else writes its dose then; a launcher's report is its helper's.
void report_alone() {
  const int fd = open_report();
  if (fd < 0) return;
  static char text[helper::kReportBytes];
  const size_t bytes = helper::write_report(settings(), control(), helper::HelperUse{}, helper::End::kExit, text);
  sys::write_full(fd, text, bytes);
  sys::close(fd);
}

bool wants_helper(const abi::Settings& wanted) {
  return wanted.code != abi::CodeMode::kOff || wanted.stack == abi::StackMode::kOn ||
         wanted.stack == abi::StackMode::kRecursive || wanted.heap == abi::HeapMode::kPage ||
         wanted.heap == abi::HeapMode::kShuffle || wanted.helper_socket >= 0 || wanted.report >= 0 ||
         report_path() != nullptr;
}

void start() {
  const abi::Settings& wanted = settings();
  if (!wants_helper(wanted)) return;
  Extent extent;
  if (!find_extent(extent)) return;
  int socket = -1;
  if (wanted.helper_socket >= 0 && is_helper_socket(wanted.helper_socket)) socket = wanted.helper_socket;
  if (socket < 0) socket = start_own_helper();
  if (socket < 0) return go_on_alone();
  Descriptors own;
  const bool done = shake_hands(socket, extent, own);
  sys::close(socket);
  if (!done) return go_on_alone();
  code::follow_forks();
}

// The last thing of this executable that exit() runs: its dose is complete but for what libraries do later.
void finish() {
  Control& block = control();
  if (alone != 0) return alone == sys::getpid() ? report_alone() : void();
  if (__atomic_load_n(&block.report_state, __ATOMIC_ACQUIRE) != kReportPending) return;
  if (sys::getpid() != block.program_pid) return;
  __atomic_store_n(&block.request, kRequestReport, __ATOMIC_RELEASE);
  sys::futex_wake(&block.request);
  // A helper that was killed never answers.
  constexpr uint64_t kPatienceNs = 2'000'000'000;
  const uint64_t deadline_ns = sys::monotonic_ns() + kPatienceNs;
  while (__atomic_load_n(&block.report_state, __ATOMIC_ACQUIRE) == kReportPending)
    if (sys::futex_wait(&block.report_state, kReportPending, deadline_ns) == -ETIMEDOUT) return;
}

}  // namespace
}  // namespace stab

// Linkers sort .fini_array.N, and the array runs backwards: the lowest number runs last.
extern "C" {
__attribute__((section(".preinit_array"), used)) void (*const stab_start)() = stab::start;
__attribute__((section(".fini_array.00000"), used)) void (*const stab_finish)() = stab::finish;
}
