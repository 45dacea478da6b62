// Exceptions out of loops that were led from one image to another: thrown in the loop's own frame, by a callee, through a
// frame that cleans up, and caught in the loop, which goes on.
#include <cstdio>
#include <stdexcept>

namespace {

using word = unsigned long;

word destroyed;
struct Counted {
  ~Counted() { ++destroyed; }
};

struct Found {
  word at;
};

[[gnu::noinline]] void look(word x, word i) {
  if (x % 20000003 == 17) throw Found{i};
}

// Inlined wherever it is used.
template <typename Step>
inline word loop(word turns, Step step) {
  word x = 88172645463325252u;
  for (word i = 0; i < turns; ++i) x = step(x, i);
  return x;
}

word mixed(word x, word i) { return (x ^ (x << 13)) * 6364136223846793005u + i; }

// Leaves its loop by an exception of its own, with a destructor on the way.
[[gnu::noinline]] word leaves(word turns) {
  Counted counted;
  return loop(turns, [turns](word x, word i) {
    x = mixed(x, i);
    if (i + 1 == turns) throw std::runtime_error("the last turn");
    return x;
  });
}

// Catches in its loop what is thrown far below, and stays.
[[gnu::noinline]] word catches(word turns) {
  word sum = 0;
  return loop(turns, [&sum](word x, word i) {
    x = mixed(x, i);
    try {
      Counted counted;
      look(x, i);
    } catch (const Found& found) {
      sum += found.at;
      x ^= sum;
    }
    return x;
  });
}

}  // namespace

int main() {
  word x = catches(20'000'000);
  try {
    leaves(100'000'000);
  } catch (const std::runtime_error& error) {
    std::printf("%s, ", error.what());
  }
  std::printf("%016lx, %lu destroyed\n", x, destroyed);
}
