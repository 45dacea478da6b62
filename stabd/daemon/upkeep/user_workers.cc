// A user can keep a worker of theirs from answering, by a file system of their own or by stopping it. So each user has
// one worker, a time for all that it is asked, and one failure; what that costs the others is bounded by both.
#include "stabd/daemon/upkeep/user_workers.h"

#include <unistd.h>

namespace stab::daemon {

Result<UserWorkers::One*> UserWorkers::ready(uid_t uid, gid_t gid) {
  One& one = users_[uid];
  if (!one.failed && one.used > setting_.limit)
    one.failed = Error{ErrorCode::kSystem, "their files have taken more than " +
                                               std::to_string(std::chrono::ceil<std::chrono::seconds>(setting_.limit).count()) +
                                               " s, and others wait; the rest is for the next time", {}};
  if (!one.failed && !one.worker) {
    if (const Status started = start(one, uid, gid); !started) give_up(one, started.error());
  }
  if (one.failed) return *one.failed;
  return &one;
}

// What is ours no broker starts. As other users, a worker has no more than one group: owners of files need none.
Status UserWorkers::start(One& one, uid_t uid, gid_t gid) {
  const bool is_own = uid == ::geteuid();
  engine::Worker::Setting setting;
  setting.start = is_own || setting_.broker == nullptr ? engine::started_here(setting_.launcher)
                                                       : engine::started_by(*setting_.broker);
  setting.program = setting_.program;
  if (!is_own) setting.submitter = host::Submitter{uid, gid, {}};
  setting.cancel_fd = setting_.cancel_fd;
  setting.limit = setting_.limit;
  one.worker = std::make_unique<engine::Worker>(std::move(setting));
  return one.worker->start();
}

void UserWorkers::give_up(One& one, const Error& error) {
  cancelled_ = cancelled_ || error.code == ErrorCode::kBusy;
  one.worker.reset();
  one.failed = error;
}

}  // namespace stab::daemon
