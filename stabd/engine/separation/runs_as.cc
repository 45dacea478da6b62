#include "stabd/engine/separation/runs_as.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/broker/wire/client.h"
#include "stabd/engine/separation/places.h"
#include "stabd/engine/separation/submitter.h"

namespace stab::engine {

bool is_separated(const EngineOptions& options) {
  return options.broker->is_root() && ::geteuid() != 0;
}

std::optional<host::Submitter> runs_as(const EngineOptions& options, uid_t uid, gid_t gid) {
  return is_separated(options) ? host::Submitter{uid, gid, {}} : submitter_of(uid, gid);
}

Status give_directory(const EngineOptions& options, const std::string& path, uid_t uid, gid_t gid) {
  if (!is_separated(options)) return chown_to(path, uid, gid);
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return system_error("open '" + path + "'", errno);
  STAB_TRY(const broker::Reply reply, options.broker->ask(broker::Give{.uid = uid}, {directory.get()}));
  (void)reply;
  return {};
}

}  // namespace stab::engine
