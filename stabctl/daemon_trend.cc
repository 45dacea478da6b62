#include "stabctl/daemon_trend.h"

#include "stabctl/commands.h"
#include "stabctl/daemon_client.h"
#include "stabctl/daemon_report.h"
#include "stabctl/terminal.h"

namespace stab::ctl {

int daemon_trend(const Arguments& arguments) {
  auto client = DaemonClient::connect(arguments.socket);
  if (!client) return complain(client.error());
  const auto result = client->call(
      "trend", {{"series", arguments.series}, {"factor", arguments.factor}, {"anchor", arguments.anchor}},
      {{"json", arguments.json ? 1 : 0}, {"full", arguments.full ? 1 : 0}, {"width", terminal_width()}});
  return result ? print_daemons_output(*result) : complain(result.error());
}

}  // namespace stab::ctl
