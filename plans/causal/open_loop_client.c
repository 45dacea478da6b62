/* A client for a server that speaks memcached's text protocol on a Unix socket. It is linked into the server itself: before
 * main the process forks, the child goes on as the server, and the parent asks it. So both are one family to a causal profile,
 * which has to know when everybody waits; a client from outside would be the world, whose requests come no slower while others
 * pause.
 *
 *   OPEN_LOOP_SOCKET=PATH OPEN_LOOP_REQUESTS=FILE OPEN_LOOP_RATE=N server -s PATH
 *
 * Requests come at drawn times, N a second, whatever becomes of them (an open loop): five times a millisecond those that are
 * due are sent and replies are read, and what finds no room in its connection's queue is dropped. With a rate above what the
 * server can do it is saturated. The requests are those of the file, in order: a dropped one is the next that is sent, so that
 * all runs ask the same and the digest of all replies, which is what is printed, is the same. Without OPEN_LOOP_SOCKET nothing
 * happens. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stab/progress.h>

/* Together a queue of some 50 ms of work, so that a client that gets its CPU late finds the server still busy. */
enum { kConnections = 8, kDeepest = 1024, kTickNs = 200000, kPatienceTicks = 300000 };

struct connection {
  int fd, outstanding;
  size_t out_bytes, in_bytes, skip;
  uint64_t digest;
  char out[32768], in[65536];
};

static struct connection connections[kConnections];
static const char *at, *end; /* what is still to be asked */
static uint64_t sent, answered, dropped;
static pid_t server;

static void fail(const char* what, const char* why) {
  fprintf(stderr, "open_loop_client: %s: %s\n", what, why);
  if (server > 0) kill(server, SIGKILL); /* -1, of a fork that failed, would be every process that we may signal */
  _exit(1);
}

static double exponential_of(uint64_t* state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return -log(1 - (double)((x ^ x >> 31) >> 11) * 0x1p-53);
}

static const char* read_requests(const char* path) {
  struct stat is;
  FILE* const file = fopen(path, "rb");
  if (file == NULL || fstat(fileno(file), &is) != 0) fail(path, strerror(errno));
  char* const text = malloc((size_t)is.st_size + 1);
  if (text == NULL) fail(path, strerror(errno));
  if (fread(text, 1, (size_t)is.st_size, file) != (size_t)is.st_size)
    fail(path, ferror(file) ? strerror(errno) : "it became shorter while it was read");
  fclose(file);
  end = text + is.st_size;
  return text;
}

/* A request is a line, of `set` with the line of its value. */
static size_t length_of_next(void) {
  const char* stop = memchr(at, '\n', (size_t)(end - at));
  if (stop != NULL && *at == 's') stop = memchr(stop + 1, '\n', (size_t)(end - stop - 1));
  if (stop == NULL) fail(getenv("OPEN_LOOP_REQUESTS"), "the last request is no whole line; end it, and a value, with a newline");
  return (size_t)(stop + 1 - at);
}

static void connect_all(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const struct timespec tick = {0, kTickNs};
  if (strlen(path) >= sizeof address.sun_path) fail(path, "the socket's path has more than 107 bytes; take a shorter one");
  strcpy(address.sun_path, path);
  for (int i = 0; i < kConnections; ++i) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (int tries = 0; connect(fd, (const struct sockaddr*)&address, sizeof address) != 0; nanosleep(&tick, NULL))
      if (++tries == kPatienceTicks || waitpid(server, NULL, WNOHANG) != 0) fail(path, strerror(errno));
    connections[i].fd = fd;
  }
}

