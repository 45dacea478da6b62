#include "stabd/engine/separation/helper_at_broker.h"

#include <signal.h>

#include <utility>

#include "stabd/broker/wire/client.h"
#include "stabd/engine/separation/tree_at_broker.h"

namespace stab::engine {

int HelperAtBroker::end() {
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return 0;
  const auto ended = end_at_broker(*broker_, {.tree = 0, .pid = pid}, kEndDeadline);
  // Whose broker is gone has died with it, or hangs; the request that follows says so.
  return ended ? ended->status : SIGKILL;
}

}  // namespace stab::engine
