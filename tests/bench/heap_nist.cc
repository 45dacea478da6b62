// heap_nist bits                    reads 0s and 1s from stdin
// heap_nist lrand48 LENGTH          makes 2^LENGTH bits from lrand48
// heap_nist SIZE PATTERN LENGTH     the same from the addresses malloc(SIZE) returns under a pattern: pair: malloc
//                                   and free; fifo: a queue of 2,000 objects; fresh: nothing is freed
//
// Prints the P-values of the seven tests of nist_tests.h in the order frequency, block frequency, cumulative sums
// (forward), runs, longest run, FFT, rank. Bits of an address are its bits 6 to 17, lowest first, as the paper
// took them: those that choose the set of an L1 and of an L2 cache of its time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/bench/nist_tests.h"

using namespace stab::nist;

namespace {

void append(Bits& bits, uint64_t address, size_t wanted) {
  for (int bit = 6; bit <= 17 && bits.size() < wanted; ++bit) bits.push_back(address >> bit & 1);
}

Bits from_malloc(size_t bytes, const char* pattern, size_t wanted) {
  Bits bits;
  bits.reserve(wanted);
  const size_t room = strcmp(pattern, "pair") == 0 ? 1 : strcmp(pattern, "fifo") == 0 ? 2000 : wanted;
  std::vector<void*> live(room);
  for (size_t i = 0; bits.size() < wanted; ++i) {
    free(live[i % room]);
    live[i % room] = malloc(bytes);
    append(bits, reinterpret_cast<uint64_t>(live[i % room]), wanted);
  }
  for (void* left : live) free(left);
  return bits;
}

}  // namespace

int main(int argc, char** argv) {
  Bits bits;
  if (argc == 2 && strcmp(argv[1], "bits") == 0) {
    for (int c = 0; (c = getchar()) != EOF;)
      if (c == '0' || c == '1') bits.push_back(c == '1');
  } else if (argc == 3 && strcmp(argv[1], "lrand48") == 0) {
    srand48(1);
    const size_t wanted = size_t{1} << atoi(argv[2]);
    while (bits.size() < wanted) append(bits, static_cast<uint64_t>(lrand48()) << 6 >> 12, wanted);
  } else if (argc == 4) {
    bits = from_malloc(strtoul(argv[1], nullptr, 10), argv[2], size_t{1} << atoi(argv[3]));
  } else {
    fprintf(stderr, "usage: heap_nist bits | lrand48 LENGTH | SIZE pair|fifo|fresh LENGTH\n");
    return 2;
  }
  printf("%.6f %.6f %.6f %.6f %.6f %.6f %.6f\n", frequency(bits), block_frequency(bits, 128), cumulative_sums(bits, true),
         runs(bits), longest_run(bits), fft(bits), rank(bits, 32));
}
