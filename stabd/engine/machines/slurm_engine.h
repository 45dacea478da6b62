// SlurmEngine: workers as jobs, one exclusive node each. Slurm hands out nodes and nothing else: no requeueing, no accounting. A
// job is known by its name, which its slot and epoch make, so that a controller that follows another one knows its jobs.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "stabd/engine/machines/machine_engine.h"

namespace stab::engine {

class SlurmEngine final : public MachineEngine {
 public:
  struct Setting {
    std::string prefix;                // of its jobs' names, of this experiment alone: "stab-1f2e3d4c5b6a"
    std::string spool;                 // a directory that all nodes see
    std::string stabctl;               // there
    std::vector<std::string> options;  // added to sbatch
    const Clock* clock = nullptr;
    // squeue locks the scheduler: sites ask for no more than one in half a minute.
    std::chrono::nanoseconds between_looks = std::chrono::seconds(30);
    // A parallel file system may show a last part this late.
    std::chrono::nanoseconds patience = std::chrono::seconds(60);
  };
  explicit SlurmEngine(Setting setting) : set_(std::move(setting)) {}

  Status start(int slot, int64_t epoch, const std::string& host) override;
  // While squeue doesn't answer, as in an outage, every job is taken to live.
  Result<bool> lives(int slot, int64_t epoch) override;
  void stop(int slot, int64_t epoch) override;
  std::chrono::nanoseconds patience() const override { return set_.patience; }

 private:
  std::string job(int slot, int64_t epoch) const;
  void look();
  Setting set_;
  std::optional<std::chrono::nanoseconds> looked_;             // at the queue, whether or not it answered
  std::optional<std::set<std::string>> queue_;                 // names, as last answered
  std::map<std::string, std::chrono::nanoseconds> submitted_;  // jobs since
};

}  // namespace stab::engine
