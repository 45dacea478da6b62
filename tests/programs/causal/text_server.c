/* A server of memcached's text protocol, as far as plans/causal/open_loop_client.c speaks it: one value for each first letter
 * of a key. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { kMost = 16, kRoom = 1 << 16 };

static char values[256][64];
static char rooms[kMost][kRoom];
static size_t used[kMost];

static void answer(int fd, const char* text) {
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t done = write(fd, text, left);
    if (done <= 0) exit(1);
    text += done;
    left -= (size_t)done;
  }
}

/* Serves the first whole request. 0: there is none yet. */
static size_t serve(int fd, char* text, size_t bytes) {
  char* const line_end = memchr(text, '\n', bytes);
  if (line_end == NULL) return 0;
  char out[256];
  const unsigned char key = (unsigned char)text[4];
  if (text[0] == 'g') {
    snprintf(out, sizeof out, "VALUE %c 0 %zu\r\n%s\r\nEND\r\n", key, strlen(values[key]), values[key]);
    answer(fd, out);
    return (size_t)(line_end + 1 - text);
  }
  char* const value_end = memchr(line_end + 1, '\r', bytes - (size_t)(line_end + 1 - text));
  if (value_end == NULL || value_end + 1 == text + bytes) return 0;
  memcpy(values[key], line_end + 1, (size_t)(value_end - line_end - 1));
  answer(fd, "STORED\r\n");
  return (size_t)(value_end + 2 - text);
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct pollfd fds[kMost] = {{socket(AF_UNIX, SOCK_STREAM, 0), POLLIN, 0}};
  nfds_t count = 1;
  strncpy(address.sun_path, argv[argc - 1], sizeof address.sun_path - 1);
  if (bind(fds[0].fd, (struct sockaddr*)&address, sizeof address) != 0 || listen(fds[0].fd, kMost) != 0) return 1;
  while (poll(fds, count, -1) > 0) {
    if ((fds[0].revents & POLLIN) != 0 && count < kMost) fds[count++] = (struct pollfd){accept(fds[0].fd, NULL, NULL), POLLIN, 0};
    for (nfds_t i = 1; i < count; ++i) {
      if (fds[i].revents == 0) continue;
      const ssize_t got = read(fds[i].fd, rooms[i] + used[i], kRoom - used[i]);
      if (got <= 0) return 0;
      used[i] += (size_t)got;
      for (size_t done; (done = serve(fds[i].fd, rooms[i], used[i])) > 0; used[i] -= done)
        memmove(rooms[i], rooms[i] + done, used[i] - done);
    }
  }
  return 1;
}
