// ProcessEngine: workers as children of the controller: on this machine, or by ssh, where the connection is what lives. Where
// they share no directory with it, their files come over the connection.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "stabd/engine/machines/connection.h"
#include "stabd/engine/machines/machine_engine.h"
#include "stabd/engine/machines/spool.h"

namespace stab::engine {

class ProcessEngine final : public MachineEngine {
 public:
  struct Setting {
    std::vector<std::string> command;  // before the host, such as {"ssh", "-p", "2222"}; empty: on this machine
    std::string stabctl;               // there
    bool shared = true;                // the spool is under its path there, too
    Spool* spool = nullptr;
    uint64_t most_file_bytes = kMostPartBytes;  // that a worker may send
  };
  explicit ProcessEngine(Setting setting) : set_(std::move(setting)) {}
  ~ProcessEngine() override;

  Status start(int slot, int64_t epoch, const std::string& host) override;
  Result<bool> lives(int slot, int64_t epoch) override;
  void stop(int slot, int64_t epoch) override;
  std::chrono::nanoseconds patience() const override { return std::chrono::seconds(2); }

 private:
  struct Child {
    pid_t pid = -1;
    UniqueFd to, from;              // its standard input, which tells it that we live; its output
    std::atomic<bool> over{false};  // no file comes any more
    std::atomic<bool> closing{false};
    std::thread sends, receives;
  };
  void serve(Child& child, int slot, int64_t epoch);
  size_t granted_blocks(int slot, int64_t epoch) const;
  // kCorrupt: no worker sends that.
  Status take(const SlotFile& file, const std::string& name, const std::string& content, size_t& parts_left);
  void end(Child& child, std::chrono::steady_clock::time_point deadline);
  Setting set_;
  std::map<std::pair<int, int64_t>, std::unique_ptr<Child>> children_;
};

}  // namespace stab::engine
