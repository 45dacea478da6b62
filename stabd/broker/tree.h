// A process tree that an engine has asked for, and what is its own: namespaces for IPC, /dev/shm and /tmp, new ones after a trial
// that has left something there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/broker/wire/broker_wire.h"
#include "stabd/host/private_ipc.h"
#include "stabd/host/private_tmp.h"
#include "stabd/host/process_tree.h"

namespace stab::broker {

struct Tree {
  uint32_t number = 0;
  std::unique_ptr<host::ProcessTree> processes;
  std::string extra_procs;  // cgroup v1: a cpuset's cgroup.procs beside
  std::optional<host::PrivateTmp> tmp;  // the same; only with ipc
  std::optional<host::PrivateIpc> ipc;  // none: it shares the machine's

  // Namespaces for a new tree, as far as they can be had; the answer says how far.
  void separate(const MakeTree& request, uid_t front_end, Answer& answer);
  // Whatever an earlier trial has left in them, the next one gets new ones, or is not started.
  Status renew();
};

}  // namespace stab::broker
