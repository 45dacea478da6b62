#include "stabctl/daemon_trend.h"

#include <nlohmann/json.hpp>

#include <cstdio>

#include "stabctl/commands.h"
#include "stabctl/daemon_client.h"
#include "stabctl/terminal.h"

namespace stab::ctl {

int daemon_trend(const Arguments& arguments) {
  auto client = DaemonClient::connect(arguments.socket);
  if (!client) return complain(client.error());
  const auto result = client->call(
      "trend", {{"series", arguments.series}, {"factor", arguments.factor}, {"anchor", arguments.anchor}},
      {{"json", arguments.json ? 1 : 0}, {"full", arguments.full ? 1 : 0}, {"width", terminal_width()}});
  if (!result) return complain(result.error());
  const auto json = nlohmann::json::parse(*result);
  std::fputs(json.value("out", std::string()).c_str(), stdout);
  std::fflush(stdout);
  std::fputs(json.value("err", std::string()).c_str(), stderr);
  return json.value("exit_code", kExitFailed);
}

}  // namespace stab::ctl
