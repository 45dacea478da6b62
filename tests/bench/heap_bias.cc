// heap_bias CASE PERTURBATION: one program whose speed depends on where its objects lie, in one of many forms
// that do exactly the same work.
//
// A perturbation changes which other objects are allocated before and between those that matter, as an
// unrelated edit of a program would. It may change speed, because it changes the layout; an allocator removes
// that bias if, over its random seeds, no perturbation is faster than another. tests/bench/heap_bias_table runs the
// cases over perturbations and seeds and does the analysis of variance.
//
//   nodes SIZE   400 hot objects, one in each nine of a class; the perturbation sets which, and how many cold
//                ones come first; visited in order. (Another density would change how many pages are visited:
//                then the work is not the same.)
//   rows SIZE    a table of 300 rows of SIZE bytes, each allocated by itself with a gap of the perturbation's
//                size behind it; walked column by column
//   list SIZE    6,000 nodes that fill the holes which 20,000 freed objects of 60,000 left; the perturbation
//                draws which. (A regular pattern of holes would change the number of lines the list occupies:
//                then the work is not the same.)
//
// Prints: L1 misses and L2 misses of a cache model fed with the addresses the program visits (32 KiB of 8 ways
// and 1 MiB of 16 ways, 64-byte lines, least recently used), and CPU nanoseconds of the same visits for real.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

class Cache {
 public:
  Cache(size_t sets, size_t ways) : sets_(sets), ways_(ways), lines_(sets * ways) {}
  // True: a miss.
  bool visit(uint64_t line) {
    uint64_t* way = &lines_[line % sets_ * ways_];
    size_t at = 0;
    while (at < ways_ - 1 && way[at] != line) ++at;
    const bool miss = way[at] != line;
    memmove(way + 1, way, at * sizeof *way);
    way[0] = line;
    return miss;
  }

 private:
  size_t sets_, ways_;
  std::vector<uint64_t> lines_;
};

// Memory of the model and of the list of visits comes from mmap (it is large), away from the objects.
struct Visits {
  std::vector<const char*> order;
  int rounds;
};

void* cold(size_t bytes) {
  void* made = malloc(bytes);
  memset(made, 1, bytes);
  return made;
}

Visits nodes(size_t bytes, int perturbation) {
  Visits visits{{}, 400};
  visits.order.reserve(100000);
  for (int i = 0; i < perturbation; ++i) cold(bytes);
  for (int i = 0; i < 400; ++i) {
    const int place = i * perturbation % 9;
    for (int before = 0; before < place; ++before) cold(bytes);
    visits.order.push_back(static_cast<char*>(cold(bytes)));
    for (int after = place; after < 8; ++after) cold(bytes);
  }
  return visits;
}

Visits rows(size_t bytes, int perturbation) {
  Visits visits{{}, 10};
  visits.order.reserve(300 * 64);
  std::vector<char*> table;
  table.reserve(100000);
  for (int i = 0; i < 300; ++i) {
    table.push_back(static_cast<char*>(cold(bytes)));
    if (perturbation > 0) cold(static_cast<size_t>(perturbation) * 16);
  }
  for (size_t column = 0; column < bytes && column < 1024; column += 16)
    for (char* row : table) visits.order.push_back(row + column);
  return visits;
}

Visits list(size_t bytes, int perturbation) {
  struct Node {
    Node* next;
  };
  Visits visits{{}, 30};
  visits.order.reserve(100000);
  std::vector<void*> before;
  before.reserve(100000);
  for (int i = 0; i < 60000; ++i) before.push_back(cold(bytes));
  uint64_t state = static_cast<uint64_t>(perturbation) * 0x9e3779b97f4a7c15u + 1;
  for (size_t left = before.size(); left > 40000; --left) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    void*& drawn = before[(state >> 33) % left];
    free(drawn);
    drawn = before[left - 1];
  }
  Node* head = nullptr;
  for (int i = 0; i < 6000; ++i) {
    Node* node = static_cast<Node*>(cold(bytes));
    node->next = head;
    head = node;
  }
  for (Node* node = head; node != nullptr; node = node->next) visits.order.push_back(reinterpret_cast<char*>(node));
  return visits;
}

uint64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: heap_bias nodes|rows|list SIZE PERTURBATION\n"), 2;
  const size_t bytes = strtoul(argv[2], nullptr, 10);
  const int perturbation = atoi(argv[3]);
  Visits visits = strcmp(argv[1], "nodes") == 0  ? nodes(bytes, perturbation)
                  : strcmp(argv[1], "rows") == 0 ? rows(bytes, perturbation)
                                                 : list(bytes, perturbation);
  Cache l1(64, 8), l2(1024, 16);
  uint64_t l1_misses = 0, l2_misses = 0;
  for (int round = 0; round < 3; ++round)
    for (const char* at : visits.order) {
      const uint64_t line = reinterpret_cast<uint64_t>(at) / 64;
      if (!l1.visit(line)) continue;
      ++l1_misses;
      l2_misses += l2.visit(line);
    }
  // The fastest of five: what else the machine does only adds.
  uint64_t sum = 0;
  uint64_t fastest_ns = ~uint64_t{0};
  for (int repeat = 0; repeat < 5; ++repeat) {
    const uint64_t start = cpu_ns();
    for (int round = 0; round < visits.rounds; ++round)
      for (const char* at : visits.order) sum += static_cast<unsigned char>(*static_cast<const volatile char*>(at));
    const uint64_t took = cpu_ns() - start;
    if (took < fastest_ns) fastest_ns = took;
  }
  if (sum == 0) return 1;
  printf("%llu %llu %llu\n", static_cast<unsigned long long>(l1_misses), static_cast<unsigned long long>(l2_misses),
         static_cast<unsigned long long>(fastest_ns));
}
