#include "stabctl/daemon_trend.h"

#include <nlohmann/json.hpp>

#include "stabctl/commands.h"
#include "stabctl/daemon_client.h"
#include "stabctl/terminal.h"

namespace stab::ctl {

Result<commands::CommandOutput> daemon_trend(const Arguments& arguments) {
  STAB_TRY(DaemonClient client, DaemonClient::connect(arguments.socket));
  STAB_TRY(const std::string answer,
           client.call("trend", {{"series", arguments.series}, {"factor", arguments.factor}, {"anchor", arguments.anchor}},
                       {{"json", arguments.json ? 1 : 0}, {"full", arguments.full ? 1 : 0}, {"width", terminal_width()}}));
  const auto json = nlohmann::json::parse(answer);
  return commands::CommandOutput{json.value("out", std::string()), json.value("err", std::string()),
                                 json.value("exit_code", kExitFailed)};
}

}  // namespace stab::ctl
