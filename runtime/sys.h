// Every operating system call of the runtime, behind one header.
//
// The runtime lives inside other people's processes: it must not touch errno, must not be interposed by the
// program's own `read` or `mmap`, and must work before libc is set up and in a helper process that is a bare
// clone. So each call is a raw system call. All of them return what the kernel returns: a value >= 0, or minus
// the error number. None of them is a cancellation point.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/arch/arch.h"

namespace stab::sys {

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return arch::system_call(number, a, b, c, d, e, f);
}

template <typename T>
inline long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// True for a result of mmap that is an address.
inline bool is_address(void* result) {
  return reinterpret_cast<unsigned long>(result) < static_cast<unsigned long>(-4095L);
}
inline int error_of(void* result) { return static_cast<int>(reinterpret_cast<long>(result)); }

// Files. Descriptors are always close-on-exec.
inline int open(const char* path, int flags, int mode = 0) {
  return static_cast<int>(call(SYS_openat, AT_FDCWD, word(path), flags | O_CLOEXEC, mode));
}
inline int open_at(int directory, const char* path, int flags, int mode = 0) {
  return static_cast<int>(call(SYS_openat, directory, word(path), flags | O_CLOEXEC, mode));
}
inline int close(int fd) { return static_cast<int>(call(SYS_close, fd)); }
// Open across exec. pre: fd != at.
inline int duplicate_at(int fd, int at) {
  return static_cast<int>(call(SYS_dup3, fd, at, 0));
}
inline long read(int fd, void* to, size_t bytes) { return call(SYS_read, fd, word(to), static_cast<long>(bytes)); }
inline long write(int fd, const void* from, size_t bytes) {
  return call(SYS_write, fd, word(from), static_cast<long>(bytes));
}
inline long pread(int fd, void* to, size_t bytes, uint64_t at) {
  return call(SYS_pread64, fd, word(to), static_cast<long>(bytes), static_cast<long>(at));
}
inline long pwrite(int fd, const void* from, size_t bytes, uint64_t at) {
  return call(SYS_pwrite64, fd, word(from), static_cast<long>(bytes), static_cast<long>(at));
}
// Reads until `bytes` are there: the number read, short only at the end of the file, or minus the error.
inline long pread_full(int fd, void* to, size_t bytes, uint64_t at) {
  size_t done = 0;
  while (done < bytes) {
    const long got = pread(fd, static_cast<char*>(to) + done, bytes - done, at + done);
    if (got == -EINTR) continue;
    if (got < 0) return got;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<long>(done);
}
// Writes all of it: 0, or minus the error.
inline int write_full(int fd, const void* from, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const long put = write(fd, static_cast<const char*>(from) + done, bytes - done);
    if (put == -EINTR) continue;
    if (put < 0) return static_cast<int>(put);
    done += static_cast<size_t>(put);
  }
  return 0;
}
// The same, and nothing is left behind it in a file: another process may have written more to the same path.
inline int write_over(int fd, const void* from, size_t bytes) {
  const long at = call(SYS_lseek, fd, 0, SEEK_CUR);  // a pipe has no place
  if (at >= 0) call(SYS_ftruncate, fd, at);
  return write_full(fd, from, bytes);
}
// Reads a small file such as those of /proc from the start, at most `room` - 1 bytes, and ends it with a 0.
inline long read_small(int directory, const char* path, char* to, size_t room) {
  const int fd = open_at(directory, path, O_RDONLY);
  if (fd < 0) return fd;
  const long got = read(fd, to, room - 1);
  close(fd);
  if (got >= 0) to[got] = 0;
  return got;
}
inline int truncate(int fd, uint64_t bytes) {
  return static_cast<int>(call(SYS_ftruncate, fd, static_cast<long>(bytes)));
}
inline int memfd(const char* name, unsigned flags) {
  return static_cast<int>(call(SYS_memfd_create, word(name), flags));
}
// For memory that is executed, which newer kernels are told (MFD_EXEC; older headers lack it).
inline int memfd_of_code(const char* name, unsigned flags) {
  constexpr unsigned kExec = 0x10;
  const int fd = memfd(name, flags | kExec);
  return fd == -EINVAL ? memfd(name, flags) : fd;
}
inline int add_seals(int fd, int seals) { return static_cast<int>(call(SYS_fcntl, fd, F_ADD_SEALS, seals)); }

// Memory. Test results with is_address.
inline void* map(void* at, size_t bytes, int protection, int flags, int fd = -1, uint64_t offset = 0) {
  return reinterpret_cast<void*>(
      call(SYS_mmap, word(at), static_cast<long>(bytes), protection, flags, fd, static_cast<long>(offset)));
}
inline int unmap(void* at, size_t bytes) {
  return static_cast<int>(call(SYS_munmap, word(at), static_cast<long>(bytes)));
}

// Processes and time.
inline int getpid() { return static_cast<int>(call(SYS_getpid)); }
inline int gettid() { return static_cast<int>(call(SYS_gettid)); }
[[noreturn]] inline void exit_process(int status) {
  for (;;) call(SYS_exit_group, status);
}
inline int pidfd_open(int pid) { return static_cast<int>(call(SYS_pidfd_open, pid, 0)); }
inline uint64_t ns_of(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}
// A seccomp filter may refuse clocks; monotonic_ns is 0 then.
inline bool has_clock() {
  timespec now{};
  return call(SYS_clock_gettime, CLOCK_MONOTONIC, word(&now)) == 0;
}
inline uint64_t monotonic_ns() {
  timespec now{};
  call(SYS_clock_gettime, CLOCK_MONOTONIC, word(&now));
  return ns_of(now);
}
inline uint64_t process_cpu_ns() {
  timespec now{};
  call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, word(&now));
  return ns_of(now);
}

// Futexes, shared between processes. wait returns 0, -EAGAIN (value differs), -ETIMEDOUT or -EINTR.
// deadline_ns is on CLOCK_MONOTONIC; 0 waits forever.
inline int futex_wait(const uint32_t* at, uint32_t expected, uint64_t deadline_ns) {
  timespec until{static_cast<time_t>(deadline_ns / 1'000'000'000u), static_cast<long>(deadline_ns % 1'000'000'000u)};
  return static_cast<int>(call(SYS_futex, word(at), FUTEX_WAIT_BITSET, static_cast<long>(expected),
                               deadline_ns == 0 ? 0 : word(&until), 0, static_cast<long>(FUTEX_BITSET_MATCH_ANY)));
}
// The same, for so long from now on.
inline int futex_wait_for(const uint32_t* at, uint32_t expected, uint64_t time_ns) {
  timespec time{static_cast<time_t>(time_ns / 1'000'000'000u), static_cast<long>(time_ns % 1'000'000'000u)};
  return static_cast<int>(call(SYS_futex, word(at), FUTEX_WAIT, static_cast<long>(expected), word(&time)));
}
inline void futex_wake(const uint32_t* at) { call(SYS_futex, word(at), FUTEX_WAKE, 0x7fffffff); }

}  // namespace stab::sys
