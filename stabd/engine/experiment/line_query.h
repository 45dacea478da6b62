// A question to stab-lines, asked as the submitter whose binaries it is about.
#pragma once

#include "base/result.h"
#include "stabd/engine/trial/trial_run.h"
#include "stabd/lines/wire/lines_wire.h"

namespace stab::engine {

// Runs `program` in the trials' tree, within the limits of commands. kBadInput: what it says; kBusy: cancelled.
Result<lines::Answer> ask_for_lines(const Laboratory& laboratory, const std::optional<host::Submitter>& submitter,
                                    const std::string& program, const lines::Request& request);

}  // namespace stab::engine
