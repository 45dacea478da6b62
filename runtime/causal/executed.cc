// Executed programs, which are ours no more unless they attach again, and the ends of processes.
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/interposed.h"
#include "runtime/sys.h"

// Those that are defined here.
#define STAB_EXECUTED(ONE) ONE(execve) ONE(execv) ONE(execvp) ONE(execvpe) ONE(fexecve) ONE(execveat)
STAB_EXECUTED(STAB_KEPT)

namespace stab::causal {

void find_real_executed() { STAB_EXECUTED(STAB_FIND) }

namespace {

template <typename Execute>
int execute(Execute execute) {
  // A child of vfork has its parent's place.
  if (!is_profiled() || program.pid != sys::getpid()) return execute();
  const int threads = begin_exec();
  const int result = execute();
  const int saved_errno = errno;
  end_failed_exec(threads);
  errno = saved_errno;
  return result;
}

// Of execl and its kin: what the list has more than its first, and the terminating null.
int count_arguments(va_list list) {
  int count = 1;
  while (va_arg(list, char*) != nullptr) ++count;
  return count;
}
void take_arguments(const char* first, va_list list, int count, char** out) {
  out[0] = const_cast<char*>(first);
  for (int i = 1; i <= count; ++i) out[i] = va_arg(list, char*);
}

}  // namespace
}  // namespace stab::causal

STAB_INTERPOSED(int, execve, (const char* path, char* const* arguments, char* const* environment)) {
  STAB_REAL(execve, int (*)(const char*, char* const*, char* const*));
  return stab::causal::execute([&] { return real(path, arguments, environment); });
}
STAB_INTERPOSED(int, execv, (const char* path, char* const* arguments)) {
  STAB_REAL(execv, int (*)(const char*, char* const*));
  return stab::causal::execute([&] { return real(path, arguments); });
}
STAB_INTERPOSED(int, execvp, (const char* file, char* const* arguments)) {
  STAB_REAL(execvp, int (*)(const char*, char* const*));
  return stab::causal::execute([&] { return real(file, arguments); });
}
STAB_INTERPOSED(int, execvpe, (const char* file, char* const* arguments, char* const* environment)) {
  STAB_REAL(execvpe, int (*)(const char*, char* const*, char* const*));
  return stab::causal::execute([&] { return real(file, arguments, environment); });
}
STAB_INTERPOSED(int, fexecve, (int fd, char* const* arguments, char* const* environment)) {
  STAB_REAL(fexecve, int (*)(int, char* const*, char* const*));
  return stab::causal::execute([&] { return real(fd, arguments, environment); });
}
STAB_INTERPOSED(int, execveat, (int folder, const char* path, char* const* arguments, char* const* environment, int flags)) {
  STAB_REAL(execveat, int (*)(int, const char*, char* const*, char* const*, int));
  return stab::causal::execute([&] { return real(folder, path, arguments, environment, flags); });
}

// The list on the stack, as libc has it: no memory may be asked for in a child of vfork's.
#define STAB_ARGUMENTS_OF_LIST(FIRST)                              \
  va_list list;                                                    \
  va_start(list, FIRST);                                           \
  const int count = (FIRST) == nullptr ? 0 : count_arguments(list); \
  va_end(list);                                                    \
  auto** const arguments = static_cast<char**>(__builtin_alloca((static_cast<size_t>(count) + 1) * sizeof(char*))); \
  va_start(list, FIRST);                                           \
  take_arguments(FIRST, list, count, arguments)

STAB_INTERPOSED(int, execl, (const char* path, const char* first, ...)) {
  using namespace stab::causal;
  STAB_ARGUMENTS_OF_LIST(first);
  va_end(list);
  STAB_REAL(execv, int (*)(const char*, char* const*));
  return execute([&] { return real(path, arguments); });
}
STAB_INTERPOSED(int, execlp, (const char* file, const char* first, ...)) {
  using namespace stab::causal;
  STAB_ARGUMENTS_OF_LIST(first);
  va_end(list);
  STAB_REAL(execvp, int (*)(const char*, char* const*));
  return execute([&] { return real(file, arguments); });
}
STAB_INTERPOSED(int, execle, (const char* path, const char* first, ...)) {
  using namespace stab::causal;
  STAB_ARGUMENTS_OF_LIST(first);
  char* const* const environment = va_arg(list, char* const*);
  va_end(list);
  STAB_REAL(execve, int (*)(const char*, char* const*, char* const*));
  return execute([&] { return real(path, arguments, environment); });
}

STAB_INTERPOSED(void, _exit, (int status)) {
  using namespace stab::causal;
  pay_first();
  if (is_profiled()) end_process();
  stab::sys::exit_process(status);
}
STAB_INTERPOSED(void, _Exit, (int status)) {
  using namespace stab::causal;
  pay_first();
  if (is_profiled()) end_process();
  stab::sys::exit_process(status);
}
