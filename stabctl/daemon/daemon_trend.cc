#include "stabctl/daemon/daemon_trend.h"

#include "stabctl/daemon/daemon_client.h"
#include "stabctl/daemon/daemon_report.h"
#include "stabctl/terminal/terminal.h"

namespace stab::ctl {

Result<commands::CommandOutput> daemon_trend(const Arguments& arguments) {
  STAB_TRY(DaemonClient client, DaemonClient::connect(arguments.socket));
  STAB_TRY(const std::string answer,
           client.call("trend", {{"series", arguments.series}, {"factor", arguments.factor}, {"anchor", arguments.anchor}},
                       {{"json", arguments.json ? 1 : 0}, {"full", arguments.full ? 1 : 0}, {"width", terminal_width()}}));
  return daemons_output(answer);
}

}  // namespace stab::ctl
