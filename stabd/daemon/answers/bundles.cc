// A client asks for the first piece until it is there, then for the next ones. The daemon keeps the file, not the
// connection, so a client that is gone leaves nothing but a file, which the next start removes and no later reader is served: it
// has the experiment as it was, with the trials that were recorded by then.
#include "stabd/daemon/answers/bundles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "stabd/engine/separation/places.h"

namespace stab::daemon {
namespace {

// What was made is served for so long to whoever has asked for it. A client asks again after a tenth of a second; one that is
// on a slow line still comes for its first piece, and what it gets lacks no more than the trials of a minute.
constexpr std::chrono::seconds kFresh{60};
// Who has not come for the next piece within this time has left. A piece takes 4 s on a line of 1 Mbit/s.
constexpr std::chrono::seconds kBetweenPieces{10};

}  // namespace

Bundles::Bundles(const std::string& database, const Clock& clock)
    : directory_(engine::files_beside(database) + "/bundles"), clock_(&clock) {
  (void)engine::remove_tree(directory_);
}

Bundles::~Bundles() { (void)engine::remove_tree(directory_); }

// One unread file a user is enough; one that is still being made is waited for.
Status Bundles::forget_those_of(uid_t uid) {
  const std::string end = "-" + std::to_string(uid) + ".stab";
  for (auto at = made_.begin(); at != made_.end();) {
    if (!at->first.ends_with(end)) {
      ++at;
      continue;
    }
    const std::shared_ptr<Made> made = at->second;
    const std::lock_guard<std::mutex> held(made->mutex);
    if (!made->over) return Error{ErrorCode::kBusy, "another bundle of yours is being made", {}};
    STAB_CHECK_OK(engine::remove_tree(at->first));
    at = made_.erase(at);
  }
  return {};
}

bool Bundles::is_being_read(Made& made) const {
  const std::lock_guard<std::mutex> held(made.mutex);
  return made.read_at && clock_->monotonic_raw() - *made.read_at < kBetweenPieces;
}

// Whether who begins to read would get an experiment that is no longer as it was. What is still being made is not.
bool Bundles::is_stale(Made& made, const store::ExperimentSummary& now) const {
  const std::lock_guard<std::mutex> held(made.mutex);
  if (!made.over || !made.status) return false;
  return made.read_at || clock_->monotonic_raw() - made.at > kFresh || made.state != now.state ||
         made.finished_at_ns != now.finished_at_ns;
}

Status Bundles::make(EngineThread& thread, store::Id experiment, uid_t uid, const std::string& path) {
  STAB_CHECK_OK(forget_those_of(uid));
  STAB_CHECK_OK(engine::make_directories(directory_));
  if (::chmod(directory_.c_str(), 0700) != 0) return system_error("chmod '" + directory_ + "'", errno);
  const auto made = std::make_shared<Made>();
  made->copy = ++copies_;
  made_[path] = made;
  thread.between_trials([made, path, experiment, clock = clock_](store::Store& store) {
    (void)engine::remove_tree(path);
    const auto at = clock->monotonic_raw();
    const Result<store::ExperimentSummary> then = store.summary(experiment);
    const Status status = then ? store.bundle(experiment, path) : Status(then.error());
    const std::lock_guard<std::mutex> held(made->mutex);
    made->status = status;
    made->at = at;
    if (then) made->state = then->state;
    if (then) made->finished_at_ns = then->finished_at_ns;
    made->over = true;
  });
  return {};
}

Result<BundlePiece> Bundles::piece(EngineThread& thread, const store::ExperimentSummary& experiment, uid_t uid, int64_t offset,
                                   int64_t copy) {
  const std::string path = directory_ + "/" + std::to_string(experiment.id) + "-" + std::to_string(uid) + ".stab";
  const std::lock_guard<std::mutex> all(mutex_);
  const auto known = made_.find(path);
  if (known == made_.end() && offset != 0) return bad_input("no such bundle is being read; begin with offset 0");
  if (known != made_.end() && offset == 0 && is_being_read(*known->second))
    return Error{ErrorCode::kBusy, "another client of yours is reading the experiment's bundle", {}};
  if (known == made_.end() || (offset == 0 && is_stale(*known->second, experiment)))
    STAB_CHECK_OK(make(thread, experiment.id, uid, path));
  const std::shared_ptr<Made> made = made_[path];
  if (offset != 0 && copy != 0 && copy != made->copy)
    return bad_input("the bundle was made again meanwhile; begin with offset 0");
  {
    const std::lock_guard<std::mutex> held(made->mutex);
    if (!made->over) return Error{ErrorCode::kBusy, "the bundle is made as soon as no trial runs", {}};
    if (!made->status) {
      made_.erase(path);
      return made->status.error();
    }
    made->read_at = clock_->monotonic_raw();
  }
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0) return system_error("open '" + path + "'", errno);
  if (offset < 0 || offset > info.st_size) return bad_input("offset " + std::to_string(offset) + " is behind the end");
  BundlePiece piece;
  piece.size = info.st_size;
  piece.copy = made->copy;
  piece.bytes.resize(std::min<size_t>(kBundlePieceBytes, static_cast<size_t>(info.st_size - offset)));
  const ssize_t got = ::pread(fd.get(), piece.bytes.data(), piece.bytes.size(), offset);
  if (got < 0) return system_error("read '" + path + "'", errno);
  if (got == 0 && offset < info.st_size) return Error{ErrorCode::kCorrupt, "'" + path + "' became shorter", {}};
  piece.bytes.resize(static_cast<size_t>(got));
  piece.end = offset + got >= info.st_size;
  if (!piece.end) return piece;
  made_.erase(path);
  STAB_CHECK_OK(engine::remove_tree(path));
  return piece;
}

}  // namespace stab::daemon
