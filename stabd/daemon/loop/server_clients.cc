// Clients from their connection to its end: what they send is read, what they are sent is written, and who has connected and
// says nothing is dropped.
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "stabd/daemon/loop/server_loop.h"
#include "stabd/daemon/rights/policy.h"
#include "stabd/daemon/settings/daemon_socket.h"

namespace stab::daemon {
namespace {

// The most that Linux takes by default: accepting is quick, and who is not wanted is told so and closed.
constexpr int kBacklog = 4096;
// Clients that one callback drops: each is a line of the log.
constexpr int kDropsAtOnce = 64;
constexpr uint64_t kNextSweepMs = 10;

struct Write {
  uv_write_t request;
  std::string text;
};

}  // namespace

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

void Server::Loop::accept(Listener& listener) {
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
    return turn_away(*raw, fd, why, peer->uid);
  raw->peer = peer;
  raw->peer->connection = std::make_shared<Connection>(fd);
  listener.places.take(peer->uid);
  read(*raw);
}

void Server::Loop::read(Client& client) {
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

void Server::Loop::stop_reading(Client& client) {
  if (client.reads) uv_read_stop(reinterpret_cast<uv_stream_t*>(&client.pipe));
  client.reads = false;
}

void Server::Loop::received(Client& client, std::string_view bytes) {
  if (client.web) return received_http(client, bytes);
  std::vector<std::string> lines;
  const bool was_in_line = client.lines.in_line();
  const bool fits = client.lines.add(bytes, lines);
  if (client.lines.in_line() && (!was_in_line || !lines.empty())) client.line_began = std::chrono::steady_clock::now();
  for (std::string& line : lines) client.waiting.push_back(std::move(line));
  if (!fits) return drop(client, "a line is too long", client.peer->uid);
  go_on(client);
}

void Server::Loop::go_on(Client& client) {
  if (client.closing || client.under_way) return;
  if (client.waiting.empty()) return read(client);
  stop_reading(client);
  client.under_way = client.asked = true;
  std::string line = std::move(client.waiting.front());
  client.waiting.pop_front();
  threads->add({client.number, *client.peer, std::move(line)});
}

void Server::Loop::send(Client& client, std::string text) {
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

void Server::Loop::end(Client& client) {
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

// It has sent nothing that was read, and nothing was sent to it: what it is told has room, and stands alone.
void Server::Loop::turn_away(Client& client, int fd, const char* why, uid_t uid) {
  const std::string words = std::string(why) + "; end one that stays, such as 'stabctl watch' or 'stabctl web', or raise " +
                           "'connections' or 'connections_of_user' in the daemon's configuration";
  const std::string bytes = client.web ? "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
                                         "Connection: close\r\nContent-Length: " +
                                             std::to_string(words.size()) + "\r\n\r\n" + words
                                       : fault_line({RpcCode::kBusy, words, "null"});
  [[maybe_unused]] const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  drop(client, why, uid);
}

void Server::Loop::drop(Client& client, const char* why, uid_t uid) {
  log({LogPriority::kWarning, "dropped", why, {{"uid", std::to_string(uid)}}});
  drop(client);
}

void Server::Loop::drop(Client& client) {
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

void Server::Loop::close_all() {
  for (const auto& [number, client] : clients) drop(*client);
  for (uv_handle_t* handle :
       {reinterpret_cast<uv_handle_t*>(&plain.pipe), reinterpret_cast<uv_handle_t*>(&browsers.pipe),
        reinterpret_cast<uv_handle_t*>(&async), reinterpret_cast<uv_handle_t*>(&timer), reinterpret_cast<uv_handle_t*>(&sweeper),
        reinterpret_cast<uv_handle_t*>(&terminate), reinterpret_cast<uv_handle_t*>(&interrupt)})
    if (!uv_is_closing(handle)) uv_close(handle, nullptr);
}

void Server::Loop::sweep() {
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
  if (dropped > kDropsAtOnce)
    sweep_every(kNextSweepMs);
  else if (uv_timer_get_repeat(&sweeper) != kSweepMs)
    sweep_every();
}

void Server::Loop::sweep_every(uint64_t milliseconds) {
  uv_timer_start(
      &sweeper, [](uv_timer_t* due) { of(due->data).sweep(); }, milliseconds, milliseconds);
}

}  // namespace stab::daemon