/* The replies that are whole; a value that isn't is skipped as it comes. */
static void take_replies(struct connection* from) {
  size_t used = 0;
  for (;;) {
    if (from->skip > from->in_bytes - used) {
      from->skip -= from->in_bytes - used;
      used = from->in_bytes;
      break;
    }
    used += from->skip;
    from->skip = 0;
    const char* const line = from->in + used;
    const char* const stop = memchr(line, '\n', from->in_bytes - used);
    if (stop == NULL) break;
    used += (size_t)(stop + 1 - line);
    if (strncmp(line, "VALUE ", 6) == 0) {
      const char* bytes = stop;
      while (bytes[-1] != ' ') --bytes;
      from->skip = strtoul(bytes, NULL, 10) + 2;
      continue;
    }
    --from->outstanding;
    ++answered;
    STAB_END("request");
    STAB_PROGRESS("reply");
  }
  memmove(from->in, from->in + used, from->in_bytes - used);
  from->in_bytes -= used;
}

static void receive(struct connection* from) {
  while (from->outstanding > 0) {
    const ssize_t got = recv(from->fd, from->in + from->in_bytes, sizeof from->in - from->in_bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("the server has closed a connection", got < 0 ? strerror(errno) : "before it had answered all");
    const char* const stop = from->in + from->in_bytes + got;
    for (const char* byte = from->in + from->in_bytes; byte < stop; ++byte)
      from->digest = (from->digest ^ (uint8_t)*byte) * 0x100000001b3u;
    from->in_bytes += (size_t)got;
    take_replies(from);
  }
}

static void flush(struct connection* to) {
  const ssize_t done = to->out_bytes == 0 ? 0 : send(to->fd, to->out, to->out_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (done < 0 && errno != EAGAIN) fail("send", strerror(errno));
  if (done <= 0) return;
  memmove(to->out, to->out + done, to->out_bytes - (size_t)done);
  to->out_bytes -= (size_t)done;
}

/* Values are stored before any is asked for. False: the next request has to wait for the answers of those before. */
static int may_send(char* kind) {
  if (*at != *kind && sent > answered) return 0;
  *kind = *at;
  return 1;
}

static void ask(double rate) {
  const struct timespec begun_tick = {0, kTickNs};
  uint64_t state = 1;
  double due_s = 0;
  struct timespec begun, now;
  char kind = *at;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  while (at < end || answered < sent) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double now_s = (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
    for (int i = 0; i < kConnections; ++i) receive(&connections[i]);
    while (due_s <= now_s && at < end && may_send(&kind)) {
      due_s += exponential_of(&state) / rate;
      struct connection* const to = &connections[sent % kConnections];
      const size_t bytes = length_of_next();
      if (to->outstanding == kDeepest || bytes > sizeof to->out - to->out_bytes) {
        ++dropped;
        continue;
      }
      memcpy(to->out + to->out_bytes, at, bytes);
      to->out_bytes += bytes;
      at += bytes;
      ++to->outstanding;
      ++sent;
      STAB_BEGIN("request");
    }
    for (int i = 0; i < kConnections; ++i) flush(&connections[i]);
    nanosleep(&begun_tick, NULL);
  }
}

__attribute__((constructor)) static void begin(void) {
  const char* const path = getenv("OPEN_LOOP_SOCKET");
  const char* const file = getenv("OPEN_LOOP_REQUESTS");
  const char* const rate = getenv("OPEN_LOOP_RATE");
  if (path == NULL || file == NULL || rate == NULL) return;
  server = fork();
  if (server < 0) fail("fork", strerror(errno));
  if (server == 0) return;
  at = read_requests(file);
  connect_all(path);
  ask(atof(rate));
  uint64_t digest = 0;
  /* At once: memcached's own end is a second of sleep, in which nothing is served. */
  kill(server, SIGKILL);
  waitpid(server, NULL, 0);
  for (int i = 0; i < kConnections; ++i) digest = 31 * digest + connections[i].digest;
  printf("%llu replies, digest %016llx\n", (unsigned long long)answered, (unsigned long long)digest);
  fflush(stdout);
  if (getenv("OPEN_LOOP_SAY") != NULL) fprintf(stderr, "%llu were dropped\n", (unsigned long long)dropped);
  _exit(0);
}
