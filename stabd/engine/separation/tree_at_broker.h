// TreeAtBroker: all processes of one trial, those that started sessions of their own too. The broker holds them
// (stabd/host/process_tree.h), and ends them when this is gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "stabd/host/private_tmp.h"
#include "stabd/host/process_tree.h"

namespace stab::broker {
class Client;
struct Answer;
struct End;
}

namespace stab::engine {

struct TreeWanted {
  host::TreeKind kind = host::TreeKind::kCgroup2;  // the best that may be taken
  bool isolated = false;     // on the CPU that knob cpuset has freed
  int own_cpu = -1;          // where the broker works; -1: where it is
  bool limited = false;      // limits will be wanted
  bool private_ipc = false;  // what it leaves in System V objects, POSIX queues and /dev/shm is its alone, where that can be had
  const host::TemporaryNames* tmp = nullptr;  // /tmp and /var/tmp are its, too, where the first is; null: they are the machine's
};

class TreeAtBroker {
 public:
  static Result<TreeAtBroker> create(broker::Client& broker, const TreeWanted& wanted = {});
  TreeAtBroker(TreeAtBroker&& other) noexcept;
  TreeAtBroker& operator=(TreeAtBroker&&) = delete;
  ~TreeAtBroker();

  broker::Client& broker() const { return *broker_; }
  // The broker's number for it.
  uint32_t number() const { return number_; }
  host::TreeKind kind() const { return kind_; }
  // Why there can't be a limit; empty: there can.
  const std::string& why_no_memory_limit() const { return why_no_memory_; }
  const std::string& why_no_process_limit() const { return why_no_processes_; }
  // Why its processes share those with the machine; empty: they don't.
  const std::string& why_ipc_is_shared() const { return why_ipc_is_shared_; }
  const std::string& why_tmp_is_shared() const { return why_tmp_is_shared_; }
  // The next one that is launched into it is the first of a trial: it finds nothing there that was left before.
  void begin_trial() { begins_trial_ = true; }
  bool take_begins_trial() { return std::exchange(begins_trial_, false); }

  bool empty() const;
  // Kills until it is empty. kBusy when something is still alive at the deadline.
  Status kill_all(std::chrono::milliseconds deadline);

 private:
  TreeAtBroker(broker::Client& broker, host::TreeKind kind, uint32_t number) : broker_(&broker), kind_(kind), number_(number) {}
  broker::Client* broker_;  // null: moved from
  host::TreeKind kind_;
  uint32_t number_;
  std::string why_no_memory_, why_no_processes_, why_ipc_is_shared_, why_tmp_is_shared_;
  bool begins_trial_ = false;
};

// What is killed is gone within milliseconds; longer than this, it sits in the kernel.
inline constexpr std::chrono::seconds kEndDeadline{10};
// Asks again until what the request names is gone. kBusy when something is still alive at the deadline.
Result<broker::Answer> end_at_broker(broker::Client& broker, const broker::End& request, std::chrono::milliseconds deadline);

}  // namespace stab::engine
