// output: what one trial has printed, from a database of one's own or from the daemon that ran it.
#include <cstdio>

#include <nlohmann/json.hpp>

#include "stabctl/command_line/commands.h"
#include "stabctl/daemon/daemon_client.h"
#include "stabctl/records/database.h"
#include "stabd/engine/results/trial_output.h"

namespace stab::ctl {
namespace {

Result<engine::TrialOutput> from_daemon(const Arguments& arguments) {
  STAB_TRY(DaemonClient client, DaemonClient::connect(arguments.socket));
  STAB_TRY(const std::string answer, client.call("output", {}, {{"trial", arguments.trial}}));
  return engine::parse_output(answer);
}

Result<engine::TrialOutput> from_database(const Arguments& arguments) {
  STAB_TRY(store::Store store, open_for_reading(arguments));
  return engine::trial_output(store, arguments.trial);
}

}  // namespace

int output_command(const Arguments& arguments) {
  const auto output = arguments.socket.empty() ? from_database(arguments) : from_daemon(arguments);
  if (!output) return complain(output.error());
  const std::string text = arguments.json ? engine::output_json(*output) + "\n" : engine::output_text(*output);
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

}  // namespace stab::ctl
