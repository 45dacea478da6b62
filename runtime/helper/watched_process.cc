// Reading another process's threads; watched_process.h has the method, sampler.cc the part that catches running threads.
//
// A stack is scanned conservatively: every aligned word from sp to the end of the mapping that holds it, and on through what
// lies right behind that as long as the thread's descriptor, which ends its stack, hasn't been met. Signal handlers on a
// sigaltstack are found by the return address of their frame, libc's sigreturn trampoline: behind it lies the interrupted sp,
// and the scan goes on there.
#include "runtime/helper/watched_process.h"

#include <string.h>
#include <sys/stat.h>

#include "runtime/arch/arch.h"
#include "runtime/helper/look.h"
#include "runtime/helper/text.h"
#include "runtime/same_text.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

// The state of a thread as /proc shows it: equal before and after means that it did not run.
struct Snapshot {
  char syscall[256];
  char schedstat[128];
};

long read_thread_file(const Process& process, int tid, const char* name, char* to, size_t room) {
  char path[64];
  Text(path, sizeof path) << "task/" << tid << "/" << name;
  return sys::read_small(process.directory, path, to, room);
}

// 0, or minus the error.
long take(const Process& process, int tid, Snapshot& out) {
  long got = read_thread_file(process, tid, "schedstat", out.schedstat, sizeof out.schedstat);
  if (got < 0) return got;
  got = read_thread_file(process, tid, "syscall", out.syscall, sizeof out.syscall);
  return got < 0 ? got : 0;
}

// The kernel's line: "running", "-1 sp pc", or "nr a1 a2 a3 a4 a5 a6 sp pc".
struct Blocked {
  int64_t number = -1;
  uint64_t first_argument = 0;
  uint64_t sp = 0;
  uint64_t pc = 0;
};
bool parse_blocked(const char* line, Blocked& out) {
  uint64_t words[9];
  int count = 0;
  const char* at = line;
  const bool outside = at[0] == '-';
  if (outside) ++at;
  while (count < 9 && take_number(at, words[count])) {
    ++count;
    while (*at == ' ') ++at;
  }
  if (outside && count == 3) {
    out = {-1, 0, words[1], words[2]};
    return true;
  }
  if (!outside && count == 9) {
    out = {static_cast<int64_t>(words[0]), words[1], words[7], words[8]};
    return true;
  }
  return false;
}

// A child runs on this thread's stack or in its code until it execs.
bool may_be_in_vfork(const Blocked& blocked) {
  if (blocked.number == SYS_vfork || blocked.number == SYS_clone3) return true;
  return blocked.number == SYS_clone && (blocked.first_argument & CLONE_VFORK) != 0;
}

// What follows the name, which may hold anything, in a stat file: "state ppid pgrp session tty_nr tpgid flags ...".
const char* fields_of_stat(const char* stat) {
  const char* name_end = strrchr(stat, ')');
  return name_end != nullptr && name_end[1] == ' ' ? name_end + 2 : "";
}

// The kernel's flags of a process or thread (PF_*, linux/sched.h) in such a file, which everybody may read.
bool take_flags(const char* stat, uint64_t& flags) {
  constexpr int kFlags = 6;  // that many fields before it
  const char* at = fields_of_stat(stat);
  for (int spaces = 0; spaces < kFlags && *at != 0; ++at) spaces += *at == ' ';
  return take_number(at, flags);
}

// False: it is gone.
bool read_flags(const Process& process, uint64_t& flags) {
  char stat[512];
  return sys::read_small(process.directory, "stat", stat, sizeof stat) > 0 && take_flags(stat, flags);
}
constexpr uint64_t kExiting = 4;         // PF_EXITING
constexpr uint64_t kIoWorker = 0x10;     // PF_IO_WORKER, of io_uring: listed among the threads, and nothing but kernel
constexpr uint64_t kForkNoExec = 0x40;   // PF_FORKNOEXEC

