// The daemon's loop: its clients, what they wait for, and what they are told. The functions stand in three files, one for each
// of these: server_clients.cc, server_http.cc for those that are browsers, server_telling.cc.
//
// libuv callbacks do nothing but move bytes: a line goes to the request threads, its answer comes back. No callback takes
// longer than a few milliseconds, and each one's time is measured. A client that sends too long a line, or nothing, or does
// not read what it asked for, is dropped; others don't notice.
//
// Two sockets, one for lines (docs/reference/protocol.md) and one for HTTP, which stabd/daemon/web/ makes lines of: behind that,
// a browser is a client as any other. Each has its own number of connections, so that no number of open pages keeps stabctl out.
//
// A client's lines are answered one after the other. While some of them wait, no more is read of it: what a client sends
// faster than it is answered waits in its own socket.
#pragma once

#include <uv.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stabd/daemon/events/event_history.h"
#include "stabd/daemon/events/watching.h"
#include "stabd/daemon/loop/request_threads.h"
#include "stabd/daemon/loop/server.h"
#include "stabd/daemon/protocol/client_patience.h"
#include "stabd/daemon/protocol/connection_places.h"
#include "stabd/daemon/protocol/protocol.h"
#include "stabd/daemon/requests/held_browsers.h"
#include "stabd/daemon/requests/loop_facts.h"
#include "stabd/daemon/web/conversation.h"

namespace stab::daemon {

struct Server::Loop {
  static constexpr uint64_t kSweepMs = 1000;
  explicit Loop(std::string start) : told(std::move(start)) {}
  struct Listener;
  struct Client : ClientState, Watching {
    uv_pipe_t pipe;
    Loop* loop = nullptr;
    uint64_t number = 0;
    LineSplitter lines{kMaxRequestBytes};
    std::deque<std::string> waiting;     // behind the one that is being answered
    std::optional<Peer> peer;            // once it is accepted
    std::optional<WebConversation> web;  // a browser's
    Listener* listener = nullptr;
    bool reads = false, closing = false;
  };
  struct Listener {
    uv_pipe_t pipe;
    Loop* loop = nullptr;
    std::string path;
    ConnectionPlaces places;  // of clients that were let in and are not closing

    Status listen(const std::string& at, const std::string& group);
  };

  static Loop& of(void* data) { return *static_cast<Loop*>(data); }

  // server_clients.cc
  void accept(Listener& listener);
  void read(Client& client);
  void stop_reading(Client& client);
  void received(Client& client, std::string_view bytes);
  // One line of a client is under way, the others wait here, and while they do nothing more is read.
  void go_on(Client& client);
  void send(Client& client, std::string text);
  // The connection ends when all that was sent is taken.
  void end(Client& client);
  void drop(Client& client, const char* why, uid_t uid);
  // One that has no place, once it was told so.
  void turn_away(Client& client, int fd, const char* why, uid_t uid);
  void drop(Client& client);
  void close_all();
  // Who has connected and says nothing, or not all of it.
  void sweep();
  void sweep_every(uint64_t milliseconds = kSweepMs);

  // server_http.cc
  void received_http(Client& client, std::string_view bytes);
  // How many requests it answered, or passed on.
  size_t go_on_http(Client& client);
  // In a gap, or when no trials follow each other any more: what was held is done, and browsers are told what they have missed.
  void catch_up();
  // Whether some browser has not been told of something yet.
  bool browser_is_behind() const;
  void sweep_http(Client& client, Due due, ClientState::Time now);

  // server_telling.cc
  void woken();
  void broadcast();
  // Whoever begins to watch from now on learns of it with the answer (deliver).
  void begin_to_tell(EngineEvent event);
  // What is left has its turn after others had theirs.
  void deliver();

  uv_loop_t loop;
  Listener plain, browsers;
  uv_async_t async;
  uv_timer_t timer, sweeper;
  uv_signal_t terminate, interrupt;
  std::array<char, 65536> received_bytes;  // of the one read that is under way
  std::map<uint64_t, std::unique_ptr<Client>> clients;
  uint64_t last_client = 0;
  Connections limits;
  uid_t owner = 0;
  std::unique_ptr<RequestThreads> threads;
  std::deque<EngineEvent> to_tell;
  // The event that is being told: to whom, and how many of them know.
  struct Telling {
    NumberedEvent what;
    std::string line, for_browsers;
    std::vector<uint64_t> clients;
    size_t done = 0;
  } telling;
  std::deque<AnsweredRequest> answered;  // not sent yet
  std::deque<uint64_t> hasty;            // browsers of which more requests are here than one turn answers
  EventHistory told;
  HeldBrowsers held_browsers;
  LoopFacts facts;
  const std::function<std::vector<EngineEvent>()>* events = nullptr;
  Service* service = nullptr;
  std::function<void()> tick = [] {};
  LogSink log = [](const LogEntry&) {};
};

}  // namespace stab::daemon
