// TreeBounds: what the processes of a tree may use together, and how often they came to the end of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/host/delegation.h"
#include "stabd/host/roots.h"

namespace stab::host {

// 0: no limit.
struct TreeLimits {
  uint64_t memory_bytes = 0;
  uint64_t processes = 0;  // threads count, as they do for the kernel
  bool operator==(const TreeLimits&) const = default;
};

struct LimitHits {
  uint64_t memory_kills = 0;       // processes that the kernel has killed because the tree had no more
  uint64_t outside_kills = 0;      // that it has killed for memory while the tree kept its limit
  uint64_t refused_processes = 0;  // processes and threads that could not begin
  bool operator==(const LimitHits&) const = default;
};

class TreeBounds {
 public:
  // `parent`: of the tree's own group of version 2, `group`. Where they don't bound, groups of version 1 are made beside.
  TreeBounds(const Roots& roots, const std::string& parent, const std::string& group, Delegation& delegation);
  TreeBounds(const TreeBounds&) = delete;
  TreeBounds& operator=(const TreeBounds&) = delete;
  ~TreeBounds();  // pre: no process is left in them

  // Files of version 1 that a member writes "0" to.
  std::vector<std::string> procs_files() const;
  // Why there can't be a limit; empty: there can.
  const std::string& why_no_memory() const { return memory_.why_not; }
  const std::string& why_no_processes() const { return processes_.why_not; }
  // kUnavailable where one is wanted that can't be set.
  Status set(const TreeLimits& limits);
  // Since the last call.
  LimitHits take_hits();

 private:
  struct Controller {
    std::string group, why_not;
    bool is_beside = false;  // version 1
    UniqueFd events;
    uint64_t limit = 0;
  };
  struct Counts {
    uint64_t reached = 0, kills = 0, refused = 0;
  };
  static Controller find(const Roots& roots, const char* name, const std::string& parent, const std::string& group,
                         Delegation& delegation);
  Status set_memory(uint64_t bytes);
  Status set_processes(uint64_t most);
  Counts counts() const;

  Controller memory_, processes_;
  UniqueFd reached_;  // version 1: how often the limit was met
  Counts seen_;
};

// --- words ---------------------------------------------------------------------------------------------------

// "1073741824 bytes (1 GiB)", "1000 bytes".
std::string bytes_text(uint64_t bytes);

}  // namespace stab::host
