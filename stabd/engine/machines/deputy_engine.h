// DeputyEngine: a daemon's machine engine. Its workers are started by a deputy of the submitter's (deputy.h), whose files it
// takes into the daemon's own spool. The deputy is a stranger: what it may send is bounded in names, number and size, and
// nothing waits for it without an end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "stabd/engine/machines/connection.h"
#include "stabd/engine/machines/machine_engine.h"
#include "stabd/engine/machines/spool.h"
#include "stabd/engine/separation/own_process.h"
#include "stabd/host/launch.h"

namespace stab::engine {

// A process that runs run_deputy() on the other end of `socket`, and ends when that closes.
class DeputyProcess {
 public:
  explicit DeputyProcess(UniqueFd ours) : socket(std::move(ours)) {}
  virtual ~DeputyProcess() = default;
  UniqueFd socket;
};

struct DeputyLaunch {
  StartProcess start;
  std::string stabctl;
  std::optional<host::Submitter> submitter;
};
Result<std::unique_ptr<DeputyProcess>> launch_deputy(const DeputyLaunch& launch);

class DeputyEngine final : public MachineEngine {
 public:
  struct Setting {
    std::function<Result<std::unique_ptr<DeputyProcess>>()> launch;
    std::string name, identity, plan_text;  // of the spool's directory; the experiment's
    Spool* spool = nullptr;                 // the daemon's
    const Clock* clock = nullptr;
    std::vector<int> blocks_of;             // by slot: how many
    std::map<int, int64_t> newest;          // by slot: the newest epoch so far
    std::chrono::nanoseconds patience = std::chrono::seconds(60);
    std::chrono::milliseconds answers_within = std::chrono::seconds(60);  // a start that is slower has failed
    std::chrono::milliseconds between_starts = std::chrono::seconds(2);   // of deputies
    uint64_t most_file_bytes = kMostPartBytes;                            // that a deputy may send
  };
  explicit DeputyEngine(Setting setting);
  ~DeputyEngine() override;

  Status start(int slot, int64_t epoch, const std::string& host) override;
  // True until the deputy has said that it doesn't. kUnavailable where no deputy can be had, several times in turn.
  Result<bool> lives(int slot, int64_t epoch) override;
  void stop(int slot, int64_t epoch) override;
  std::chrono::nanoseconds patience() const override { return set_.patience; }
  void forget() override;
  bool has_deputy() const;  // one that lives, as far as is seen
  // What the controller writes for its workers: to be told by the spool's listener.
  void hear(const std::string& name);

 private:
  using Of = std::pair<int, int64_t>;
  Status ready();  // a deputy that lives and knows the plan
  Status begin();
  Status introduce(std::chrono::milliseconds answers_within);  // one that knows the plan, and nothing else yet
  void end();
  Status take(const std::string& name, const std::string& content);
  // Either fails for good: what was sent in part can't be followed by anything.
  Status say(const std::string& name, const std::string& text);
  Status send(const std::string& name);
  Status sent(Status status);
  bool may_send_part(const SlotFile& file);

  const Setting set_;
  std::unique_ptr<DeputyProcess> process_;
  std::unique_ptr<FileSender> sender_;
  std::thread receives_;
  std::optional<std::chrono::nanoseconds> began_;
  int failures_ = 0;  // to start a deputy, in turn
  std::string why_;   // the last one
  std::set<Of> asked_;  // of this deputy

  mutable std::mutex mutex_;  // of what the receiver touches
  std::condition_variable changed_;
  bool closed_ = true;
  std::string why_closed_;
  std::optional<std::string> ready_;
  std::map<Of, std::string> started_;
  std::map<Of, bool> lives_;
  std::map<int, int64_t> newest_;  // by slot: the newest epoch that there is
  std::map<Of, size_t> parts_;        // that have come
};

}  // namespace stab::engine
