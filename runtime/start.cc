// Before main: settings, and the program's half of the handshake with its helper. Whatever is missing or denied here leaves the
// program as it is; the dose report says what happened.
#include "runtime/start.h"

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <initializer_list>

#include "runtime/api/ask_helper.h"
#include "runtime/arch/arch.h"
#include "runtime/code/fork.h"
#include "runtime/code/unwind.h"
#include "runtime/control.h"
#include "runtime/heap/libc_heap.h"
#include "runtime/heap/threads.h"
#include "runtime/helper/detach.h"
#include "runtime/helper/dose_report.h"
#include "runtime/helper/look.h"
#include "runtime/helper/session.h"
#include "runtime/helper/socket.h"
#include "runtime/helper/text.h"
#include "runtime/libc_names.h"
#include "runtime/mapping.h"
#include "runtime/progress/points.h"
#include "runtime/round_up.h"
#include "runtime/settings.h"
#include "runtime/simulator.h"
#include "runtime/sys.h"

extern "C" {
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));
extern uint32_t __start_stab_pads[] __attribute__((weak, visibility("hidden")));
extern uint32_t __stop_stab_pads[] __attribute__((weak, visibility("hidden")));
}

namespace stab {
namespace {

using helper::Greeting;
using helper::Handed;
using helper::Hello;
using helper::Mapped;
using helper::Plan;
using helper::Ready;

using arch::kPage;

// As rt_sigaction takes it.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  uint64_t restorer;
  unsigned long mask;
};

// glibc gives the kernel the same trampoline with each action, the default one included: set SIGURG to what it
// is and read the kernel's copy.
uint64_t signal_trampoline() {
  KernelAction before{}, after{};
  if (sys::call(SYS_rt_sigaction, SIGURG, 0, sys::word(&before), 8) != 0) return 0;
  if (before.handler != SIG_DFL && before.handler != SIG_IGN) return before.restorer;
  struct sigaction same;
  memset(&same, 0, sizeof same);
  same.sa_handler = before.handler;
  const int saved_errno = errno;
  if (__sigaction(SIGURG, &same, nullptr) == 0) sys::call(SYS_rt_sigaction, SIGURG, 0, sys::word(&after), 8);
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

// Never waits: of a FIFO that nobody reads yet the reader may still come, and finds in it what was written.
int open_report_path() {
  const int fd = sys::open(report_path(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK, 0666);
  if (fd == -ENXIO) return sys::open(report_path(), O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (fd >= 0) sys::call(SYS_fcntl, fd, F_SETFL, 0);  // who reads slowly gets all of it
  return fd;
}

int open_report() {
  if (report_path() != nullptr) {
    const int fd = open_report_path();
    if (fd < 0) degrade(control(), Degradation::kReportFailed);
    return fd;
  }
  const int fd = settings().report;
  return fd >= 0 && is_report_memfd(fd) ? fd : -1;
}

[[noreturn]] void refuse_script(const char* where, const char* why, uint32_t line) {
  char text[512];
  helper::Text out(text, sizeof text - 1);
  out << "stab: " << where;
  if (line > 0) out << ", line " << line;
  out << ": " << why << "\n";
  sys::write_full(2, text, out.size());
  sys::exit_process(abi::kExitBadSettings);
}

const char* name_of_script() { return script_path() != nullptr ? script_path() : "the layout script"; }

int open_script() {
  if (script_path() == nullptr) return -1;
  const int fd = sys::open(script_path(), O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) refuse_script(name_of_script(), "it can't be opened for reading", 0);
  return fd;
}

// Whether SIGCHLD can be ignored for a moment without harm: no child of this process, from before an exec, may end
// meanwhile, and none has. Nor may orphans of its namespace become its children: then wait() would see the helper.
bool may_orphan() {
  unsigned long pending = 0;
  sys::call(SYS_rt_sigpending, sys::word(&pending), 8);
  return sys::getpid() != 1 && (pending >> (SIGCHLD - 1) & 1) == 0 &&
         sys::call(SYS_waitid, P_ALL, 0, 0, WEXITED | WNOHANG | WNOWAIT | __WALL, 0) == -ECHILD;
}

// One that orphans fall to, from before an exec, is none for a moment. It has no descendants then that could end meanwhile: they
// would be children of its, or of children.
class NoReaper {
 public:
  NoReaper() {
    sys::call(SYS_prctl, PR_GET_CHILD_SUBREAPER, sys::word(&was_), 0, 0, 0);
    if (was_ != 0) sys::call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  }
  void end() {
    if (was_ != 0) sys::call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }

 private:
  int was_ = 0;
};

// A process that is nobody's child soon, because debuggers and the like wait for all children there are (__WALL); or else
// a child with exit signal 0, which other waits don't see. 0 in the helper, minus an error without one.
//
// The process between is not waited for but ignored, or its time would count as that of children.
long clone_helper(bool orphan) {
  if (!orphan) return sys::call(SYS_clone, 0, 0, 0, 0, 0);
  KernelAction ignore{SIG_IGN, 0, 0, 0}, before{};
  if (sys::call(SYS_rt_sigaction, SIGCHLD, sys::word(&ignore), sys::word(&before), 8) != 0) return -EINVAL;
  long made = -EAGAIN;
  NoReaper no_reaper;
  const long between = arch::clone_grandchild(CLONE_VM | CLONE_VFORK | SIGCHLD, made);
  if (between == 0) return 0;
  if (between > 0)
    while (sys::call(SYS_wait4, between, 0, 0, 0) == -EINTR) {}
  no_reaper.end();
  sys::call(SYS_rt_sigaction, SIGCHLD, sys::word(&before), 0, 8);
  return between < 0 ? between : made;
}

// Returns our end of a socket pair. nullptr: the helper stays a clone of this program.
int start_own_helper(const OwnHelper* own) {
  int ends[2];
  if (sys::call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sys::word(ends)) != 0) return -1;
  const bool orphan = may_orphan();
  const long pid = clone_helper(orphan);
  if (pid == 0) {
    helper::detach(ends[1], -1);
    if (own != nullptr && orphan) own->become(own->program, ends[1]);
    helper::Task task;
    task.socket = ends[1];
    sys::exit_process(helper::serve(task));
  }
  sys::close(ends[1]);
  if (pid > 0) return ends[0];
  sys::close(ends[0]);
  return -1;
}

bool receive_greeting(int socket, Greeting& greeting) {
  return helper::receive_message(socket, &greeting, sizeof greeting, helper::kPatienceMs) &&
         greeting.magic == helper::kProtocolMagic && greeting.version == abi::kAbiVersion;
}

// The same, once it has said something. One that ended when it became its own program is followed by one that doesn't.
int start_greeting_helper(const OwnHelper* own, Greeting& greeting) {
  for (const OwnHelper* const chosen : {own, static_cast<const OwnHelper*>(nullptr)}) {
    const int socket = start_own_helper(chosen);
    if (socket < 0) return -1;
    if (receive_greeting(socket, greeting)) return socket;
    sys::close(socket);
  }
  return -1;
}

uint64_t draw_nonce() {
  uint64_t nonce = 0;
  constexpr long kInsecure = 4;
  sys::call(SYS_getrandom, sys::word(&nonce), sizeof nonce, kInsecure);
  return nonce | 1;
}

void fill_hello(Hello& hello, const Extent& extent, uint32_t of_host) {
  hello.settings = settings();
  hello.settings.simulated = is_simulated();
  hello.pid = sys::getpid();
  hello.nonce = draw_nonce();
  hello.bias = extent.bias;
  hello.text_relocations = extent.text_relocations;
  // Of a preloaded library its own file tells nothing, and the kernel nothing where the loader was asked to run the program.
  hello.may_load = (of_host != 0 || extent.has_loader || __getauxval(AT_BASE) != 0) && !is_simulated();
  if (hello.settings.code != abi::CodeMode::kOff) hello.unwinder = static_cast<uint32_t>(code::find_unwinder());
  hello.stacks_switch = control().orders.stacks_switch;  // as it has found of libraries
  hello.control_address = address_of(stab_control_pages.bytes);
  hello.signal_return = signal_trampoline();
  hello.degradations = control().degradations;
  hello.of_host = of_host;
  hello.slots_address = address_of(__start_stab_pads);
  hello.slot_count = static_cast<uint32_t>((address_of(__stop_stab_pads) - hello.slots_address) / sizeof(uint32_t));
  if (hello.slot_count == 0) return;
  hello.pads_address = hello.slots_address & ~(kPage - 1);
  hello.pads_bytes = round_up(address_of(__stop_stab_pads), kPage) - hello.pads_address;
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

// Whether a file holds the code that lies in this segment of the program.
bool holds_code(int fd, const Elf64_Phdr& segment, uint64_t bias) {
  const uint64_t within = segment.p_vaddr & (kPage - 1), bytes = segment.p_filesz + within;
  void* const mapped = sys::map(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, segment.p_offset - within);
  if (!sys::is_address(mapped)) return false;
  struct stat status;
  const bool same = sys::call(SYS_fstat, fd, sys::word(&status)) == 0 &&
                    static_cast<uint64_t>(status.st_size) >= segment.p_offset + segment.p_filesz &&
                    memcmp(static_cast<const char*>(mapped) + within, pointer_to(bias + segment.p_vaddr), segment.p_filesz) == 0;
  sys::unmap(mapped, bytes);
  return same;
}

// The path of the file that is mapped at this address.
bool find_path(uint64_t address, helper::MappedFile& file) {
  void* const buffer = sys::map(nullptr, helper::kLookBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (!sys::is_address(buffer)) return false;
  helper::Process self;
  self.maps = sys::open("/proc/self/maps", O_RDONLY);
  helper::Mapping mapping;
  const bool found = self.maps >= 0 && helper::find_mapping(self, address, static_cast<uint8_t*>(buffer), mapping, &file);
  if (self.maps >= 0) sys::close(self.maps);
  sys::unmap(buffer, helper::kLookBufferBytes);
  return found;
}

// -1: its path leads to another file by now, or to none.
int open_by_path(const Extent& extent) {
  helper::MappedFile file;
  if (!find_path(extent.low, file)) return -1;
  const int fd = sys::open(file.path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return -1;
  const auto* const segments = reinterpret_cast<const Elf64_Phdr*>(address_of(&__ehdr_start) + __ehdr_start.e_phoff);
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD || (segments[i].p_flags & PF_X) == 0) continue;
    if (holds_code(fd, segments[i], extent.bias)) continue;
    sys::close(fd);
    return -1;
  }
  return fd;
}

// Where ld.so was started with the program's name, /proc/self/exe is ld.so itself, and the kernel names no loader (AT_BASE).
int open_executable(const Extent& extent) {
  const bool by_hand = extent.has_loader && __getauxval(AT_BASE) == 0;
  return by_hand ? open_by_path(extent) : sys::open("/proc/self/exe", O_RDONLY);
}

void open_all(Descriptors& own, const Extent& extent, int pid) {
  // Writable: pads of shared libraries lie in private memory and are drawn through it.
  own[Handed::kMemory] = sys::open("/proc/self/mem", O_RDWR);
  if (own[Handed::kMemory] < 0) own[Handed::kMemory] = sys::open("/proc/self/mem", O_RDONLY);  // their pads stay 0 then
  own[Handed::kMaps] = sys::open("/proc/self/maps", O_RDONLY);
  own[Handed::kDirectory] = sys::open("/proc/self", O_RDONLY | O_DIRECTORY);
  own[Handed::kPidfd] = sys::pidfd_open(pid);
  own[Handed::kExecutable] = open_executable(extent);
  own[Handed::kReport] = open_report();
  own[Handed::kScript] = open_script();
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

// The descriptors of the helper's plan, closed once they are mapped.
struct MadeDescriptors {
  int at[helper::kMostDescriptors];
  int count = 0;

  ~MadeDescriptors() {
    for (int i = 0; i < count; ++i) sys::close(at[i]);
  }
  // A descriptor that the plan does without was not sent.
  int find(helper::Made wanted, const Plan& plan) const {
    const bool is_sent[] = {true, plan.board_bytes > 0, plan.ring_offset > 0, plan.library_bytes > 0};
    static_assert(sizeof is_sent == static_cast<size_t>(helper::Made::kCount));
    const int which = static_cast<int>(wanted);
    int place = 0;
    for (int i = 0; i < which; ++i) place += is_sent[i];
    return is_sent[which] && place < count ? at[place] : -1;
  }
};

// From Hello to Ready. False: no helper came of it, the program runs unmoved.
bool shake_hands(int socket, const Greeting& greeting, const Extent& extent, uint32_t of_host, Descriptors& own) {
  // Yama: this process, and only this one, may look at our threads.
  code::ask_of_children(sys::call(SYS_prctl, PR_SET_PTRACER, greeting.helper_pid, 0, 0, 0) == 0);
  Hello hello;
  open_all(own, extent, sys::getpid());
  fill_hello(hello, extent, of_host);
  if (!say_hello(socket, hello, own)) return false;
  Plan plan;
  MadeDescriptors made;
  if (!helper::receive_message(socket, &plan, sizeof plan, helper::kPatienceMs, made.at, &made.count) ||
      plan.magic != helper::kProtocolMagic)
    return false;
  if (plan.script_fault != 0) refuse_layout_script(plan.script_fault, plan.script_line);
  if (made.find(helper::Made::kControl, plan) < 0) {
    degrade(control(), Degradation::kNoMemfd);
    return false;
  }
  Mapped mapped;
  map_planned(extent, hello, plan, made.find(helper::Made::kImages, plan), made.find(helper::Made::kControl, plan),
              made.find(helper::Made::kBoard, plan), made.find(helper::Made::kLibraries, plan), mapped);
  mapped.degradations = control().degradations;
  if (!helper::send_message(socket, &mapped, sizeof mapped)) return false;
  Ready ready;
  return helper::receive_message(socket, &ready, sizeof ready, helper::kPatienceMs) &&
         ready.magic == helper::kProtocolMagic;
}

// Of what is written here the program gets no signal: not of a limit on files (SIGXFSZ), nor of a reader that is gone (SIGPIPE).
// Both come to the thread that writes, so what came meanwhile is taken back before they may come again.
class WithoutSignals {
 public:
  WithoutSignals() {
    uint64_t pending = 0;
    sys::call(SYS_rt_sigpending, sys::word(&pending), sizeof pending);
    ours_ = bit_of(SIGXFSZ) | bit_of(SIGPIPE);
    sys::call(SYS_rt_sigprocmask, SIG_BLOCK, sys::word(&ours_), sys::word(&before_), sizeof ours_);
    ours_ &= ~pending;
  }
  ~WithoutSignals() {
    const timespec at_once{};
    while (sys::call(SYS_rt_sigtimedwait, sys::word(&ours_), 0, sys::word(&at_once), sizeof ours_) > 0) {
    }
    sys::call(SYS_rt_sigprocmask, SIG_SETMASK, sys::word(&before_), 0, sizeof before_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  static constexpr uint64_t bit_of(int signal) { return uint64_t{1} << (signal - 1); }
  uint64_t ours_ = 0, before_ = 0;
};

// Nobody else writes the dose then. At once, since nobody sees the end, and the report's path may lead elsewhere later.
// A launcher's report is its helper's.
void report_alone() {
  const int fd = open_report();
  if (fd < 0) return;
  static char text[helper::kReportBytes];
  abi::Settings ran = settings();
  ran.simulated = is_simulated();
  const size_t bytes = helper::write_report(ran, control(), helper::HelperUse{}, helper::End::kUnwatched, text);
  const WithoutSignals quiet;
  sys::write_over(fd, text, bytes);
  sys::close(fd);
}

void go_on_alone() {
  constexpr uint64_t kKnown = uint64_t{1} << static_cast<unsigned>(Degradation::kNoMemfd) |
                              uint64_t{1} << static_cast<unsigned>(Degradation::kSimulatedAlone);
  if ((control().degradations & kKnown) == 0) degrade(control(), Degradation::kNoHelper);
  // Pending: a helper has come so far that it will write one.
  if (__atomic_load_n(&control().report_state, __ATOMIC_ACQUIRE) != kReportPending) report_alone();
}

bool wants_helper(const abi::Settings& wanted) {
  return wanted.code != abi::CodeMode::kOff || abi::draws_pads(wanted.stack) || wanted.heap == abi::HeapMode::kPage ||
         wanted.heap == abi::HeapMode::kShuffle || wanted.helper_socket >= 0 || wanted.report >= 0 ||
         report_path() != nullptr;
}

}  // namespace

void refuse_layout_script(uint32_t fault, uint32_t line) {
  const bool is_known = fault < static_cast<uint32_t>(code::ScriptFault::kCount);
  refuse_script(name_of_script(), is_known ? code::kScriptFaultWords[fault] : "it can't be obeyed", line);
}

void start(const OwnHelper* own) {
  const abi::Settings& wanted = settings();
  if (wanted.heap != abi::HeapMode::kOff && !heap::libraries_find_ours() && heap::leave_to_libc())
    degrade(control(), has_dynamic_weak() ? Degradation::kDynamicWeak : Degradation::kNamesHidden);
  // Where the program's own malloc serves, no call comes to ours that would tell.
  if (wanted.heap != abi::HeapMode::kOff) heap::find_brought();
  if (heap::find_library_operators != nullptr) heap::find_library_operators();
  if (!wants_helper(wanted)) return;
  const bool launched = wanted.helper_socket >= 0 && is_helper_socket(wanted.helper_socket);
  if (own == nullptr && !launched) return;
  Extent extent;
  if (!find_extent(extent)) return;
  int socket = -1;
  Greeting greeting;
  if (launched && receive_greeting(wanted.helper_socket, greeting)) socket = wanted.helper_socket;
  else if (launched) sys::close(wanted.helper_socket);
  // valgrind refuses such a clone, and says so on the program's stderr.
  else if (is_simulated()) degrade(control(), Degradation::kSimulatedAlone);
  else socket = start_greeting_helper(own, greeting);
  if (socket < 0) return go_on_alone();
  Descriptors descriptors;
  const bool done = shake_hands(socket, greeting, extent, own != nullptr ? own->of_host : 0, descriptors);
  sys::close(socket);
  if (!done) return go_on_alone();
  code::follow_forks();
  (void)api::has_helper();  // asks for the pid while every system call is allowed
}

void finish() {
  progress::give_row_back();
  Control& block = control();
  if (__atomic_load_n(&block.report_state, __ATOMIC_ACQUIRE) != kReportPending) return;
  if (!api::has_helper()) return;
  progress::bring_back();
  __atomic_store_n(&block.request, kRequestReport, __ATOMIC_RELEASE);
  sys::futex_wake(&block.request);
  const auto is_written = [](uint32_t state) { return state != kReportPending; };
  if (settings().epoch_ns == 0)
    api::wait_evenly_for(block.report_state, kReportPending, is_written);
  else
    api::wait_for(block.report_state, is_written);
}

}  // namespace stab
