// libuv callbacks do nothing but move bytes: a line goes to the service, its answer goes back. A client that
// sends too long a line, or does not read what it asked for, is dropped; others don't notice.
#include "stabd/server.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>

#include "stabd/protocol.h"

namespace stab::engine {
namespace {

constexpr int kBacklog = 64;
constexpr size_t kMaxClients = 64;
// So that nobody keeps the others out.
constexpr long kMaxClientsOfOne = 16;
// A watcher that is this far behind is not reading.
constexpr size_t kMaxQueuedBytes = 1u << 20;

struct Write {
  uv_write_t request;
  std::string text;
};

bool somebody_listens(const std::string& path) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

struct Server::Loop {
  struct Client {
    uv_pipe_t pipe;
    Loop* loop = nullptr;
    LineSplitter lines;
    std::optional<Peer> peer;  // once it is accepted
    std::optional<store::Id> watches;
    bool closing = false;
    std::array<char, 65536> buffer;
  };

  uv_loop_t loop;
  uv_pipe_t listener;
  uv_async_t async;
  uv_timer_t timer;
  uv_signal_t terminate, interrupt;
  std::list<std::unique_ptr<Client>> clients;
  Service* service = nullptr;
  const std::function<std::vector<EngineEvent>()>* events = nullptr;
  std::string path;
  std::function<void()> tick = [] {};
  LogSink log = [](const LogEntry&) {};

  static Loop& of(void* data) { return *static_cast<Loop*>(data); }

  void accept() {
    auto client = std::make_unique<Client>();
    uv_pipe_init(&loop, &client->pipe, 0);
    client->pipe.data = client.get();
    client->loop = this;
    Client* raw = client.get();
    clients.push_back(std::move(client));
    uv_os_fd_t fd = -1;
    ucred credentials{};
    socklen_t size = sizeof credentials;
    const bool known = uv_accept(reinterpret_cast<uv_stream_t*>(&listener), reinterpret_cast<uv_stream_t*>(&raw->pipe)) == 0 &&
                       uv_fileno(reinterpret_cast<uv_handle_t*>(&raw->pipe), &fd) == 0 &&
                       ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
    if (!known) return drop(*raw);
    raw->peer = {credentials.uid, credentials.gid};
    const auto of_this_user = std::count_if(clients.begin(), clients.end(), [&](const auto& other) {
      return !other->closing && other->peer && other->peer->uid == credentials.uid;
    });
    if (clients.size() > kMaxClients || of_this_user > kMaxClientsOfOne) return drop(*raw, "too many clients", credentials.uid);
    uv_read_start(
        reinterpret_cast<uv_stream_t*>(&raw->pipe),
        [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
          Client& to = *static_cast<Client*>(handle->data);
          *buffer = uv_buf_init(to.buffer.data(), static_cast<unsigned>(to.buffer.size()));
        },
        [](uv_stream_t* stream, ssize_t got, const uv_buf_t* buffer) {
          Client& from = *static_cast<Client*>(stream->data);
          if (got < 0) return from.loop->drop(from);
          from.loop->received(from, std::string_view(buffer->base, static_cast<size_t>(got)));
        });
  }

  void received(Client& client, std::string_view bytes) {
    std::vector<std::string> lines;
    const bool fits = client.lines.add(bytes, lines);
    for (const std::string& line : lines) {
      if (client.closing) return;
      const ServiceAnswer answer = service->handle(line, *client.peer);
      if (answer.watch) client.watches = answer.watch;
      send(client, answer.line);
    }
    if (!fits) drop(client, "a line is too long", client.peer->uid);
  }

  void send(Client& client, const std::string& text) {
    if (client.closing) return;
    if (uv_stream_get_write_queue_size(reinterpret_cast<uv_stream_t*>(&client.pipe)) > kMaxQueuedBytes)
      return drop(client, "it does not read its answers", client.peer->uid);
    auto* write = new Write{{}, text};
    write->request.data = write;
    const uv_buf_t buffer = uv_buf_init(write->text.data(), static_cast<unsigned>(write->text.size()));
    const int failed = uv_write(&write->request, reinterpret_cast<uv_stream_t*>(&client.pipe), &buffer, 1,
                                [](uv_write_t* request, int) { delete static_cast<Write*>(request->data); });
    if (failed != 0) {
      delete write;
      drop(client);
    }
  }

  void broadcast() {
    for (const EngineEvent& event : (*events)())
      for (const auto& client : clients)
        if (client->watches && *client->watches == event.experiment) send(*client, event_line(event.json));
  }

  void drop(Client& client, const char* why, uid_t uid) {
    log({LogPriority::kWarning, "dropped", why, {{"uid", std::to_string(uid)}}});
    drop(client);
  }

