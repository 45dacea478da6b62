// A program of a causal trial that writes to its area what no runtime writes.
//
//   scribbles_on_area AREA make          makes a good area with a few arms
//   scribbles_on_area AREA honest|WHAT   attaches, and for half a second writes nothing, or WHAT
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/causal/causal_abi.h"

using namespace stab::causal;

static volatile Area* map(const char* path, int flags) {
  const int fd = open(path, O_RDWR | flags, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Area)) != 0) return nullptr;
  void* at = mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<volatile Area*>(at);
}

static int make(const char* path) {
  volatile Area* shared = map(path, O_CREAT | O_TRUNC);
  if (shared == nullptr) return 1;
  Area* area = const_cast<Area*>(shared);
  Script& script = area->script;
  memcpy(script.magic, kAreaMagic, sizeof script.magic);
  script.version = kCausalVersion;
  script.header_bytes = sizeof(Area);
  script.period_ns = 1'000'000;
  script.window_ns = 5'000'000;
  script.cooloff_ns = 1'000'000;
  script.most_prolonged = 1;
  script.attach_patience_ns = 10'000'000'000;
  script.module_count = script.range_count = 1;
  script.region_count = 2;
  script.arm_count = 1000;
  strcpy(area->modules[0].path, "MAIN");
  area->ranges[0] = {0x1000, 0x2000, 0, 1};
  for (uint32_t i = 0; i < script.arm_count; ++i) {
    area->arms[i].kind = i % 2 == 0 ? ArmKind::kBaseline : ArmKind::kSpeedup;
    area->arms[i].region = i % 2;
    area->arms[i].speedup_permille = i % 2 * 500;
  }
  return 0;
}

static uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (strcmp(argv[2], "make") == 0) return make(argv[1]);
  volatile Area* area = map(argv[1], 0);
  if (area == nullptr) return 1;
  const auto does = [&](const char* what) { return strcmp(argv[2], what) == 0 || strcmp(argv[2], "everything") == 0; };
  area->state.cpu_limit = 2;
  area->state.first_attach_ns = now_ns();
  area->processes[0].pid = static_cast<uint32_t>(getpid());
  area->state.attached = 1;
  for (const uint64_t until = now_ns() + 500'000'000; now_ns() < until;) {
    if (does("windows")) area->state.windows_used = 0x7fffff00;
    if (does("arms")) area->state.arms_used = 0xffffff00;
    if (does("cpus")) area->state.cpu_limit = 0xffffffff;
    if (does("ranges")) area->ranges[0].module = 0xfffffff0;
    if (does("regions"))
      for (uint32_t i = 0; i < 1000; ++i) area->arms[i].region = 0xfffffff0;
    if (does("script")) {
      area->script.arm_count = 0xffffffff;
      area->script.range_count = 0xffffffff;
      area->script.region_count = 0xffffffff;
    }
    if (does("everything")) {
      area->state.points_used = 0xffffffff;
      area->board.points_used = 0xffffffff;
      area->board.rows_used = 0xffffffff;
      area->state.live.region = 0xffffffff;
    }
  }
  return 0;
}
