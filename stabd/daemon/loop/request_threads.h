// RequestThreads: answer what clients ask, beside the daemon's loop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "stabd/daemon/answers/service.h"
#include "stabd/daemon/requests/request_queue.h"

namespace stab::daemon {

struct AnsweredRequest {
  uint64_t client = 0;
  ServiceAnswer answer;
  uint64_t events_before = 0;  // events that had been broadcast when the answering began
  bool closes = false;         // the connection ends behind it
  bool of_browser = false;     // asked over HTTP
  bool changes = false;        // was more than a question
  Lane lane = Lane::kLook;     // that has answered it
  std::chrono::steady_clock::time_point asked{};
};

class RequestThreads {
 public:
  // `wake` is called from any thread whenever take_answers() has something; it must only signal.
  RequestThreads(Service& service, const std::atomic<uint64_t>& events, std::function<void()> wake);
  ~RequestThreads();  // waits for what is under way
  // What waits is dropped, what is under way is waited for as long as `patience`. False: something still is, and uses the
  // service: the process has to end without taking anything down. Reports only read.
  bool stop(std::chrono::nanoseconds patience);
  RequestThreads(const RequestThreads&) = delete;
  RequestThreads& operator=(const RequestThreads&) = delete;

  // pre: the client has nothing here
  void add(WaitingRequest request);
  void forget(uint64_t client);
  std::vector<AnsweredRequest> take_answers();
  size_t waiting() const;
  // Requests of browsers whose answers nobody has taken yet.
  size_t of_browsers() const;

 private:
  void loop(Lane lane);

  Service* service_;
  const std::atomic<uint64_t>* events_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  RequestQueue queue_;
  std::vector<AnsweredRequest> answers_;
  size_t of_browsers_ = 0;
  bool quit_ = false;
  size_t loops_ = 0;                  // that have not ended
  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace stab::daemon
