// Children: whoever a broker has started and not yet told of as ended. A process is named by its number, which stays its own
// until it is reaped here and told of: so a request can name nobody else's. Everything that is not in this table and becomes our
// child is an orphan that some program left.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::broker {

// ended: reaped already, and what follows is of it.
struct Child {
  pid_t pid = -1;
  uint32_t tree = 0;
  int cpu = -1;  // of a trial without a helper
  UniqueFd pidfd;
  std::optional<std::chrono::steady_clock::time_point> killed;  // since when it should be dead
  bool given_up = false;  // it isn't, and takes no place; it is spared and reaped as before
  bool ended = false;
  int status = 0;
  rusage usage{};
};

class Children {
 public:
  // A trial's program and helper, a worker, a command.
  static constexpr size_t kMost = 64;
  // And as many that were killed and live on.
  static constexpr size_t kMostGivenUp = 4096;

  // nullptr: none of ours. Until the next change of the table.
  Child* find(pid_t pid);
  const std::vector<Child>& all() const { return all_; }

  // One that we have just started.
  Status remember(pid_t pid, uint32_t tree, int cpu = -1);
  // It was told of.
  void forget(pid_t pid);
  // Whether there are places for a program and its helper, without those that nothing ends.
  bool has_places();
  // Takes in whatever has ended: ours are kept until they are asked for, orphans need nobody.
  void reap();
  // The one, or all: whatever it takes them to die.
  static void kill(Child& child);
  void kill_all() const;
  void clear() { all_.clear(); }

 private:
  std::vector<Child> all_;
};

}  // namespace stab::broker
