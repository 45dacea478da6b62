// Reports of experiments that a daemon has.
#pragma once

#include <string>

#include "analysis/commands/answers/command_output.h"
#include "stabctl/command_line/arguments.h"
#include "stabctl/daemon/daemon_client.h"

namespace stab::ctl {

// report --socket: text and JSON are made by the daemon, whose database may be out of the user's reach; pages, figures and the
// other formats here, from a bundle that is fetched for them. Returns the exit code.
int daemon_report(const Arguments& arguments);

// What a daemon answers to a command that it has carried out.
commands::CommandOutput daemons_output(const std::string& answer);

// At the end of submit --wait: the page, beside the user's own pages, and the first screen with its path. Returns the exit code.
int report_with_page(DaemonClient& client, const Arguments& arguments, int64_t experiment, const std::string& name);

// "stabctl report 3 --socket PATH", for somebody who sees its end.
std::string report_words(const Arguments& arguments, int64_t experiment);

// The experiment's bundle in a new file; see docs/reference/protocol.md. Returns its number at the daemon, which the bundle's is
// not.
Result<int64_t> fetch_bundle(DaemonClient& client, const std::string& experiment, const std::string& path);

}  // namespace stab::ctl
