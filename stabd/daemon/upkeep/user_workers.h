// UserWorkers: a worker for each user whose files are to be looked at or removed, for as long as one round of retention.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "stabd/engine/separation/worker.h"

namespace stab::broker {
class Client;
}

namespace stab::daemon {

class UserWorkers {
 public:
  struct Setting {
    std::string launcher, program;      // of workers
    const Clock* clock = nullptr;
    int cancel_fd = -1;                 // readable: stop now
    broker::Client* broker = nullptr;   // who starts workers of other users; null: this process does, which is root
    // All of one user's requests together; what is under way then has as long again.
    std::chrono::milliseconds limit = std::chrono::minutes(2);
  };
  explicit UserWorkers(Setting setting) : setting_(std::move(setting)) {}

  // As that user. One whose worker can't be started, ends, takes too long or talks nonsense is asked nothing more: every
  // request after that fails with the same words. kBusy: the daemon is to stop, which holds for all.
  template <class Request>
  Result<typename Request::Answer> ask(uid_t uid, gid_t gid, const Request& request) {
    STAB_TRY(One* const one, ready(uid, gid));
    const auto began = setting_.clock->monotonic_raw();
    auto answer = one->worker->ask(request);
    one->used += setting_.clock->monotonic_raw() - began;
    // What befell the worker itself leaves a note; what it says of files does not.
    const bool befell = !one->worker->take_events().empty();
    if (!answer && (befell || answer.error().code == ErrorCode::kBusy)) give_up(*one, answer.error());
    return answer;
  }
  // Whether they can be asked for something.
  Status usable(uid_t uid, gid_t gid) {
    const auto one = ready(uid, gid);
    return one ? Status() : Status(one.error());
  }
  // Whether the daemon is to stop.
  bool cancelled() const { return cancelled_; }

 private:
  struct One {
    std::unique_ptr<engine::Worker> worker;
    std::chrono::nanoseconds used{0};
    std::optional<Error> failed;
  };
  Result<One*> ready(uid_t uid, gid_t gid);
  Status start(One& one, uid_t uid, gid_t gid);
  void give_up(One& one, const Error& error);

  Setting setting_;
  std::map<uid_t, One> users_;
  bool cancelled_ = false;
};

}  // namespace stab::daemon
