// The files of `stabctl time --store` and `--against`: read before the first run, so that nobody waits a minute for nothing, and
// grown by one line after the last.
#pragma once

#include <string>
#include <vector>

#include "analysis/commands/time/stored_baseline.h"
#include "analysis/commands/time/timed_runs.h"
#include "base/clock.h"
#include "base/result.h"

namespace stab::ctl {

struct BaselineFiles {
  std::string store, against;                  // empty: not asked for
  std::vector<commands::StoredTiming> stored;  // what `against` has
  commands::StoredTiming now;                  // this session; its time comes last
};

// kBadInput: --margin without --against, a file that is not there or has a line that is none, or one of another program.
Result<BaselineFiles> baseline_files(const std::string& store, const std::string& against, bool has_margin,
                                     commands::StoredTiming now);
// The session that runs now, without its time. `words`: the program and its arguments; `input`: what it reads, empty: nothing.
Result<commands::StoredTiming> timing_of_now(const std::vector<std::string>& words, const std::string& input, bool randomized,
                                             const Clock& clock);
// kBadInput: a run took no CPU time.
Status take_runs(BaselineFiles& files, const commands::TimedRuns& cpu);
// Appends `files.now` with one write, so two sessions that end at once are two lines.
Status append_session(const BaselineFiles& files);

}  // namespace stab::ctl
