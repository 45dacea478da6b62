// Which logbook a gate and its A/A controls use, and which session this is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/gate/gate_sessions.h"
#include "base/clock.h"
#include "base/result.h"
#include "store/logbook.h"

namespace stab::ctl {

// `named`: in a gate's file, relative to `root`; empty: the user's own, beside the database.
Result<std::string> logbook_path(const std::string& named, const std::string& root);

// This boot, and the day that it is (UTC).
Result<store::LogbookSession> this_session(const Clock& clock);

// Opens the logbook for reading; none where there is no such file, or an empty one.
Result<std::optional<store::Logbook>> known_logbook(const std::string& path);
// Its A/A controls; none where there is no such file.
Result<std::vector<commands::SessionFinding>> known_controls(const std::string& path);
// Opens the logbook for writing; the folder of the user's own is made.
Result<store::Logbook> open_logbook(const std::string& path);

std::vector<commands::SessionFinding> from_logbook(const std::vector<store::LogbookFinding>& rows);
std::vector<store::LogbookFinding> for_logbook(const std::vector<commands::SessionFinding>& findings);

}  // namespace stab::ctl
