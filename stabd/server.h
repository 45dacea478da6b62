// Server: the daemon's loop. Clients on a Unix socket, events from the engine's thread, signals.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "stabd/engine_thread.h"
#include "stabd/service.h"

namespace stab::engine {

class Server {
 public:
  // Listens on `path`; a socket there that nobody answers on is replaced. kBusy where a daemon listens.
  static Result<std::unique_ptr<Server>> listen(const std::string& path);
  ~Server();

  // From any thread: events can be taken.
  void wake();
  // Serves until SIGTERM or SIGINT. `events` yields what has happened since it was called last.
  void run(Service& service, const std::function<std::vector<EngineEvent>()>& events);

 private:
  Server();
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

// $XDG_RUNTIME_DIR/stab.sock, else /run/stab/stab.sock for root, else /tmp/stab-UID.sock.
std::string default_socket();

}  // namespace stab::engine
