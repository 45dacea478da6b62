// Written for COZ: with its own header (OWN_HEADER), or with ours in its place. A child is counted, too.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>
#include <vector>

#ifdef OWN_HEADER
#include "plain_coz.h"
#else
#include <stab/coz.h>
#endif

namespace {

template <int kTimes>
void serve() {
  for (int i = 0; i < kTimes; ++i) {
    COZ_BEGIN("request");
    COZ_PROGRESS_NAMED("served");
    COZ_END("request");
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(serve<1000>);
  for (std::thread& thread : threads) thread.join();
  const pid_t pid = fork();
  if (pid == 0) {
    serve<500>();
    return 0;
  }
  waitpid(pid, nullptr, 0);
  std::puts("done");
}
