// What the engine tells the launcher, and what the launcher answers. Both come from the same build, so the
// version only catches a mixed installation.
//
// The request is one block on kConfigFd (a memfd):
//   LaunchHeader | u32 groups[] | LaunchLimit limits[] | strings, each u32 length, bytes, one 0
// strings, in this order: cgroup_count cgroup.procs files, exec path, the program's path (another where a simulator is
// executed), what that file must be (Identity, or empty: anything), working directory, argc arguments, envc environment entries.
//
// The answer is a row of LaunchReport records on kStatusFd (close on exec): moved, ready, then started, after which
// the descriptor closes if the exec succeeded. A failure at any point is one record with the step and errno.
//
// Plain C++ without the standard library's runtime: the launcher is static and small.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace stab::launch {

inline constexpr char kMagic[8] = {'S', 'T', 'A', 'B', 'L', 'N', 'C', 'H'};
inline constexpr uint32_t kVersion = 8;

// Descriptors the launcher is born with, above what a shell or a build system would use. The program inherits
// kHelperFd and kReportFd only.
inline constexpr int kConfigFd = 190;
inline constexpr int kGoFd = 191;
inline constexpr int kStatusFd = 192;
inline constexpr int kHelperFd = 193;
inline constexpr int kReportFd = 194;
inline constexpr int kIpcFd = 195;     // of a tree that has these to itself (stabd/host/private_ipc.h): namespaces to enter
inline constexpr int kMountsFd = 196;

// A launcher that is born with a SOCK_SEQPACKET socket at this number, and with none of the others, stays: for each order
// on the socket it makes a process, a child of its parent's as well, that goes on as any launcher does. An order is one
// Order, and beside it the descriptors for 0, 1, 2, kConfigFd, kGoFd, kStatusFd and what its flags name, in this order.
inline constexpr int kOrdersFd = 197;
inline constexpr uint32_t kOrderHelper = 1;
inline constexpr uint32_t kOrderReport = 2;
inline constexpr uint32_t kOrderIpc = 4;  // kIpcFd and kMountsFd
inline constexpr int kOrderFds = 6;      // without what the flags name
inline constexpr int kMostOrderFds = 10;

struct Order {
  uint32_t version;
  uint32_t flags;
};
static_assert(sizeof(Order) == 8);

// LaunchHeader::flags
inline constexpr uint32_t kNoAslr = 1;          // personality(ADDR_NO_RANDOMIZE)
inline constexpr uint32_t kNoThp = 2;           // prctl(PR_SET_THP_DISABLE)
inline constexpr uint32_t kDropPrivileges = 4;  // become uid, gid and groups, and prove it is for good
inline constexpr uint32_t kNoNewPrivs = 8;
inline constexpr uint32_t kResetOomScore = 16;  // to 0, what any program begins with
inline constexpr uint32_t kPrivateIpc = 32;     // enter the namespaces at kIpcFd and kMountsFd

struct LaunchHeader {
  char magic[8];
  uint32_t version;
  uint32_t flags;
  int32_t cpu;  // -1: wherever the engine may run
  uint32_t uid;
  uint32_t gid;
  uint32_t group_count;
  uint32_t limit_count;
  uint32_t cgroup_count;
  uint32_t argc;
  uint32_t envc;
  uint64_t slice_ns;  // of CPU time at a time, where others want the CPU, too; 0: as long as the kernel gives everybody
};
static_assert(sizeof(LaunchHeader) == 56);

struct LaunchLimit {
  uint32_t resource;  // RLIMIT_*
  uint32_t reserved;  // 0
  uint64_t soft;
  uint64_t hard;
};
static_assert(sizeof(LaunchLimit) == 24);

// Do not renumber: shown by name, but engine and launcher meet here.
enum class Step : uint32_t {
  kReadConfig, kSession, kCgroup, kAffinity, kAslr, kThp, kLimits, kGroups, kUser, kProof, kDirectory,
  kLockPrivileges, kSignals, kGo, kExec, kMove, kOomScore, kSameFile, kIpc, kSlice, kCount,
};
inline constexpr const char* kStepWords[] = {
    "read the request", "start a session", "join the cgroup",  "pin to the cpu",      "set the personality",
    "disable huge pages", "set limits",    "set groups",       "become the user",     "prove that root is gone",
    "enter the directory", "set no_new_privs", "reset signals", "wait for go",        "exec",
    "start a process of its own", "reset oom_score_adj", "find the same program",
    "enter its own ipc and /dev/shm", "ask for the length of its time slices"};
static_assert(sizeof(kStepWords) / sizeof(kStepWords[0]) == static_cast<size_t>(Step::kCount));

// Three numbers of 16 hexadecimal digits: inode, bytes, nanoseconds of its last modification.
struct Identity {
  char text[48];
};
inline Identity identity_of(uint64_t inode, uint64_t bytes, int64_t modified_ns) {
  const uint64_t numbers[] = {inode, bytes, static_cast<uint64_t>(modified_ns)};
  Identity identity{};
  for (int i = 0; i < 48; ++i) identity.text[i] = "0123456789abcdef"[numbers[i / 16] >> (60 - i % 16 * 4) & 15];
  return identity;
}

struct LaunchReport {
  enum Kind : uint32_t { kReady = 1, kStarted = 2, kFailed = 3, kMoved = 4 };
  uint32_t kind;
  uint32_t step;         // Step, of kFailed
  int32_t error_number;  // of kFailed; 0 where no system call failed
  int32_t pid;           // of kMoved: who goes on, and becomes the program
  uint64_t raw_ns;       // CLOCK_MONOTONIC_RAW just before exec, of kStarted
  // What the launcher itself has used until then, of kStarted: wait4 counts it as the program's.
  uint64_t user_us, system_us;
  uint64_t minor_faults, major_faults;
  uint64_t voluntary_switches, involuntary_switches;
};
static_assert(sizeof(LaunchReport) == 72);

// Reads the block front to back. Every call is false once the block ends too early; strings point into it.
class BlockReader {
 public:
  BlockReader(const char* data, size_t bytes) : at_(data), left_(bytes) {}

  bool take(void* out, size_t bytes) {
    if (bytes > left_) return false;
    memcpy(out, at_, bytes);
    at_ += bytes;
    left_ -= bytes;
    return true;
  }
  bool take_string(const char*& text) {
    uint32_t length = 0;
    if (!take(&length, sizeof length) || length >= left_) return false;
    text = at_;
    if (memchr(text, 0, length + size_t{1}) != text + length) return false;
    at_ += length + size_t{1};
    left_ -= length + size_t{1};
    return true;
  }
  bool at_end() const { return left_ == 0; }

 private:
  const char* at_;
  size_t left_;
};

}  // namespace stab::launch
