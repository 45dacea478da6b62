// Where a program of one thread spends its CPU time: in images of the executable, in images of libraries, or elsewhere.
//
//   moved_share PROGRAM ARGUMENT...      one line on stderr, in percent of the samples in user code
//
// Samples of the program counter, one for each ms of CPU time (perf_event_open), are looked up in the last state of its memory
// map that was seen while it ran: an image lies in the shared memory "stab", a library's in "stab-libraries". What is in either
// moves with each layout; "before" is what would move if libraries stayed.
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kRingPages = 64, kMostSamples = 1 << 20, kMostParts = 4096 };
enum Where { kElsewhere, kProgram, kLibrary, kPlaces };
struct Part {
  uint64_t begin, end;
  enum Where where;
};
static uint64_t samples[kMostSamples];
static size_t sample_count;
static struct Part parts[kMostParts];
static size_t part_count;

static void read_map(int pid) {
  char path[64], line[1024];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE* const file = fopen(path, "r");
  size_t count = 0;
  static struct Part found[kMostParts];
  while (file != NULL && fgets(line, sizeof line, file) != NULL && count < kMostParts) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    enum Where where = kElsewhere;
    if (strstr(line, "memfd:stab-libraries")) where = kLibrary;
    if (strstr(line, "memfd:stab ")) where = kProgram;
    if (where != kElsewhere) found[count++] = (struct Part){begin, end, where};
  }
  if (file != NULL) fclose(file);
  // A process on its way out has none.
  if (count == 0) return;
  memcpy(parts, found, sizeof found);
  part_count = count;
}

static void take(struct perf_event_mmap_page* page) {
  const char* const data = (char*)page + 4096;
  const uint64_t bytes = page->data_size;
  uint64_t at = page->data_tail;
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  while (at < head) {
    struct perf_event_header header;
    for (size_t i = 0; i < sizeof header; ++i) ((char*)&header)[i] = data[(at + i) % bytes];
    uint64_t address = 0;
    for (size_t i = 0; i < 8; ++i) ((char*)&address)[i] = data[(at + sizeof header + i) % bytes];
    if (header.type == PERF_RECORD_SAMPLE && sample_count < kMostSamples) samples[sample_count++] = address;
    at += header.size;
  }
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

int main(int count, char** words) {
  if (count < 2) return fputs("usage: moved_share PROGRAM ARGUMENT...\n", stderr), 2;
  int go[2];
  if (pipe(go) != 0) return 2;
  const int pid = fork();
  if (pid == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 1) _exit(2);
    close(go[0]);
    execvp(words[1], words + 1);
    _exit(127);
  }
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_CPU_CLOCK};
  attr.sample_period = 1000000;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  const int event = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
  struct perf_event_mmap_page* const page = mmap(NULL, 4096 * (kRingPages + 1), PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
  if (event < 0 || page == MAP_FAILED) return fputs("moved_share: the kernel gives no samples\n", stderr), 2;
  close(go[0]);
  if (write(go[1], "g", 1) != 1) return 2;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    read_map(pid);
    take(page);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  take(page);
  size_t in[kPlaces] = {0};
  for (size_t i = 0; i < sample_count; ++i) {
    enum Where where = kElsewhere;
    for (size_t k = 0; k < part_count; ++k)
      if (samples[i] >= parts[k].begin && samples[i] < parts[k].end) where = parts[k].where;
    ++in[where];
  }
  if (sample_count == 0) return fputs("moved_share: no samples\n", stderr), 1;
  const double all = (double)sample_count;
  const double before = 100 * (double)in[kProgram] / all, after = before + 100 * (double)in[kLibrary] / all;
  fprintf(stderr, "%zu samples: before %.1f %%, after %.1f %% in code that moves\n", sample_count, before, after);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
