// Service: what the daemon answers. Knows methods and rights, nothing of sockets.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "stabd/bundles.h"
#include "stabd/config.h"
#include "stabd/daemon_log.h"
#include "stabd/engine_thread.h"
#include "stabd/protocol.h"
#include "stabd/upkeep.h"

namespace stab::engine {

// Who is asking, as the kernel says.
struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
};

struct ServiceAnswer {
  std::string line;                 // to be sent
  std::optional<store::Id> watch;   // from now on this peer gets events of that experiment; 0: of all it may see
};

class Service {
 public:
  struct Rules {
    const Config* config = nullptr;  // plans of root, quotas
    const Upkeep* upkeep = nullptr;  // what users' builds take
    uid_t owner = 0;                 // the daemon's own uid sees everything, as root does
    LogSink log;                     // of what changes something, and of what was refused
  };
  Service(Engine& engine, EngineThread& thread, store::Store reader, Rules rules)
      : engine_(&engine), thread_(&thread), reader_(std::move(reader)), rules_(std::move(rules)),
        bundles_(engine.options().database) {}

  ServiceAnswer handle(std::string_view line, const Peer& peer);
  bool may_see(store::Id experiment, const Peer& peer);

 private:
  Result<ServiceAnswer> dispatch(const RpcRequest& request, const Peer& peer);
  Result<ServiceAnswer> submit(const RpcRequest& request, const Peer& peer);
  Result<ServiceAnswer> status(const RpcRequest& request, const Peer& peer);
  Result<ServiceAnswer> watch(const RpcRequest& request, const Peer& peer);
  Result<ServiceAnswer> report(const RpcRequest& request, const Peer& peer);
  Result<ServiceAnswer> logs(const RpcRequest& request, const Peer& peer);
  Result<ServiceAnswer> bundle(const RpcRequest& request, const Peer& peer);
  Result<ServiceAnswer> rerun(const RpcRequest& request, const Peer& peer);
  // cancel, pause, resume, extend, priority, delete: what changes an experiment
  Result<ServiceAnswer> change(const RpcRequest& request, const Peer& peer);
  // The named one, or the newest, if this peer may see it; a stranger's is as absent.
  Result<store::ExperimentRow> chosen(const RpcRequest& request, const Peer& peer);
  // kDenied says which quota is used up, and what to do.
  Status check_quota(const plan::Plan& plan, int64_t priority, const Peer& peer);
  Status check_number(const Peer& peer);  // of experiments that aren't over
  Status check_size(const plan::Plan& plan, int64_t replicates, const Peer& peer);
  Status extend(const store::ExperimentRow& row, int64_t blocks, const Peer& peer);
  bool privileged(const Peer& peer) const { return peer.uid == 0 || peer.uid == rules_.owner; }
  bool owns(const store::ExperimentRow& row, const Peer& peer) const;

  Engine* engine_;
  EngineThread* thread_;
  store::Store reader_;
  Rules rules_;
  Bundles bundles_;
};

}  // namespace stab::engine
