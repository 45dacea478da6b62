// Clients that are browsers: their requests become lines (stabd/daemon/web/), and wait for a gap between trials where the lab
// wants that.
#include <algorithm>

#include "stabd/daemon/loop/server_loop.h"

namespace stab::daemon {
namespace {

// Requests of one browser that a turn answers, where it sends many without waiting for answers.
constexpr size_t kRequestsATurn = 32;
constexpr char kRests[] =
    "trials run, and this lab's page rests meanwhile ([web] during_trials = \"off\"); "
    "'stabctl status' and 'stabctl watch' answer";

}  // namespace

void Server::Loop::received_http(Client& client, std::string_view bytes) {
  if (client.ending || client.follows) return;  // whatever is said now is not looked at
  if (!client.web->in_message()) client.line_began = std::chrono::steady_clock::now();
  client.web->add(bytes);
  go_on_http(client);
}

size_t Server::Loop::go_on_http(Client& client) {
  size_t taken = 0;
  while (!client.closing && !client.under_way && !client.ending) {
    if (taken == kRequestsATurn) {
      stop_reading(client);
      hasty.push_back(client.number);
      uv_async_send(&async);
      break;
    }
    std::optional<WebTurn> turn = client.web->next();
    if (!turn) {
      read(client);
      break;
    }
    ++taken;
    const bool waits = turn->send.empty() && !turn->changes && held_browsers.wait();
    if (!waits) service->count_web_request();  // else in its gap
    client.asked = true;
    client.quiet_since = client.line_began = std::chrono::steady_clock::now();
    if (!turn->send.empty()) {
      send(client, turn->send);
      if (turn->closes) end(client);
      continue;
    }
    if (held_browsers.rest()) {
      send(client, http_bytes(answer_of({503, kRests}, turn->closes)));
      if (turn->closes) end(client);
      continue;
    }
    stop_reading(client);
    client.under_way = true;
    WaitingRequest request{client.number, *client.peer, std::move(turn->ask), turn->form, turn->closes, turn->changes};
    // What somebody decides is done at once; what they want to see can wait.
    if (waits) {
      held_browsers.hold(std::move(request));
      continue;
    }
    threads->add(std::move(request));
  }
  return taken;
}

void Server::Loop::catch_up() {
  if (held_browsers.rule() == DuringTrials::kLive || held_browsers.trials_run()) return;
  for (WaitingRequest& request : held_browsers.take()) {
    const auto found = clients.find(request.client);
    if (found == clients.end() || found->second->closing) continue;
    service->count_web_request();
    threads->add(std::move(request));
  }
  for (const auto& [number, client] : clients) {
    if (!client->is_behind(told) || client->closing) continue;
    std::string since = client->missed(told, client->told).value_or("");
    client->told = told.newest();
    if (!since.empty()) send(*client, std::move(since));
  }
}

bool Server::Loop::browser_is_behind() const {
  for (const auto& [number, client] : clients)
    if (client->is_behind(told)) return true;
  return false;
}

void Server::Loop::sweep_http(Client& client, Due due, ClientState::Time now) {
  if (due == Due::kEnd) return drop(client);
  if (due == Due::kEndOfEndless) return drop(client, "its request has no end", client.peer->uid);
  client.quiet_since = now;
  send(client, ":\n\n");
}

}  // namespace stab::daemon
