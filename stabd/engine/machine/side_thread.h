// SideThread: a second thread of the engine's, for what can be done while it waits for the disk.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stab::engine {

// Does one thing at a time. It lasts longer than the programs it starts: they die with the thread that is their parent.
class SideThread {
 public:
  explicit SideThread(int cpu);  // where it works, in front of everything else there; -1: anywhere
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  void begin(std::function<void()> work);  // pre: nothing is under way
  void wait();                             // until nothing is; what the work wrote can then be read

 private:
  void loop(int cpu);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;  // set: under way, or about to be
  bool quit_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace stab::engine
