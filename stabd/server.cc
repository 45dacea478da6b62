// libuv callbacks do nothing but move bytes: a line goes to the request threads, its answer comes back. No callback takes
// longer than a few milliseconds, and each one's time is measured. A client that sends too long a line, or nothing, or does
// not read what it asked for, is dropped; others don't notice.
//
// Two sockets, one for lines (docs/protocol.md) and one for HTTP, which stabd/web/ makes lines of: behind that, a browser is
// a client as any other. Each has its own number of connections, so that no number of open pages keeps stabctl out.
//
// A client's lines are answered one after the other. While some of them wait, no more is read of it: what a client sends
// faster than it is answered waits in its own socket.
#include "stabd/server.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <map>
#include <optional>

#include "stabd/client_patience.h"
#include "stabd/connection_places.h"
#include "stabd/daemon_socket.h"
#include "stabd/event_history.h"
#include "stabd/held_browsers.h"
#include "stabd/loop_facts.h"
#include "stabd/policy.h"
#include "stabd/protocol.h"
#include "stabd/request_threads.h"
#include "stabd/watching.h"
#include "stabd/web/conversation.h"

namespace stab::engine {
namespace {

// The most that Linux takes by default: accepting is quick, and who is not wanted is told by being closed.
constexpr int kBacklog = 4096;
constexpr uint64_t kSweepMs = 1000;
// What one callback sends at most; the rest has its turn after others had theirs. A send is a system call, and a copy of as
// much as the socket takes.
constexpr size_t kSendsAtOnce = 256;
// An event's turn, and looking for those who watch: as long as a send for every so many clients. Looking through events that
// happened takes as long for each.
constexpr size_t kClientsASend = 64;
// Requests of one browser that a turn answers, where it sends many without waiting for answers.
constexpr size_t kRequestsATurn = 32;
// Clients that one callback drops: each is a line of the log.
constexpr int kDropsAtOnce = 64;
constexpr uint64_t kNextSweepMs = 10;
constexpr char kRests[] =
    "trials run, and this lab's page rests meanwhile ([web] during_trials = \"off\"); "
    "'stabctl status' and 'stabctl watch' answer";

struct Write {
  uv_write_t request;
  std::string text;
};

// Names this daemon's events.
std::string start_of_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::to_string(now.tv_sec) + "." + std::to_string(now.tv_nsec);
}

}  // namespace

struct Server::Loop {
  explicit Loop(std::string start) : told(std::move(start)) {}
  struct Listener;
  struct Client : ClientState, Watching {
    uv_pipe_t pipe;
    Loop* loop = nullptr;
    uint64_t number = 0;
    LineSplitter lines{kMaxRequestBytes};
    std::deque<std::string> waiting;  // behind the one that is being answered
    std::optional<Peer> peer;         // once it is accepted
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

  static Loop& of(void* data) { return *static_cast<Loop*>(data); }

  void accept(Listener& listener) {
    const Latency::Held held(facts.latency, Callback::kAccept);
    auto client = std::make_unique<Client>();
    Client* raw = client.get();
    uv_pipe_init(&loop, &raw->pipe, 0);
    raw->pipe.data = raw;
    raw->loop = this;
    raw->number = ++last_client;
    raw->listener = &listener;
    if (&listener == &browsers) raw->web.emplace();
    raw->is_browser = raw->web.has_value();
    raw->connected = raw->quiet_since = std::chrono::steady_clock::now();
    clients.emplace(raw->number, std::move(client));
    uv_os_fd_t fd = -1;
    if (uv_accept(reinterpret_cast<uv_stream_t*>(&listener.pipe), reinterpret_cast<uv_stream_t*>(&raw->pipe)) != 0 ||
        uv_fileno(reinterpret_cast<uv_handle_t*>(&raw->pipe), &fd) != 0)
      return drop(*raw);
    const std::optional<Peer> peer = peer_of(fd);
    if (!peer) return drop(*raw);
    if (const char* why = listener.places.why_none(peer->uid, is_privileged(*peer, owner), limits))
      return drop(*raw, why, peer->uid);
    raw->peer = peer;
    raw->peer->connection = std::make_shared<Connection>(fd);
    listener.places.take(peer->uid);
    read(*raw);
  }

