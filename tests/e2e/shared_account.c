/* shared_account COMMAND...: runs a command as accounts of shared machines often have it: it can make no namespace of users, and
   the kernel refuses to count. Both as the kernel says it: ENOSPC where user.max_user_namespaces is 0, EACCES above the level of
   kernel.perf_event_paranoid. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define UNLESS(number, instructions) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, instructions)

int main(int count, char** words) {
  struct sock_filter code[] = {
      LOAD(nr),
      UNLESS(SYS_perf_event_open, 1), REFUSE(EACCES),
      UNLESS(SYS_clone3, 1), REFUSE(ENOSYS),  /* its flags lie in memory; libc goes on with clone */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 1, 0),
      UNLESS(SYS_clone, 3),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1), REFUSE(ENOSPC),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (count < 2) return 2;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("shared_account");
    return 2;
  }
  execvp(words[1], words + 1);
  perror(words[1]);
  return 127;
}
