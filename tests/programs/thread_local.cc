// Thread-local objects with constructors and destructors.
// flags: -pthread
#include <string>
#include <thread>
#include <atomic>
#include "repeat.h"
static std::atomic<int> built, destroyed;
struct Counted { std::string text = "a string too long for its own storage"; Counted() { ++built; } ~Counted() { ++destroyed; } };
static thread_local Counted counted;
static thread_local int plain = 3;
NOINLINE static void touch() { CHECK(counted.text.size() == 37 && plain == 3); plain = 4; }
int main() {
  REPEAT {
    std::thread one(touch), two(touch);
    one.join();
    two.join();
    CHECK(built == destroyed && plain == 3);
  }
  puts("thread_local ok");
}
