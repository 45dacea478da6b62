// What clients are told: answers to what they asked, and events of those that they watch. Each callback sends a part of it.
#include "stabd/daemon/loop/server_loop.h"

namespace stab::daemon {
namespace {

// What one callback sends at most; the rest has its turn after others had theirs. A send is a system call, and a copy of as
// much as the socket takes.
constexpr size_t kSendsAtOnce = 256;
// An event's turn, and looking for those who watch: as long as a send for every so many clients. Looking through events that
// happened takes as long for each.
constexpr size_t kClientsASend = 64;

}  // namespace

void Server::Loop::woken() {
  const Latency::Held held(facts.latency, Callback::kWake);
  if (events != nullptr) broadcast();
  if (!threads) return;
  catch_up();
  deliver();
  if (held_browsers.rule() == DuringTrials::kQuiet)
    held_browsers.settle(threads->of_browsers() > 0 || !answered.empty() || browser_is_behind());
}

void Server::Loop::broadcast() {
  for (EngineEvent& event : (*events)()) to_tell.push_back(std::move(event));
  for (size_t sends = 0; sends < kSendsAtOnce; ++sends) {
    if (telling.done < telling.clients.size()) {
      const auto found = clients.find(telling.clients[telling.done++]);
      if (found != clients.end() && found->second->sees(telling.what.event))
        send(*found->second, found->second->web ? telling.for_browsers : telling.line);
    } else if (!to_tell.empty()) {
      begin_to_tell(std::move(to_tell.front()));
      to_tell.pop_front();
      sends += clients.size() / kClientsASend;
    } else {
      return;
    }
  }
  uv_async_send(&async);
}

void Server::Loop::begin_to_tell(EngineEvent event) {
  const NumberedEvent& one = told.add(std::move(event));
  telling = {one, event_text(told, false, one), event_text(told, true, one), {}, 0};
  const bool browsers_wait = !held_browsers.are_told();
  bool behind = false;
  for (const auto& [number, client] : clients) {
    if (client->web && browsers_wait) {
      behind |= client->follows.has_value();
      continue;
    }
    // Told in its turn; who is told now is not behind.
    if (client->web && client->told + 1 == one.number)
      client->told = one.number;
    else if (client->web)
      continue;  // it has more to catch up with
    if (client->sees(one.event)) telling.clients.push_back(number);
  }
  if (behind) held_browsers.miss_something();
}

void Server::Loop::deliver() {
  for (AnsweredRequest& one : threads->take_answers()) answered.push_back(std::move(one));
  size_t sends = 0;
  for (; sends < kSendsAtOnce && !hasty.empty(); ++sends) {
    const auto found = clients.find(hasty.front());
    hasty.pop_front();
    if (found != clients.end()) sends += go_on_http(*found->second);
  }
  for (; sends < kSendsAtOnce && !answered.empty(); ++sends) {
    AnsweredRequest one = std::move(answered.front());
    answered.pop_front();
    if (one.answer.news) to_tell.push_back(std::move(*one.answer.news));
    facts.answers[static_cast<size_t>(one.lane)].add(Callback::kWake, std::chrono::steady_clock::now() - one.asked);
    // It took longer than its gap, and so some of the trial that runs now, whose ledger is to have it.
    if (one.of_browser && !one.changes && held_browsers.wait()) service->count_web_request();
    const auto found = clients.find(one.client);
    if (found == clients.end() || found->second->closing) continue;
    Client& client = *found->second;
    client.under_way = false;
    client.quiet_since = std::chrono::steady_clock::now();
    if (one.answer.follow || one.answer.watch) {
      sends += told.size() / kClientsASend;
      if (one.answer.follow) client.follows = one.answer.follow;
      if (one.answer.watch) client.watches = one.answer.watch;
      // What happened since the answer was begun is not in it.
      const uint64_t seen = client.web ? told.number_of(client.web->last_event()).value_or(UINT64_MAX) : one.events_before;
      const std::optional<std::string> since = client.missed(told, seen);
      if (!since) {
        drop(client, "more has happened since it asked to watch than is kept for it", client.peer->uid);
        continue;
      }
      one.answer.line += *since;
      if (one.answer.follow) client.told = told.newest();
    }
    if (client.web) {
      send(client, std::move(one.answer.line));
      if (one.closes)
        end(client);
      else if (client.follows)
        read(client);  // to see it go
      else
        sends += go_on_http(client);
      continue;
    }
    send(client, std::move(one.answer.line));
    go_on(client);
  }
  if (!answered.empty() || !hasty.empty() || !to_tell.empty()) uv_async_send(&async);
}

}  // namespace stab::daemon
