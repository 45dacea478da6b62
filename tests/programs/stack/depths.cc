// Where a leaf's local lies below 1, 2, 4 .. 32 padded frames: one line of addresses each time that it has moved.
//   depths layouts N      in N layouts, asked for one after the other
//   depths moves N MS     over time, until it has moved N times or MS milliseconds have passed
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <stab/stab.h>

namespace {

__attribute__((noinline)) uintptr_t leaf() {
  char local;
  __asm__ volatile("" : : "r"(&local) : "memory");
  return reinterpret_cast<uintptr_t>(&local);
}

template <int kDepth>
struct Below {  // each depth is a function of its own, as in a real program; none is recursive
  __attribute__((noinline)) static uintptr_t call() {
    const uintptr_t address = Below<kDepth - 1>::call();
    __asm__ volatile("");  // no tail call
    return address;
  }
};
template <>
struct Below<0> {
  static uintptr_t call() { return leaf(); }
};

double now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Sample {
  uintptr_t at[6];
};

Sample sample() {
  return {Below<1>::call(), Below<2>::call(), Below<4>::call(), Below<8>::call(), Below<16>::call(), Below<32>::call()};
}

bool equal(const Sample& a, const Sample& b) {
  for (int i = 0; i < 6; ++i)
    if (a.at[i] != b.at[i]) return false;
  return true;
}

void print(const Sample& sample) {
  for (uintptr_t at : sample.at) printf("%zx ", at);
  printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && !strcmp(argv[1], "layouts")) {
    for (int i = atoi(argv[2]); i > 0; --i) {
      print(sample());
      if (i > 1 && stab_new_layout() != STAB_OK) return 1;
    }
    return 0;
  }
  if (argc != 4 || strcmp(argv[1], "moves")) return 2;
  int left = atoi(argv[2]);
  const double until_ms = now_ms() + atof(argv[3]);
  for (Sample before = {}; left > 0 && now_ms() < until_ms;) {
    const Sample now = sample();
    // Twice the same, or pads were being refilled in the middle of it.
    if (equal(now, before) || !equal(now, sample())) continue;
    before = now;
    print(now);
    --left;
  }
}
