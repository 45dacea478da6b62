/* Programs that exec leaves a past to: a signal that waits for them, a child that ends early in them, orphans that become
   their children. They see their own children, and all of those. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "repeat.h"

static int pending(int signal) {
  sigset_t set;
  CHECK(sigpending(&set) == 0);
  return sigismember(&set, signal);
}

static int no_child(void) { return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD; }

static pid_t child_after(unsigned microseconds) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  usleep(microseconds);
  _exit(3);
}

/* Becomes another case of this program. */
static void become(const char* name, const char* word) {
  execl("/proc/self/exe", "program", name, word, (char*)NULL);
  CHECK(!"exec");
}

/* Runs a case in a process of its own, after `prepare` there. */
static void in_child(const char* name, void (*prepare)(void)) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    prepare();
    become(name, "");
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void leave_a_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  const pid_t child = child_after(0);
  CHECK(waitpid(child, NULL, 0) == child && pending(SIGCHLD));
}

static void reap(void) { CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0); }

static unsigned turn;

/* A child that ends while the program starts, later in each turn. */
static void leave_a_child(void) {
  char word[16];
  snprintf(word, sizeof word, "%d", child_after(50 * turn));
  become("child", word);
}

/* Goes on as the first process of a namespace, to which orphans fall and whose numbers /proc doesn't show; where the
   machine allows that. */
static void be_first(void) {
  int status = 0;
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 && unshare(CLONE_NEWPID) != 0) return;
  const pid_t first = fork();
  if (first == 0) return;
  CHECK(waitpid(first, &status, 0) == first);
  if (WIFSIGNALED(status)) raise(WTERMSIG(status));
  exit(WEXITSTATUS(status));
}

static void run_case(const char* name, const char* word) {
  if (strcmp(name, "signal") == 0) CHECK(pending(SIGCHLD) && no_child());
  if (strcmp(name, "reaper") == 0) CHECK(no_child());
  if (strcmp(name, "own reaper") == 0) {
    int reaper = 0;
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
    CHECK(prctl(PR_GET_CHILD_SUBREAPER, &reaper, 0, 0, 0) == 0 && reaper == 1);
  }
  if (strcmp(name, "child") == 0) {
    int status = 0;
    const pid_t child = atoi(word);
    CHECK(waitpid(-1, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3 && no_child());
  }
  REPEAT CHECK(strlen(name) < 20);
}

int main(int argc, char** argv) {
  if (argc == 3) {
    run_case(argv[1], argv[2]);
    return 0;
  }
  in_child("signal", leave_a_signal);
  in_child("own reaper", reap);
  for (turn = 0; turn < 10; ++turn) in_child("child", leave_a_child);
  for (turn = 0; turn < 10; ++turn) in_child("reaper", be_first);
  puts("parentage ok");
}