  void read(Client& client) {
    if (client.reads || client.closing) return;
    client.reads = true;
    uv_read_start(
        reinterpret_cast<uv_stream_t*>(&client.pipe),
        [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
          Loop& self = *static_cast<Client*>(handle->data)->loop;
          *buffer = uv_buf_init(self.received_bytes.data(), static_cast<unsigned>(self.received_bytes.size()));
        },
        [](uv_stream_t* stream, ssize_t got, const uv_buf_t* buffer) {
          Client& from = *static_cast<Client*>(stream->data);
          const Latency::Held held(from.loop->facts.latency, Callback::kRead);
          if (got < 0) return from.loop->drop(from);
          from.loop->received(from, std::string_view(buffer->base, static_cast<size_t>(got)));
        });
  }

  void received(Client& client, std::string_view bytes) {
    if (client.web) return received_http(client, bytes);
    std::vector<std::string> lines;
    const bool was_in_line = client.lines.in_line();
    const bool fits = client.lines.add(bytes, lines);
    if (client.lines.in_line() && (!was_in_line || !lines.empty())) client.line_began = std::chrono::steady_clock::now();
    for (std::string& line : lines) client.waiting.push_back(std::move(line));
    if (!fits) return drop(client, "a line is too long", client.peer->uid);
    go_on(client);
  }

  void received_http(Client& client, std::string_view bytes) {
    if (client.ending || client.follows) return;  // whatever is said now is not looked at
    if (!client.web->in_message()) client.line_began = std::chrono::steady_clock::now();
    client.web->add(bytes);
    go_on_http(client);
  }

  // How many requests it answered, or passed on.
  size_t go_on_http(Client& client) {
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

  // In a gap, or when no trials follow each other any more: what was held is done, and browsers are told what they have missed.
  void catch_up() {
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

  void stop_reading(Client& client) {
    if (client.reads) uv_read_stop(reinterpret_cast<uv_stream_t*>(&client.pipe));
    client.reads = false;
  }

  // One line of a client is under way, the others wait here, and while they do nothing more is read.
  void go_on(Client& client) {
    if (client.closing || client.under_way) return;
    if (client.waiting.empty()) return read(client);
    stop_reading(client);
    client.under_way = client.asked = true;
    std::string line = std::move(client.waiting.front());
    client.waiting.pop_front();
    threads->add({client.number, *client.peer, std::move(line)});
  }

  // What is left has its turn after others had theirs.
  void deliver() {
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
        if (one.closes) end(client);
        else if (client.follows) read(client);  // to see it go
        else sends += go_on_http(client);
        continue;
      }
      send(client, std::move(one.answer.line));
      go_on(client);
    }
    if (!answered.empty() || !hasty.empty() || !to_tell.empty()) uv_async_send(&async);
  }

  // Whether some browser has not been told of something yet.
  bool browser_is_behind() const {
    for (const auto& [number, client] : clients)
      if (client->is_behind(told)) return true;
    return false;
  }

  void send(Client& client, std::string text) {
    if (client.closing) return;
    if (uv_stream_get_write_queue_size(reinterpret_cast<uv_stream_t*>(&client.pipe)) > kMostUnreadBytes)
      return drop(client, "it does not read its answers", client.peer->uid);
    auto* write = new Write{{}, std::move(text)};
    write->request.data = write;
    const uv_buf_t buffer = uv_buf_init(write->text.data(), static_cast<unsigned>(write->text.size()));
    const int failed = uv_write(&write->request, reinterpret_cast<uv_stream_t*>(&client.pipe), &buffer, 1,
                                [](uv_write_t* request, int) { delete static_cast<Write*>(request->data); });
    if (failed != 0) {
      delete write;
      drop(client);
    }
  }

  // Whoever begins to watch from now on learns of it with the answer (deliver).
  void begin_to_tell(EngineEvent event) {
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
      if (client->web && client->told + 1 == one.number) client->told = one.number;
      else if (client->web) continue;  // it has more to catch up with
      if (client->sees(one.event)) telling.clients.push_back(number);
    }
    if (behind) held_browsers.miss_something();
  }

