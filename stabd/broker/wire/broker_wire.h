// The wire between an engine and its broker, both directions.
//
// A SOCK_SEQPACKET socket; one request, one answer, in turn. Each message is one struct of fixed size: what it is, and
// fields that mean nothing are 0. Text is a fixed array that holds its ending 0. Descriptors travel beside it
// (SCM_RIGHTS), as many as the request's kind and flags say. What an engine sends is a stranger's word: decode() takes
// exactly what encode() makes of a request that keeps the bounds below, and says why it takes nothing else.
//
// Both ends come from one build; the version catches a mixed installation. For that, three things are the same in every
// version: a Head is first, no message is longer than kMostMessageBytes, and an answer up to the end of `text`, where a
// refusal of a request of another version ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/message_socket.h"
#include "base/result.h"

namespace stab::broker {

inline constexpr uint32_t kVersion = 7;

inline constexpr size_t kMostDescriptors = kMostMessageDescriptors;  // of one message: one for each counter
inline constexpr size_t kMostCounters = 32;
inline constexpr size_t kMostLimits = 4;
inline constexpr size_t kMostKept = 8;  // directories of /tmp
inline constexpr size_t kNameRoom = 256;  // of one entry of a directory, and a 0
// The kernel takes no more arguments and environment than 6 MiB.
inline constexpr uint64_t kMostCommandBytes = 8u << 20;
inline constexpr uint32_t kMostWords = 1u << 20;
inline constexpr int32_t kMostCpus = 1 << 16;
// The kernel brings whatever is asked for between these.
inline constexpr uint64_t kLeastSliceNs = 100'000, kMostSliceNs = 100'000'000;
// "The broker's own user", where it is not root or where it may run programs as root.
inline constexpr uint32_t kOwnUser = UINT32_MAX;

// Do not renumber: engine and broker meet here.
enum class Kind : uint32_t {
  kHello = 1,   // who is there
  kVouch,       // a client has submitted: its user's programs may be started from now on
  kTree,        // makes an empty process tree
  kDropTree,    // kills and removes it
  kTreeState,   // whether a tree has processes
  kLaunch,      // starts a launcher, and a helper beside it
  kCounters,    // opens counters on a process that was launched
  kEnd,         // kills a tree and a process, and reaps the process
  kKernelLog,   // opens the kernel's log for reading
  kKnob,        // turns a knob of the table
  kRestore,     // turns back what was turned
  kGive,        // gives a directory of the engine's to a user
};
inline constexpr uint32_t kFirstKind = 1, kLastKind = 12;
std::string_view name(Kind kind);

struct Head {
  uint32_t version = kVersion;
  Kind kind{};
};

// --- requests ------------------------------------------------------------------------------------------------

struct Hello {
  static constexpr Kind kKind = Kind::kHello;
  Head head{kVersion, kKind};
};

// Beside it: the client's socket, as accept() gave it.
struct Vouch {
  static constexpr Kind kKind = Kind::kVouch;
  Head head{kVersion, kKind};
};

struct MakeTree {
  static constexpr Kind kKind = Kind::kTree;
  static constexpr uint32_t kIsolated = 1;  // on the CPU that knob cpuset has freed
  static constexpr uint32_t kLimited = 2;   // launches will name limits of it; the answer says which there can be
  static constexpr uint32_t kPrivateIpc = 4;  // System V objects, queues and /dev/shm of its own; the answer says whether
  // /tmp and /var/tmp of its own, too; only with kPrivateIpc. engine::TemporaryNames says what the names are.
  static constexpr uint32_t kPrivateTmp = 8;
  static constexpr uint32_t kAllFlags = 15;
  Head head{kVersion, kKind};
  uint32_t wanted = 0;  // engine::TreeKind, the best that may be taken
  uint32_t flags = 0;
  int32_t own_cpu = -1;  // where the broker works from now on, away from the trials; -1: as it is
  uint32_t zero = 0;
  char tmp[kNameRoom] = {}, var_tmp[kNameRoom] = {};
  char kept[kMostKept][kNameRoom] = {};
};

struct DropTree {
  static constexpr Kind kKind = Kind::kDropTree;
  Head head{kVersion, kKind};
  uint32_t tree = 0;
  uint32_t zero = 0;
};

struct TreeState {
  static constexpr Kind kKind = Kind::kTreeState;
  Head head{kVersion, kKind};
  uint32_t tree = 0;
  uint32_t zero = 0;
};

struct Limit {
  uint32_t resource = 0;  // RLIMIT_*
  uint32_t zero = 0;
  uint64_t soft = 0, hard = 0;
};

// Beside it: the command (a sealed memfd of strings, each u32 length, bytes, one 0: path of the program, directory,
// arguments, environment), then stdin, stdout, stderr, then what the flags name, in their order.
struct Launch {
  static constexpr Kind kKind = Kind::kLaunch;
  static constexpr uint32_t kNoAslr = 1, kNoThp = 2, kNoNewPrivs = 4;
  static constexpr uint32_t kHelper = 8;           // a stab-helper is started and gets the other end of the socket
  static constexpr uint32_t kHelperSocket = 16;    // a descriptor beside: the program's end of a socket
  static constexpr uint32_t kReportPipe = 32;      // a descriptor beside: where a report goes
  static constexpr uint32_t kBeginsTrial = 64;     // what was left in the tree's own IPC and /dev/shm is gone
  static constexpr uint32_t kHelperScript = 128;   // a descriptor beside: the helper's layout script, data to the broker
  static constexpr uint32_t kAllFlags = 255;
  Head head{kVersion, kKind};
  uint32_t flags = 0;
  uint32_t uid = kOwnUser;
  uint32_t tree = 0;      // 0: outside of every tree, spared when a tree is killed
  int32_t cpu = -1;       // of the program
  int32_t helper_cpu = -1;
  uint32_t helper_switches = 0;  // of runtime/helper/switches.h
  uint32_t zero = 0;
  uint32_t argc = 0, envc = 0;
  uint32_t limit_count = 0;
  uint64_t memory_bytes = 0;  // of the tree; 0: no limit
  uint64_t processes = 0;     // of the tree; 0: no limit
  uint64_t slice_ns = 0;      // of the program's time slices, kLeastSlice to kMostSlice; 0: what the kernel gives
  Limit limits[kMostLimits];
};

struct Counter {
  static constexpr uint32_t kGrouped = 1;  // counts in the same moments as the first grouped one that could be opened
  static constexpr uint32_t kNoKernel = 2, kNoHypervisor = 4, kNoGuest = 8;
  static constexpr uint32_t kAllFlags = 15;
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t config = 0, config1 = 0, config2 = 0;
};

struct OpenCounters {
  static constexpr Kind kKind = Kind::kCounters;
  Head head{kVersion, kKind};
  int32_t pid = 0;  // 0: the broker itself, to learn whether it could; no descriptor comes back
  uint32_t count = 0;
  Counter counters[kMostCounters];
};

struct End {
  static constexpr Kind kKind = Kind::kEnd;
  Head head{kVersion, kKind};
  uint32_t tree = 0;  // 0: none
  int32_t pid = 0;    // 0: none
};

struct OpenKernelLog {
  static constexpr Kind kKind = Kind::kKernelLog;
  Head head{kVersion, kKind};
};

struct TurnKnob {
  static constexpr Kind kKind = Kind::kKnob;
  Head head{kVersion, kKind};
  int32_t trial_cpu = -1, housekeeping_cpu = -1;
  char knob[32] = {};
  char word[64] = {};
};

struct RestoreKnobs {
  static constexpr Kind kKind = Kind::kRestore;
  Head head{kVersion, kKind};
};

// Beside it: the directory, open for reading.
struct Give {
  static constexpr Kind kKind = Kind::kGive;
  Head head{kVersion, kKind};
  uint32_t uid = 0;
  uint32_t zero = 0;
};

using Request = std::variant<Hello, Vouch, MakeTree, DropTree, TreeState, Launch, OpenCounters, End, OpenKernelLog, TurnKnob,
                             RestoreKnobs, Give>;

// --- answers -------------------------------------------------------------------------------------------------

// What a process used, as wait4 says it.
struct Usage {
  int64_t user_us = 0, system_us = 0, max_rss_kib = 0;
  int64_t minor_faults = 0, major_faults = 0, voluntary_switches = 0, involuntary_switches = 0;
  // Of its tree, since a process of it was reaped last: engine::LimitHits.
  uint64_t memory_kills = 0, outside_kills = 0, refused_processes = 0;
};

// One shape for all kinds. refused: `text` says why, `code` is an ErrorCode, nothing was done.
struct Answer {
  // flags
  static constexpr uint32_t kRefused = 1;
  static constexpr uint32_t kAlive = 2;      // kEnd, kTreeState: something still lives; ask again
  static constexpr uint32_t kReaped = 4;     // kEnd: status and usage are the process's
  static constexpr uint32_t kNotSet = 8;     // kKnob: text says why
  static constexpr uint32_t kNoMemoryLimit = 16, kNoProcessLimit = 32;  // kTree: it can't be given; text says why
  static constexpr uint32_t kSharedIpc = 64;           // kTree: it has none of its own; ipc_text says why
  static constexpr uint32_t kSharedTmp = 128;          // kTree: the same of /tmp and /var/tmp; tmp_text says why
  static constexpr uint32_t kAllFlags = 255;
  Head head;
  uint32_t flags = 0;
  uint32_t code = 0;
  uint32_t uid = 0, gid = 0;   // kHello: the broker's; kVouch: the client's; kGive: the owner's
  int32_t pid = 0;             // kHello: the broker's; kLaunch: who becomes the program
  int32_t helper = 0;          // kLaunch: the helper's pid
  uint32_t tree = 0;           // kTree
  uint32_t tree_kind = 0;      // kTree: engine::TreeKind
  int32_t status = 0;          // kEnd: of wait4
  uint32_t settings = 0;       // kRestore: how many were turned back
  Usage usage;                 // kEnd
  int32_t error_numbers[kMostCounters] = {};  // kCounters: 0 where a descriptor came back
  char text[512] = {};
  char ipc_text[256] = {};
  char tmp_text[256] = {};
};
// Descriptors beside an answer. kLaunch: go, status, then the helper's report where there is one. kCounters: those
// without an error number, in order. kKernelLog: one.

// --- bytes ---------------------------------------------------------------------------------------------------

inline constexpr size_t kMostRequestBytes = std::max(sizeof(OpenCounters), sizeof(MakeTree));
// What is received has room for one of another version, which says so in its head.
inline constexpr size_t kMostMessageBytes = 16384;
static_assert(kMostRequestBytes <= kMostMessageBytes && sizeof(Answer) <= kMostMessageBytes);

// How many descriptors have to lie beside it.
size_t descriptors_of(const Request& request);

std::string encode(const Request& request);
Result<Request> decode_request(std::string_view bytes, size_t descriptors);

std::string encode(const Answer& answer);
Result<Answer> decode_answer(std::string_view bytes, size_t descriptors);

// Of a message's head, if it is another than ours.
std::optional<uint32_t> other_version(std::string_view bytes);
// Whoever is at the other end, and what to do about it.
Error version_error(uint32_t brokers, uint32_t engines);
// As much of a refusal as a program of another version understands.
std::string encode_for_other_version(const Answer& answer);

// An answer that refuses; a text that is too long is cut.
Answer refusal(Kind kind, const Error& error);
// Copies as much as there is room for, and a 0.
void set_text(char* to, size_t room, std::string_view text);
// Whether it can be a knob or a word of one: letters, digits and "._-", none of them first but a letter
// or digit, at least one.
bool is_simple_name(std::string_view text);
// Whether it can name an entry of a directory, and nothing else.
bool is_entry_name(std::string_view text);

}  // namespace stab::broker
