/* For programs that take away from themselves what a plain build never needs. */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From now on any of these system calls, 8 at most, is the end of the process. flags: of SECCOMP_SET_MODE_FILTER. 0: done. */
static inline int forbid_calls(const int* calls, int count, unsigned flags) {
  struct sock_filter code[8 + 3];
  if (count > 8) return -1;
  code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < count; ++i)
    code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], (unsigned char)(count - i), 0);
  code[1 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[2 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog filter = {(unsigned short)(count + 3), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

/* Handlers of SIGUSR1 run on a stack of so many bytes, a multiple of the page, with nothing behind it. 0: done. */
static inline int handle_on_small_stack(size_t bytes, void (*handler)(int)) {
  const size_t page = 4096;
  char* const room = (char*)mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || mprotect(room, page, PROT_NONE) != 0) return -1;
  const stack_t own = {.ss_sp = room + page, .ss_flags = 0, .ss_size = bytes};
  struct sigaction action = {.sa_flags = SA_ONSTACK};
  action.sa_handler = handler;
  return sigaltstack(&own, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0 ? -1 : 0;
}
