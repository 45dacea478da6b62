// Service: what the daemon answers. Knows methods and rights, nothing of sockets.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stabd/daemon/answers/bundles.h"
#include "stabd/daemon/answers/watched_results.h"
#include "stabd/daemon/events/watching.h"
#include "stabd/daemon/protocol/protocol.h"
#include "stabd/daemon/requests/request_queue.h"
#include "stabd/daemon/rights/quotas.h"
#include "stabd/daemon/runs/engine_thread.h"
#include "stabd/daemon/settings/config.h"
#include "stabd/daemon/settings/daemon_log.h"
#include "stabd/daemon/settings/peer.h"
#include "stabd/daemon/upkeep/upkeep.h"
#include "stabd/engine/build/naming.h"
#include "stabd/engine/results/slot_status.h"

namespace stab::daemon {

struct ServiceAnswer {
  std::string line;                 // to be sent
  std::optional<store::Id> watch = {};    // from now on this peer gets events of that experiment
  std::optional<Following> follow = {};   // or of all that it may see
  std::optional<EngineEvent> news = {};   // what others who look at the experiment are to know
  std::optional<RpcCode> fault = {};      // why the line has no result
};

// From several threads at once, each with a connection of its own to the store.
class Service {
 public:
  struct Rules {
    const Config* config = nullptr;  // plans of root, quotas, policy
    const Upkeep* upkeep = nullptr;  // what users' builds take
    uid_t owner = 0;                 // the daemon's own uid sees everything, as root does
    bool serves_others = false;      // plans run as their submitters; else as the owner, and nobody else has any
    LogSink log;                     // of what changes something, and of what was refused
  };
  Service(engine::Engine& engine, EngineThread& thread, Rules rules);

  // Where a line waits for its answer; by what it asks for, so it is parsed.
  Lane lane_of(std::string_view line) const;
  // Whatever the line says, and whatever goes wrong, there is an answer.
  ServiceAnswer handle(std::string_view line, const Peer& peer);

  const Rules& rules() const { return rules_; }
  // JSON of how the daemon itself fares, for status. Before the first request.
  void tell_of_daemon(std::function<std::string()> facts) { facts_ = std::move(facts); }
  // From any thread: somebody's browser has asked for something.
  void count_web_request() { engine_->count_web_request(); }

 private:
  // One request, its peer and the store as the answering thread has it.
  struct Call {
    const RpcRequest& request;
    const Peer& peer;
    store::Store& reader;
  };
  // What can be asked for, in the order in which an answer lists it.
  struct Method {
    std::string_view name;
    Lane lane;
    Result<ServiceAnswer> (Service::*answer)(const Call&);
  };
  static const Method kMethods[];
  static const Method* method_named(std::string_view name);
  Result<ServiceAnswer> dispatch(const Call& call);
  Result<ServiceAnswer> submit(const Call& call);
  Result<ServiceAnswer> replay(const Call& call);
  // A plan that may be of anybody's, as theirs who ask. pre: they may submit
  Result<ServiceAnswer> take(const Call& call, const plan::Plan& plan, const std::string& directory, int64_t priority,
                             const std::string& warnings);
  Result<ServiceAnswer> status(const Call& call);
  Result<ServiceAnswer> watch(const Call& call);
  Result<ServiceAnswer> follow(const Call& call);
  Result<ServiceAnswer> machine(const Call& call);
  Result<ServiceAnswer> report(const Call& call);
  Result<ServiceAnswer> report_page(const Call& call, const store::ExperimentRow& row);
  Result<ServiceAnswer> logs(const Call& call);
  // What one trial has printed, or which of an experiment's did not pass.
  Result<ServiceAnswer> output(const Call& call);
  Result<ServiceAnswer> series(const Call& call);
  Result<ServiceAnswer> trend(const Call& call);
  Result<ServiceAnswer> bundle(const Call& call);
  Result<ServiceAnswer> rerun(const Call& call);
  // cancel, pause, resume, extend, priority, delete, unmask: what changes an experiment
  Result<ServiceAnswer> change(const Call& call);
  // The one that is meant, if this peer may see it; a stranger's is as absent.
  Result<store::ExperimentSummary> chosen(const Call& call);
  // The trial that is meant and its experiment, the same.
  struct ChosenTrial {
    store::TrialRow row;
    store::ExperimentSummary experiment;
  };
  Result<ChosenTrial> chosen_trial(const Call& call);
  // The log of an experiment that is not over keeps who looked at it by its cells' names, and when.
  Status unmask(const Call& call, const store::ExperimentSummary& row);
  // Has the broker see who this is: it starts nothing for anybody else.
  Status vouch(const Peer& peer);
  Status refuse_root(const Peer& peer) const;
  Status extend(const Call& call, const store::ExperimentSummary& row, int64_t blocks);
  engine::Asker asker(const Peer& peer) const;

  engine::Engine* engine_;
  EngineThread* thread_;
  Rules rules_;
  Quotas quotas_;
  Bundles bundles_;
  engine::DealtBlocks dealt_;
  WatchedResults watched_;
  std::function<std::string()> facts_;
};

}  // namespace stab::daemon
