// Listing threads that come and go, and telling one that has ended, in real processes.
#include <gtest/gtest.h>

#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "runtime/helper/watched_process.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

void add(void* context, int tid) { static_cast<std::set<int>*>(context)->insert(tid); }

class ThreadList : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(open(self_, getpid())); }
  void TearDown() override { close_process(self_); }

  static bool open(Process& process, int pid) {
    process.pid = pid;
    return open_process(process);
  }
  Listing list(std::set<int>& out) { return list_threads(self_, add, &out); }

  Process self_;
};

// A thread that stays until it is told to end.
class Waiting {
 public:
  Waiting() : thread_([this] {
    tid_.store(sys::gettid());
    may_end_.wait(false);
  }) {
    while (tid_.load() == 0) std::this_thread::yield();
  }
  ~Waiting() {
    may_end_.store(true);
    may_end_.notify_one();
    thread_.join();
  }
  int tid() const { return tid_.load(); }

 private:
  std::atomic<int> tid_{0};
  std::atomic<bool> may_end_{false};
  std::thread thread_;
};

TEST_F(ThreadList, HasAllOfThem) {
  std::set<int> expected{getpid()};
  std::vector<std::unique_ptr<Waiting>> threads;
  for (int i = 0; i < 300; ++i) expected.insert(threads.emplace_back(std::make_unique<Waiting>())->tid());
  std::set<int> listed;
  EXPECT_EQ(list(listed), Listing::kComplete);
  EXPECT_TRUE(std::includes(listed.begin(), listed.end(), expected.begin(), expected.end()));
}

TEST_F(ThreadList, OfAProcessThatIsGoneIsNone) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  Process process;
  ASSERT_TRUE(open(process, child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::set<int> listed;
  EXPECT_EQ(list_threads(process, add, &listed), Listing::kGone);
  close_process(process);
}

// The kernel ends its walk on a thread that ends just then: whoever comes behind it, as the one that stays here, may only be
// missing where the listing says so.
TEST_F(ThreadList, IsOnlyCompleteWhereThreadsThatEndHideNone) {
  int complete = 0;
  for (int round = 0; round < 400; ++round) {
    std::atomic<bool> may_end{false};
    std::vector<std::thread> ending;
    for (int i = 0; i < 24; ++i)
      ending.emplace_back([&may_end] { may_end.wait(false); });
    const Waiting stays;
    may_end.store(true);
    may_end.notify_all();
    for (size_t left = ending.size(); left > 2;) {
      std::set<int> listed;
      const Listing listing = list(listed);
      left = listed.size();
      if (listing == Listing::kTorn) continue;
      ASSERT_EQ(listing, Listing::kComplete);
      ASSERT_TRUE(listed.contains(stays.tid())) << "round " << round;
      ++complete;
    }
    for (std::thread& thread : ending) thread.join();
  }
  EXPECT_GE(complete, 400);
}

// As the helper sees a thread that is about to vanish: the first thread of a process is there until all have ended.
TEST_F(ThreadList, AThreadOnItsWayOutHasEnded) {
  int to_parent[2], to_child[2];
  ASSERT_EQ(pipe(to_parent), 0);
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t other;
    pthread_create(&other, nullptr, [](void* pipe) -> void* {
      const int tid = sys::gettid();
      if (write(*static_cast<int*>(pipe), &tid, sizeof tid) != sizeof tid) _exit(1);
      for (;;) pause();
    }, &to_parent[1]);
    char word;
    if (read(to_child[0], &word, 1) != 1) _exit(1);
    sys::call(SYS_exit, 0);
  }
  Process process;
  int other = 0;
  EXPECT_EQ(read(to_parent[0], &other, sizeof other), static_cast<ssize_t>(sizeof other));
  EXPECT_TRUE(open(process, child));
  EXPECT_FALSE(has_ended(process, child));
  EXPECT_EQ(write(to_child[1], "x", 1), 1);
  while (!HasFailure() && !has_ended(process, child)) std::this_thread::yield();
  EXPECT_FALSE(has_ended(process, other));
  EXPECT_TRUE(has_ended(process, getpid()));  // no thread of that process
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(has_ended(process, other));
  close_process(process);
  for (const int end : {to_parent[0], to_parent[1], to_child[0], to_child[1]}) close(end);
}

// The kernel's thread that takes requests from a ring is one of the process's own.
TEST_F(ThreadList, AWorkerOfTheKernelNeverRunsTheProgram) {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_SQPOLL;
  parameters.sq_thread_idle = 1000;
  const int ring = static_cast<int>(sys::call(SYS_io_uring_setup, 4, sys::word(&parameters)));
  if (ring < 0) GTEST_SKIP() << "no io_uring: error " << -ring;
  std::set<int> listed;
  ASSERT_EQ(list(listed), Listing::kComplete);
  int workers = 0;
  for (const int tid : listed) workers += tid != getpid() && has_ended(self_, tid);
  EXPECT_EQ(workers, 1);
  EXPECT_FALSE(has_ended(self_, getpid()));
  close(ring);
}

}  // namespace
}  // namespace stab::helper