// What a thread is that couldn't be read. One on its way out can't be, since it has given up its memory, and /proc shows its
// files as root's then; nor can anything of an address space that exec has just taken away.
Look why_unreadable(const Looker& looker, const Process& process, int tid, long error) {
  if (means_gone(error) || has_ended(process, tid)) return Look::kGone;
  if (!is_alive(process, looker.readable)) return Look::kBusy;
  return means_denied(error) ? Look::kDenied : Look::kUnreadable;
}

bool open_directory(Process& process) {
  char path[64];
  Text(path, sizeof path) << "/proc/" << process.pid;
  if (process.directory < 0) process.directory = sys::open(path, O_RDONLY | O_DIRECTORY);
  return process.directory >= 0;
}

// What a line of maps says of its file: " rw-p offset major:minor inode   path", of which `rest` lies behind the inode.
bool take_file(const char* at, const char* rest, MappedFile& out) {
  uint64_t major = 0, minor = 0;
  for (int spaces = 0; spaces < 2 && *at != '\n'; ++at) spaces += *at == ' ';
  if (!take_hex(at, out.offset) || *at++ != ' ' || !take_hex(at, major) || *at++ != ':' || !take_hex(at, minor)) return false;
  out.device = device_number(major, minor);
  while (*rest == ' ') ++rest;
  size_t length = 0;
  while (rest[length] != '\n' && length + 1 < sizeof out.path) out.path[length] = rest[length], ++length;
  out.path[length] = 0;
  return true;
}