  void broadcast() {
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

  void woken() {
    const Latency::Held held(facts.latency, Callback::kWake);
    if (events != nullptr) broadcast();
    if (!threads) return;
    catch_up();
    deliver();
    if (held_browsers.rule() == DuringTrials::kQuiet)
      held_browsers.settle(threads->of_browsers() > 0 || !answered.empty() || browser_is_behind());
  }

  // Who has connected and says nothing, or not all of it.
  void sweep() {
    const Latency::Held held(facts.latency, Callback::kSweep);
    const auto now = std::chrono::steady_clock::now();
    int dropped = 0;  // or told that we live
    for (const auto& [number, client] : clients) {
      if (client->closing || !client->peer) continue;
      if (!client->web) {
        const Due due = due_of_lines(*client, client->lines.in_line() && client->reads, now);
        if (due == Due::kNothing) continue;
        if (++dropped > kDropsAtOnce) break;
        drop(*client, due == Due::kEndOfSilent ? "it has asked for nothing" : "its line has no end", client->peer->uid);
      } else if (const Due due = due_of_http(*client, client->follows.has_value(), client->web->in_message(), now);
                 due != Due::kNothing) {
        if (++dropped > kDropsAtOnce) break;
        sweep_http(*client, due, now);
      }
    }
    if (dropped > kDropsAtOnce) sweep_every(kNextSweepMs);
    else if (uv_timer_get_repeat(&sweeper) != kSweepMs) sweep_every(kSweepMs);
  }

  void sweep_every(uint64_t milliseconds) {
    uv_timer_start(&sweeper, [](uv_timer_t* due) { of(due->data).sweep(); }, milliseconds, milliseconds);
  }

  void sweep_http(Client& client, Due due, ClientState::Time now) {
    if (due == Due::kEnd) return drop(client);
    if (due == Due::kEndOfEndless) return drop(client, "its request has no end", client.peer->uid);
    client.quiet_since = now;
    send(client, ":\n\n");
  }

  // The connection ends when all that was sent is taken.
  void end(Client& client) {
    if (client.closing || client.ending) return;
    client.ending = true;
    client.quiet_since = std::chrono::steady_clock::now();
    auto* request = new uv_shutdown_t;
    request->data = &client;
    const int failed = uv_shutdown(request, reinterpret_cast<uv_stream_t*>(&client.pipe), [](uv_shutdown_t* done, int) {
      Client& ended = *static_cast<Client*>(done->data);
      const Latency::Held held(ended.loop->facts.latency, Callback::kEnd);
      delete done;
      ended.loop->drop(ended);
    });
    if (failed == 0) return;
    delete request;
    drop(client);
  }

  void drop(Client& client, const char* why, uid_t uid) {
    log({LogPriority::kWarning, "dropped", why, {{"uid", std::to_string(uid)}}});
    drop(client);
  }

  void drop(Client& client) {
    if (client.closing) return;
    client.closing = true;
    if (threads) threads->forget(client.number);
    if (client.peer) {
      client.peer->connection->close();
      client.listener->places.give_back(client.peer->uid);
    }
    uv_close(reinterpret_cast<uv_handle_t*>(&client.pipe), [](uv_handle_t* handle) {
      Client& closed = *static_cast<Client*>(handle->data);
      closed.loop->clients.erase(closed.number);
    });
  }

  void close_all() {
    for (const auto& [number, client] : clients) drop(*client);
    for (uv_handle_t* handle : {reinterpret_cast<uv_handle_t*>(&plain.pipe), reinterpret_cast<uv_handle_t*>(&browsers.pipe),
                                reinterpret_cast<uv_handle_t*>(&async), reinterpret_cast<uv_handle_t*>(&timer),
                                reinterpret_cast<uv_handle_t*>(&sweeper), reinterpret_cast<uv_handle_t*>(&terminate),
                                reinterpret_cast<uv_handle_t*>(&interrupt)})
      if (!uv_is_closing(handle)) uv_close(handle, nullptr);
  }
};

Server::Server() : loop_(std::make_unique<Loop>(start_of_now())) {
  uv_loop_init(&loop_->loop);
  for (Loop::Listener* listener : {&loop_->plain, &loop_->browsers}) {
    uv_pipe_init(&loop_->loop, &listener->pipe, 0);
    listener->pipe.data = listener;
    listener->loop = loop_.get();
  }
  uv_async_init(&loop_->loop, &loop_->async, [](uv_async_t* async) { Loop::of(async->data).woken(); });
  uv_timer_init(&loop_->loop, &loop_->timer);
  uv_timer_init(&loop_->loop, &loop_->sweeper);
  uv_signal_init(&loop_->loop, &loop_->terminate);
  uv_signal_init(&loop_->loop, &loop_->interrupt);
  for (void** data :
       {&loop_->async.data, &loop_->timer.data, &loop_->sweeper.data, &loop_->terminate.data, &loop_->interrupt.data})
    *data = loop_.get();
  // From here on: who is told to stop before it serves ends in order as well.
  const auto stop = [](uv_signal_t* signal, int) { uv_stop(signal->loop); };
  uv_signal_start(&loop_->terminate, stop, SIGTERM);
  uv_signal_start(&loop_->interrupt, stop, SIGINT);
}

Server::~Server() {
  loop_->close_all();
  uv_run(&loop_->loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop_->loop);
  for (const Loop::Listener* listener : {&loop_->plain, &loop_->browsers})
    if (!listener->path.empty()) ::unlink(listener->path.c_str());
}

Status Server::Loop::Listener::listen(const std::string& at, const std::string& group) {
  STAB_CHECK_OK(check_socket_is_free(at));
  const struct group* found = group.empty() ? nullptr : ::getgrnam(group.c_str());
  if (!group.empty() && found == nullptr)
    return Error{
        ErrorCode::kNotFound, "there is no group '" + group + "' for the socket; make it with 'groupadd " + group + "'", {}};
  ::unlink(at.c_str());
  int failed = uv_pipe_bind(&pipe, at.c_str());
  if (failed != 0) return system_error("bind '" + at + "'", -failed);
  path = at;
  if (found != nullptr && ::chown(at.c_str(), static_cast<uid_t>(-1), found->gr_gid) != 0)
    return system_error("give '" + at + "' to group '" + group + "'", errno);
  ::chmod(at.c_str(), 0660);
  failed = uv_listen(reinterpret_cast<uv_stream_t*>(&pipe), kBacklog, [](uv_stream_t* stream, int status) {
    auto& self = *static_cast<Listener*>(stream->data);
    if (status == 0) self.loop->accept(self);
  });
  if (failed != 0) return system_error("listen on '" + at + "'", -failed);
  return {};
}

Result<std::unique_ptr<Server>> Server::listen(const std::string& path, const std::string& group) {
  std::unique_ptr<Server> server(new Server);
  STAB_CHECK_OK(server->loop_->plain.listen(path, group));
  return server;
}

Status Server::listen_for_browsers(const std::string& path, const std::string& group) {
  return loop_->browsers.listen(path, group);
}

void Server::hold_browsers(DuringTrials during_trials, TrialGap& gap) {
  loop_->held_browsers.obey(during_trials, gap);
}

void Server::log_to(LogSink log) { loop_->log = std::move(log); }

void Server::every(std::chrono::milliseconds interval, std::function<void()> tick) {
  loop_->tick = std::move(tick);
  const auto milliseconds = static_cast<uint64_t>(interval.count());
  uv_timer_start(&loop_->timer, [](uv_timer_t* timer) {
    const Latency::Held held(Loop::of(timer->data).facts.latency, Callback::kTick);
    Loop::of(timer->data).tick();
  }, milliseconds, milliseconds);
}

void Server::wake() { uv_async_send(&loop_->async); }

void Server::run(Service& service, const std::function<std::vector<EngineEvent>()>& events) {
  loop_->events = &events;
  loop_->service = &service;
  loop_->limits = service.rules().config->connections;
  loop_->owner = service.rules().owner;
  loop_->threads = std::make_unique<RequestThreads>(service, loop_->told.newest(), [this] { wake(); });
  service.tell_of_daemon([this] { return loop_->facts.json(loop_->threads->waiting(), loop_->held_browsers.rule()); });
  loop_->sweep_every(kSweepMs);
  uv_run(&loop_->loop, UV_RUN_DEFAULT);
  loop_->threads->stop();
  loop_->events = nullptr;
}

}  // namespace stab::engine
