/* A program that lets itself make no system calls but those it knows: libc has clocks without one, and knows its own number. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { kRounds = 40 };

static unsigned __attribute__((noinline)) mix(unsigned sum, const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) sum = sum * 31 + bytes[i];
  return sum;
}

static unsigned work(int rounds) {
  unsigned sum = 1;
  for (int i = 0; i < rounds; ++i) {
    unsigned char* const bytes = malloc((size_t)(64 + i % 2000));
    if (bytes == NULL) return 0;
    memset(bytes, i, 64);
    sum = mix(sum, bytes, 64);
    free(bytes);
  }
  return sum;
}

int main(void) {
  const unsigned before = work(20000);
  const struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], (struct sock_filter*)code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 2;
  for (int i = 0; i < kRounds; ++i)
    if (work(20000) != before) return 3;
  printf("%u\n", before);
  return 0;
}
