#include "stabd/daemon/loop/server.h"

#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <chrono>

#include "stabd/daemon/loop/server_loop.h"
#include "stabd/daemon/rights/policy.h"

namespace stab::daemon {
namespace {

// For answers that are under way when we are told to stop: a service manager waits 90 s before it kills.
constexpr std::chrono::seconds kPatience{2};

// Names this daemon's events.
std::string start_of_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::to_string(now.tv_sec) + "." + std::to_string(now.tv_nsec);
}

}  // namespace

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
  leave_places();
}

void Server::leave_places() {
  for (const Loop::Listener* listener : {&loop_->plain, &loop_->browsers})
    if (!listener->path.empty()) ::unlink(listener->path.c_str());
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

void Server::log_to(LogSink log) {
  loop_->log = std::move(log);
}

void Server::every(std::chrono::milliseconds interval, std::function<void()> tick) {
  loop_->tick = std::move(tick);
  const auto milliseconds = static_cast<uint64_t>(interval.count());
  uv_timer_start(
      &loop_->timer,
      [](uv_timer_t* timer) {
        const Latency::Held held(Loop::of(timer->data).facts.latency, Callback::kTick);
        Loop::of(timer->data).tick();
      },
      milliseconds, milliseconds);
}

void Server::wake() {
  uv_async_send(&loop_->async);
}

bool Server::run(Service& service, const std::function<std::vector<EngineEvent>()>& events) {
  loop_->events = &events;
  loop_->service = &service;
  loop_->limits = service.rules().config->connections;
  loop_->owner = service.rules().owner;
  loop_->threads = std::make_unique<RequestThreads>(service, loop_->told.newest(), [this] { wake(); });
  service.tell_of_daemon([this] { return loop_->facts.json(loop_->threads->waiting(), loop_->held_browsers.rule()); });
  loop_->sweep_every();
  uv_run(&loop_->loop, UV_RUN_DEFAULT);
  loop_->events = nullptr;
  return loop_->threads->stop(kPatience);
}

}  // namespace stab::daemon