  void drop(Client& client) {
    if (client.closing) return;
    client.closing = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&client.pipe), [](uv_handle_t* handle) {
      Client& closed = *static_cast<Client*>(handle->data);
      closed.loop->clients.remove_if([&](const auto& other) { return other.get() == &closed; });
    });
  }

  void close_all() {
    for (const auto& client : clients) drop(*client);
    for (uv_handle_t* handle : {reinterpret_cast<uv_handle_t*>(&listener), reinterpret_cast<uv_handle_t*>(&async),
                                reinterpret_cast<uv_handle_t*>(&timer),
                                reinterpret_cast<uv_handle_t*>(&terminate), reinterpret_cast<uv_handle_t*>(&interrupt)})
      if (!uv_is_closing(handle)) uv_close(handle, nullptr);
  }
};

Server::Server() : loop_(std::make_unique<Loop>()) {
  uv_loop_init(&loop_->loop);
  uv_pipe_init(&loop_->loop, &loop_->listener, 0);
  uv_async_init(&loop_->loop, &loop_->async, [](uv_async_t* async) { Loop::of(async->data).broadcast(); });
  uv_timer_init(&loop_->loop, &loop_->timer);
  uv_signal_init(&loop_->loop, &loop_->terminate);
  uv_signal_init(&loop_->loop, &loop_->interrupt);
  for (void** data : {&loop_->listener.data, &loop_->async.data, &loop_->timer.data, &loop_->terminate.data, &loop_->interrupt.data})
    *data = loop_.get();
}

Server::~Server() {
  loop_->close_all();
  uv_run(&loop_->loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop_->loop);
  if (!loop_->path.empty()) ::unlink(loop_->path.c_str());
}

Status check_socket_is_free(const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return bad_input("socket path '" + path + "' is longer than " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) return bad_input("'" + path + "' exists and is no socket");
    if (somebody_listens(path)) return Error{ErrorCode::kBusy, "a daemon listens on '" + path + "' already", {}};
  }
  return {};
}

Result<std::unique_ptr<Server>> Server::listen(const std::string& path, const std::string& group) {
  STAB_CHECK_OK(check_socket_is_free(path));
  const struct group* found = group.empty() ? nullptr : ::getgrnam(group.c_str());
  if (!group.empty() && found == nullptr)
    return Error{ErrorCode::kNotFound, "there is no group '" + group + "' for the socket; make it with 'groupadd " + group + "'", {}};
  ::unlink(path.c_str());
  std::unique_ptr<Server> server(new Server);
  Loop& loop = *server->loop_;
  int failed = uv_pipe_bind(&loop.listener, path.c_str());
  if (failed != 0) return system_error("bind '" + path + "'", -failed);
  loop.path = path;
  if (found != nullptr && ::chown(path.c_str(), static_cast<uid_t>(-1), found->gr_gid) != 0)
    return system_error("give '" + path + "' to group '" + group + "'", errno);
  ::chmod(path.c_str(), 0660);
  failed = uv_listen(reinterpret_cast<uv_stream_t*>(&loop.listener), kBacklog, [](uv_stream_t* stream, int status) {
    if (status == 0) Loop::of(stream->data).accept();
  });
  if (failed != 0) return system_error("listen on '" + path + "'", -failed);
  return server;
}

void Server::log_to(LogSink log) { loop_->log = std::move(log); }

void Server::every(std::chrono::milliseconds interval, std::function<void()> tick) {
  loop_->tick = std::move(tick);
  const auto milliseconds = static_cast<uint64_t>(interval.count());
  uv_timer_start(&loop_->timer, [](uv_timer_t* timer) { Loop::of(timer->data).tick(); }, milliseconds, milliseconds);
}

void Server::wake() { uv_async_send(&loop_->async); }

void Server::run(Service& service, const std::function<std::vector<EngineEvent>()>& events) {
  loop_->service = &service;
  loop_->events = &events;
  const auto stop = [](uv_signal_t* signal, int) { uv_stop(signal->loop); };
  uv_signal_start(&loop_->terminate, stop, SIGTERM);
  uv_signal_start(&loop_->interrupt, stop, SIGINT);
  uv_run(&loop_->loop, UV_RUN_DEFAULT);
}

std::string default_socket() {
  if (const char* runtime = ::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && runtime[0] == '/')
    return std::string(runtime) + "/stab.sock";
  if (::geteuid() == 0) return "/run/stab/stab.sock";
  return "/tmp/stab-" + std::to_string(::geteuid()) + ".sock";
}

}  // namespace stab::engine
