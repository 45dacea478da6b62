// A client asks for the first piece until it is there, then for the next ones. The daemon keeps the file, not the
// connection, so a client that is gone leaves nothing but a file that the next start removes.
#include "stabd/bundles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "engine/experiment/places.h"

namespace stab::engine {

Bundles::Bundles(const std::string& database) : directory_(files_beside(database) + "/bundles") {
  (void)remove_tree(directory_);
}

Bundles::~Bundles() { (void)remove_tree(directory_); }

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
    STAB_CHECK_OK(remove_tree(at->first));
    at = made_.erase(at);
  }
  return {};
}

Result<BundlePiece> Bundles::piece(EngineThread& thread, store::Id experiment, uid_t uid, int64_t offset) {
  const std::string path = directory_ + "/" + std::to_string(experiment) + "-" + std::to_string(uid) + ".stab";
  const std::lock_guard<std::mutex> all(mutex_);
  const auto known = made_.find(path);
  if (known == made_.end() && offset != 0) return bad_input("no such bundle is being read; begin with offset 0");
  if (known == made_.end()) {
    STAB_CHECK_OK(forget_those_of(uid));
    STAB_CHECK_OK(make_directories(directory_));
    if (::chmod(directory_.c_str(), 0700) != 0) return system_error("chmod '" + directory_ + "'", errno);
    const auto made = std::make_shared<Made>();
    made_[path] = made;
    thread.between_trials([made, path, experiment](store::Store& store) {
      (void)remove_tree(path);
      const Status status = store.bundle(experiment, path);
      const std::lock_guard<std::mutex> held(made->mutex);
      made->status = status;
      made->over = true;
    });
  }
  {
    const std::shared_ptr<Made> made = made_[path];
    const std::lock_guard<std::mutex> held(made->mutex);
    if (!made->over) return Error{ErrorCode::kBusy, "the bundle is made as soon as no trial runs", {}};
    if (!made->status) {
      made_.erase(path);
      return made->status.error();
    }
  }
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0) return system_error("open '" + path + "'", errno);
  if (offset < 0 || offset > info.st_size) return bad_input("offset " + std::to_string(offset) + " is behind the end");
  BundlePiece piece;
  piece.size = info.st_size;
  piece.bytes.resize(std::min<size_t>(kBundlePieceBytes, static_cast<size_t>(info.st_size - offset)));
  const ssize_t got = ::pread(fd.get(), piece.bytes.data(), piece.bytes.size(), offset);
  if (got < 0) return system_error("read '" + path + "'", errno);
  if (got == 0 && offset < info.st_size) return Error{ErrorCode::kCorrupt, "'" + path + "' became shorter", {}};
  piece.bytes.resize(static_cast<size_t>(got));
  piece.end = offset + got >= info.st_size;
  if (!piece.end) return piece;
  made_.erase(path);
  STAB_CHECK_OK(remove_tree(path));
  return piece;
}

}  // namespace stab::engine
