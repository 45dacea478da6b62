// Server: the daemon's loop. Clients on a Unix socket, events from the engine's thread, signals.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/daemon/answers/service.h"
#include "stabd/daemon/requests/trial_gap.h"
#include "stabd/daemon/runs/engine_thread.h"
#include "stabd/daemon/settings/daemon_log.h"

namespace stab::daemon {

class Server {
 public:
  // Listens on `path`; a socket there that nobody answers on is replaced. kBusy where a daemon listens. `group` may
  // connect, the daemon's own if it is empty.
  static Result<std::unique_ptr<Server>> listen(const std::string& path, const std::string& group);
  ~Server();

  // HTTP (stabd/daemon/web/conversation.h) on another socket, for whom the first one is for. Before run().
  Status listen_for_browsers(const std::string& path, const std::string& group);
  // What browsers may do while trials run. Before run().
  void hold_browsers(DuringTrials during_trials, TrialGap& gap);
  // From any thread: events can be taken.
  void wake();
  // Calls it every so often from the loop, so that it stops when the loop hangs. Before run().
  void every(std::chrono::milliseconds interval, std::function<void()> tick);
  // Told of clients that were dropped. Before run().
  void log_to(LogSink log);
  // Serves until SIGTERM or SIGINT. `events` yields what has happened since it was called last. False: an answer is still being
  // computed (RequestThreads::stop), so nothing may be taken down.
  bool run(Service& service, const std::function<std::vector<EngineEvent>()>& events);
  // The names of its sockets go. Idempotent.
  void leave_places();

 private:
  Server();
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace stab::daemon
