// The program's own definitions come before libc's, for the libraries that it loads, too.
#include "dying_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

namespace stab::engine {
namespace {

std::atomic<long> calls{0}, deadly{0};

void count() {
  if (calls.fetch_add(1) + 1 == deadly) ::_exit(kDiedStatus);
}

template <typename Function>
Function* real(const char* name, Function*) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void die_before_call(long n) {
  calls = 0;
  deadly = n;
}
long calls_so_far() {
  return calls;
}

}  // namespace stab::engine

#define REAL(name) stab::engine::real(#name, &name)

extern "C" {
// NOLINTBEGIN: libc's names
ssize_t write(int fd, const void* data, size_t bytes) { return stab::engine::count(), REAL(write)(fd, data, bytes); }
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t at) {
  return stab::engine::count(), REAL(pwrite64)(fd, data, bytes, at);
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) {
  return stab::engine::count(), REAL(pwrite)(fd, data, bytes, at);
}
int fsync(int fd) { return stab::engine::count(), REAL(fsync)(fd); }
int fdatasync(int fd) { return stab::engine::count(), REAL(fdatasync)(fd); }
int ftruncate64(int fd, off64_t size) noexcept { return stab::engine::count(), REAL(ftruncate64)(fd, size); }
int ftruncate(int fd, off_t size) noexcept { return stab::engine::count(), REAL(ftruncate)(fd, size); }
int rename(const char* from, const char* to) noexcept { return stab::engine::count(), REAL(rename)(from, to); }
int unlink(const char* path) noexcept { return stab::engine::count(), REAL(unlink)(path); }
int link(const char* from, const char* to) noexcept { return stab::engine::count(), REAL(link)(from, to); }
// NOLINTEND
}
