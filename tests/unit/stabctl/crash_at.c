// Preloaded into stabctl and stabd: dies by SIGKILL just before the CRASH_AT-th call that changes something outside
// the process (a write, a sync, a rename, a removal, a new process). With CRASH_COUNT=file the number of such calls
// is written there at exit. Calls are counted over all threads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;

static void count(void) {
  static long crash_at = -1;
  if (crash_at < 0) crash_at = getenv("CRASH_AT") ? atol(getenv("CRASH_AT")) : 0;
  if (atomic_fetch_add(&calls, 1) + 1 == crash_at) kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void report(void) {
  const char* path = getenv("CRASH_COUNT");
  if (path == NULL) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld", atomic_load(&calls));
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  syscall(SYS_write, fd, text, (size_t)length);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t bytes) { return count(), REAL(write)(fd, data, bytes); }
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t at) { return count(), REAL(pwrite64)(fd, data, bytes, at); }
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) { return count(), REAL(pwrite)(fd, data, bytes, at); }
int fsync(int fd) { return count(), REAL(fsync)(fd); }
int fdatasync(int fd) { return count(), REAL(fdatasync)(fd); }
int syncfs(int fd) { return count(), REAL(syncfs)(fd); }
int ftruncate64(int fd, off64_t size) { return count(), REAL(ftruncate64)(fd, size); }
int ftruncate(int fd, off_t size) { return count(), REAL(ftruncate)(fd, size); }
int rename(const char* from, const char* to) { return count(), REAL(rename)(from, to); }
int unlink(const char* path) { return count(), REAL(unlink)(path); }
int rmdir(const char* path) { return count(), REAL(rmdir)(path); }
int mkdir(const char* path, mode_t mode) { return count(), REAL(mkdir)(path, mode); }
int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const argv[], char* const envp[]) {
  return count(), REAL(posix_spawn)(pid, path, actions, attributes, argv, envp);
}
