#include "stabd/engine/separation/start_error.h"

#include "base/wording.h"

namespace stab::engine {

Error start_error(const std::string& program, const Error& why) {
  // EAGAIN: it may be run, but nothing may be started.
  const char* cure = why.code == ErrorCode::kBusy
                         ? "; this user, or the container, may have no more processes: raise 'ulimit -u' or pids.max"
                         : "; every user who submits must be able to run it";
  return {why.code, "start " + in_quotes(program) + ": " + why.message + cure, {}};
}

}  // namespace stab::engine
