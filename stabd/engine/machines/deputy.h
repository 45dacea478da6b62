// Deputy: what starts and watches workers with the submitter's rights where a daemon is the controller. The daemon has the
// store and a spool of its own; the deputy is a process of the submitter's, has the spool that the workers see, and runs ssh,
// sbatch and their like. The two share one connection (connection.h) and no file.
//
// Names below go over it as files do; `of slot` stands for slot-SSS.epoch-EEEE.
//
//   daemon to deputy   plan (first), experiment, bundle, binary.SHA256; of slot: grant, verdict, start (its text: the host),
//                      stop, ask, got-PART (the part is on the daemon's disk); over (nobody needs the spool any more)
//   deputy to daemon   ready (its text: why not; empty: it is); of slot: started (its text: why not), lives ("1" or "0", told
//                      when it was asked for and whenever it changes), facts, preflight, log, heartbeat, end, part-*
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace stab::engine {

inline constexpr char kDeputyPlan[] = "plan", kDeputyReady[] = "ready", kDeputyOver[] = "over", kGotPrefix[] = "got-";

struct DeputySetting {
  int from = -1, to = -1;  // the connection
  std::string stabctl;     // on the machines, unless the plan says
  std::string scratch;     // where its spool is, if the plan names none
  const Clock* clock = nullptr;
};

// Until the connection closes. Workers that are processes of its own end then, jobs go on.
Status run_deputy(const DeputySetting& setting);

}  // namespace stab::engine
