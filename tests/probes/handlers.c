// Handlers on an alternate stack, one after the other, while the frames of those who send the signals wait for many
// epochs on the thread's own stack. A look that takes the alternate stack for all there is frees their images.
//
//   handlers MILLISECONDS
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile long handled;

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
static void handler(int signal) {
  (void)signal;
  handled = handled + 1;
}
// Entered by its canonical entry, so that each epoch makes a new image.
NOINLINE static void enter(void) { handled = handled + 0; }
static void (*volatile entered)(void) = enter;
NOINLINE static long send(int milliseconds_long) {
  const long end = milliseconds() + milliseconds_long;
  long sent = 0;
  do {
    for (int i = 0; i < 50; ++i, ++sent) raise(SIGUSR1);
    entered();
  } while (milliseconds() < end);
  return sent;
}
// Its return address into the image that it was entered in stays for 30 ms.
NOINLINE static long outer(void) {
  const long sent = send(30);
  __asm__ volatile("");
  return sent + 1;
}

int main(int argc, char **argv) {
  char *pages = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t alternate = {.ss_sp = pages, .ss_size = 65536};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  if (argc < 2 || sigaltstack(&alternate, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 2;
  const long end = milliseconds() + atoi(argv[1]);
  long sent = 0, rounds = 0;
  for (; milliseconds() < end; ++rounds) sent += outer();
  puts(handled == sent - rounds ? "all handled" : "some lost");
  return 0;
}