bool is_same_file(int one, int other) {
  struct stat a, b;
  return sys::call(SYS_fstat, one, sys::word(&a)) == 0 && sys::call(SYS_fstat, other, sys::word(&b)) == 0 &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

uint64_t device_number(uint64_t major, uint64_t minor) {
  return (major & 0xfff) << 8 | (major & ~uint64_t{0xfff}) << 32 | (minor & 0xff) | (minor & ~uint64_t{0xff}) << 12;
}

bool find_mapping(const Process& process, uint64_t address, uint8_t* buffer, Mapping& out, MappedFile* file) {
  MapQuery query{};
  query.size = sizeof query;
  query.query_addr = address;
  if (file != nullptr) {
    query.vma_name_size = sizeof file->path;
    query.vma_name_addr = reinterpret_cast<uint64_t>(file->path);
  }
  const long asked = sys::call(SYS_ioctl, process.maps, static_cast<long>(kProcmapQuery), sys::word(&query));
  if (asked == 0) {
    constexpr uint64_t kWritable = 2;  // PROCMAP_QUERY_VMA_WRITABLE
    out = {query.vma_start, query.vma_end, query.inode, (query.vma_flags & kWritable) != 0};
    if (file == nullptr) return true;
    file->offset = query.vma_offset;
    file->device = device_number(query.dev_major, query.dev_minor);
    if (query.vma_name_size == 0) file->path[0] = 0;
    return true;
  }
  if (asked == -ENOENT || asked == -ESRCH) return false;
  // An older kernel: read the text, a buffer at a time, a partial last line carried over.
  size_t held = 0;
  uint64_t offset = 0;
  for (;;) {
    const long got = sys::pread(process.maps, buffer + held, kLookBufferBytes - held, offset);
    if (got <= 0) return false;
    offset += static_cast<uint64_t>(got);
    held += static_cast<size_t>(got);
    size_t line = 0;
    for (size_t i = 0; i < held; ++i) {
      if (buffer[i] != '\n') continue;
      const char* at = reinterpret_cast<const char*>(buffer + line);
      line = i + 1;
      if (!take_hex(at, out.start) || *at++ != '-' || !take_hex(at, out.end)) continue;
      if (address < out.start || address >= out.end) continue;
      out.writable = at[0] == ' ' && at[1] == 'r' && at[2] == 'w';  // " rw-p offset device inode"
      const char* const behind = at;
      for (int spaces = 0; spaces < 4 && *at != '\n'; ++at) spaces += *at == ' ';
      return take_number(at, out.file) && (file == nullptr || take_file(behind, at, *file));
    }
    memmove(buffer, buffer + line, held - line);
    held -= line;
    if (held == kLookBufferBytes) return false;
  }
}

uint64_t end_of_frames(const Looker& looker, const Mapping& stack, uint64_t sp) {
  const uint64_t base = __atomic_load_n(looker.main_base, __ATOMIC_ACQUIRE);
  return base > sp && base <= stack.end ? base : stack.end;
}

void note_return_from_handler(const Looker& looker, uint64_t pc, uint64_t sp, SignalFrames& frames) {
  if (looker.signal_return == 0 || pc - looker.signal_return >= arch::kTrampolineBytes) return;
  frames.at[frames.count++] = arch::frame_of_trampoline(sp);
}

bool scan_words(const Looker& looker, const uint8_t* bytes, size_t size, uint64_t address, SlotSet& live,
                SignalFrames& frames) {
  for (size_t at = 0; at + 8 <= size; at += 8) {
    uint64_t word;
    memcpy(&word, bytes + at, 8);
    live |= looker.slot_of(word);
    if (word == address + at && at + arch::kDescriptorBytes <= size) {
      frames.met_descriptor |= arch::is_descriptor(bytes + at, address + at);
      continue;
    }
    if (word != looker.signal_return || word == 0) continue;
    if (frames.count == SignalFrames::kMost) return false;
    frames.at[frames.count++] = address + at;
  }
  return true;
}

Reading scan_memory(const Looker& looker, const Process& process, uint64_t from, uint64_t to, SlotSet& live,
                    SignalFrames& frames) {
  while (from < to) {
    const size_t step = to - from < kLookBufferBytes ? static_cast<size_t>(to - from) : kLookBufferBytes;
    const long got = sys::pread_full(process.memory, looker.buffer, step, from);
    if (got != static_cast<long>(step)) return Reading::kFailed;
    if (!scan_words(looker, looker.buffer, step, from, live, frames)) return Reading::kTooMuch;
    from += step;
    if (from < to && sys::process_cpu_ns() >= looker.give_up_cpu_ns) return Reading::kTooMuch;
  }
  return Reading::kDone;
}

bool goes_on(const Looker& looker, const Process& process, uint64_t end, const SignalFrames& frames, Mapping& stack) {
  if (end != stack.end || frames.met_descriptor) return false;
  Mapping next;
  if (!find_mapping(process, end, looker.buffer, next) || next.start != end || !next.writable || next.file != stack.file)
    return false;
  stack.end = next.end;
  return true;
}

Reading scan_stack(const Looker& looker, const Process& process, uint64_t sp, Mapping& stack, SlotSet& live,
                   SignalFrames& frames) {
  for (uint64_t from = sp & ~uint64_t{7};;) {
    const uint64_t end = end_of_frames(looker, stack, sp);
    const Reading reading = scan_memory(looker, process, from, end, live, frames);
    if (reading != Reading::kDone || !goes_on(looker, process, end, frames, stack)) return reading;
    from = end;
  }
}

Reading scan_interrupted(const Looker& looker, const Process& process, uint64_t scanned_from, uint64_t scanned_to, SlotSet& live,
                         SignalFrames& frames) {
  for (uint32_t i = 0; i < frames.count; ++i) {
    uint64_t registers[arch::kFrameRegisterCount];
    if (sys::pread_full(process.memory, registers, sizeof registers, frames.at[i] + arch::kFrameRegisters) != sizeof registers)
      continue;
    if (!arch::is_signal_frame(registers)) continue;
    const uint64_t sp = arch::interrupted_sp(registers);
    if (sp >= scanned_from && sp < scanned_to) continue;
    Mapping stack;
    if (!find_mapping(process, sp, looker.buffer, stack) || !stack.writable) continue;
    frames.met_descriptor = false;
    const Reading reading = scan_stack(looker, process, sp, stack, live, frames);
    if (reading != Reading::kDone) return reading;
  }
  return Reading::kDone;
}

bool is_numbered(const Process& process) {
  char status[4096];
  if (sys::read_small(process.directory, "status", status, sizeof status) <= 0) return false;
  // One number for each namespace from that of /proc down to the process's.
  constexpr char kLabel[] = "\nNSpid:\t";
  const char* at = strstr(status, kLabel);
  if (at == nullptr) return false;
  at += strlen(kLabel);
  uint64_t number = 0;
  if (!take_number(at, number) || *at != '\n' || number != static_cast<uint64_t>(process.pid)) return false;
  // What the helper finds under that number is the same directory, and no other comes to its place while it is open.
  Process found;
  found.pid = process.pid;
  const bool same = open_directory(found) && is_same_file(found.directory, process.directory);
  close_process(found);
  return same;
}

bool open_process(Process& process) {
  if (!open_directory(process)) return false;
  if (process.memory < 0) process.memory = sys::open_at(process.directory, "mem", O_RDONLY);
  if (process.maps < 0) process.maps = sys::open_at(process.directory, "maps", O_RDONLY);
  return process.memory >= 0 && process.maps >= 0;
}

void close_process(Process& process) {
  if (process.memory >= 0) sys::close(process.memory);
  if (process.maps >= 0) sys::close(process.maps);
  if (process.directory >= 0) sys::close(process.directory);
  process = Process{};
}

bool is_alive(const Process& process, uint64_t readable_address) {
  char byte;
  return sys::pread(process.memory, &byte, 1, readable_address) == 1;
}

bool is_ending(const Process& process) {
  uint64_t flags = 0;
  return !read_flags(process, flags) || (flags & kExiting) != 0;
}

bool is_unexeced_fork(const Process& process) {
  uint64_t flags = 0;
  return read_flags(process, flags) && (flags & (kForkNoExec | kExiting)) == kForkNoExec;
}

bool has_left_its_memory(const Process& process) {
  uint64_t flags = 0;
  return !read_flags(process, flags) || (flags & kForkNoExec) == 0;
}

bool has_ended(const Process& process, int tid) {
  char stat[512];
  const long got = read_thread_file(process, tid, "stat", stat, sizeof stat);
  if (got < 0) return means_gone(got);
  uint64_t flags = 0;
  return take_flags(stat, flags) && (flags & (kExiting | kIoWorker)) != 0;
}

bool waits_in_vfork(const Process& process, int tid) {
  char line[256];
  Blocked blocked;
  return read_thread_file(process, tid, "syscall", line, sizeof line) > 0 && parse_blocked(line, blocked) &&
         may_be_in_vfork(blocked);
}

Look look_at_blocked(const Looker& looker, const Process& process, int tid, SlotSet& live) {
  live = 0;
  Snapshot before, after;
  long failed = take(process, tid, before);
  if (failed < 0) return why_unreadable(looker, process, tid, failed);
  if (before.syscall[0] == 'r') return Look::kRunning;
  Blocked blocked;
  if (!parse_blocked(before.syscall, blocked)) return Look::kUnreadable;
  if (blocked.sp == 0) return has_ended(process, tid) ? Look::kGone : Look::kBusy;
  if (may_be_in_vfork(blocked)) return Look::kBusy;

  live = looker.slot_of(blocked.pc);
  Mapping stack;
  SignalFrames frames;
  const uint64_t sp = blocked.sp & ~uint64_t{7};
  note_return_from_handler(looker, blocked.pc, sp, frames);
  Reading reading = Reading::kFailed;
  if (find_mapping(process, sp, looker.buffer, stack))
    reading = scan_stack(looker, process, sp, stack, live, frames);
  if (reading == Reading::kDone) reading = scan_interrupted(looker, process, sp, stack.end, live, frames);
  // However the thread moved meanwhile: the time is gone.
  if (reading == Reading::kTooMuch) return Look::kTooLarge;
  failed = take(process, tid, after);
  if (failed < 0) return why_unreadable(looker, process, tid, failed);
  if (!same_text(before.syscall, after.syscall) || !same_text(before.schedstat, after.schedstat)) return Look::kBusy;
  return reading == Reading::kDone ? Look::kSeen : why_unreadable(looker, process, tid, -EFAULT);
}

}  // namespace stab::helper
