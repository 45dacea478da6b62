// A user can keep a worker of theirs from answering, by a file system of their own or by stopping it. So each user has
// one worker, a time for all that it is asked, and one failure; what that costs the others is bounded by both.
#include "stabd/daemon/user_workers.h"

#include <unistd.h>

#include "stabd/broker/wire/client.h"

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

// What is ours needs nobody else. As other users, a worker has no more than one group: owners of files need none.
Status UserWorkers::start(One& one, uid_t uid, gid_t gid) {
  engine::Worker::Setting setting{setting_.launcher, setting_.program, {}, -1, setting_.cancel_fd, nullptr, setting_.limit};
  if (uid != ::geteuid()) {
    setting.submitter = host::Submitter{uid, gid, {}};
    if (setting_.broker != nullptr && !tree_) {
      STAB_TRY(host::ProcessTree tree, host::ProcessTree::create_at(*setting_.broker, false, -1));
      tree_ = std::make_unique<host::ProcessTree>(std::move(tree));
    }
    setting.tree = tree_.get();
  }
  one.worker = std::make_unique<engine::Worker>(std::move(setting));
  return one.worker->start();
}

void UserWorkers::give_up(One& one, const Error& error) {
  cancelled_ = cancelled_ || error.code == ErrorCode::kBusy;
  one.worker.reset();
  one.failed = error;
}

}  // namespace stab::daemon
