// Upkeep: what the daemon does between two experiments, while no trial runs: retention, and telling whoever the
// administrator wants told.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "stabd/daemon/runs/engine_thread.h"
#include "stabd/daemon/settings/config.h"
#include "stabd/daemon/settings/daemon_log.h"

namespace stab::daemon {

class Upkeep {
 public:
  Upkeep(engine::Engine& engine, const Config& config, LogSink log) : engine_(&engine), config_(&config), log_(std::move(log)) {}

  // On the engine's thread, without the gate. Its failures are logged: none of them is a reason to stop.
  void between(const EndedRun& ended, int quit_fd);

  // What the builds of a user took when an experiment ended last; another thread's question.
  uint64_t disk_bytes_of(uint32_t uid) const;
  // Whether the disk has what the administrator wants left free.
  bool disk_is_full() const;

 private:
  void retain(int quit_fd);
  Status notify(const EndedRun& ended, int quit_fd);

  engine::Engine* engine_;
  const Config* config_;
  LogSink log_;
  std::map<std::string, uint64_t> counted_;  // bytes of each build when it was measured last; the engine's thread only
  mutable std::mutex mutex_;  // of what follows
  std::map<uint32_t, uint64_t> disk_bytes_;
};

}  // namespace stab::daemon
