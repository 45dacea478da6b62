// Worker: the process that does an experiment's file work as its submitter.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/message_socket.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/engine/separation/own_process.h"
#include "stabd/worker/worker_wire.h"

namespace stab::engine {

// What a worker takes at most, so that a plan can't fill the machine: above a kernel's tree, a large program's inputs, a
// debug build, any output. Files count by what they say they are long.
inline constexpr worker::Tally kMostSource{uint64_t{16} << 30, 1'000'000};
inline constexpr worker::Tally kMostInputs{uint64_t{4} << 30, 100'000};  // of one trial
inline constexpr uint64_t kMostHashedBytes = uint64_t{8} << 30;          // of a binary
inline constexpr uint64_t kMostExpectedBytes = uint64_t{8} << 30;        // of all expected files of a trial
inline constexpr uint64_t kMostMatchedBytes = uint64_t{1} << 30;         // of an output that a pattern is held against

// One at a time for one experiment, from whatever thread: it is started when it is first asked, and again after it ended.
// Each request fails by itself; the codes say what happened to it:
//   kUnavailable  the worker ended or was stopped meanwhile, and so was a second one, which says nothing about what was asked
//   kBusy         the engine was asked to stop
//   others        what the worker said, or that it took too long or said what no worker says
class Worker {
 public:
  struct Setting {
    StartProcess start;
    std::string program;
    std::optional<host::Submitter> submitter;  // absent: as the engine itself
    int cpu = -1;
    int cancel_fd = -1;                  // readable: stop now
    std::optional<std::chrono::milliseconds> limit;  // instead of what each request may take
    std::chrono::milliseconds stop_patience{10'000}; // with one that SIGSTOP has stopped: it is killed, and another one asked
  };
  explicit Worker(Setting setting) : setting_(std::move(setting)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { end(); }

  // Starts it unless it runs. An Error: nothing that it should do can be done.
  Status start();

  // `passed`: goes with the request.
  template <class Request>
  Result<typename Request::Answer> ask(const Request& request, int passed = -1) {
    STAB_TRY(auto answer, ask_for_fd(request, passed));
    return std::move(answer.first);
  }
  // The same where a descriptor may come back: whatever the user can open, and not looked at yet.
  template <class Request>
  Result<std::pair<typename Request::Answer, UniqueFd>> ask_for_fd(const Request& request, int passed = -1) {
    const std::lock_guard<std::mutex> held(mutex_);
    std::pair<typename Request::Answer, UniqueFd> answer;
    const uint64_t serial = ++serial_;
    const std::string bytes = worker::encode_request(request, serial);
    Result<Message> packet = exchange(bytes, passed, Request::kWords, Request::kLimit);
    // One that was killed says nothing about what was asked, and everything can be asked twice.
    if (!packet && packet.error().code == ErrorCode::kUnavailable)
      packet = exchange(bytes, passed, Request::kWords, Request::kLimit);
    if (!packet) return packet.error();
    Error error;
    if (!worker::decode_answer<Request>(packet->bytes, serial, answer.first, error)) return no_answer(Request::kWords);
    if (!error.message.empty()) return shown(std::move(error));
    if (!packet->descriptors.empty()) answer.second = std::move(packet->descriptors[0]);
    return answer;
  }

  // In words, what has befallen it since this was asked last.
  std::vector<std::string> take_events();
  pid_t pid() const { return process_ ? process_->pid() : -1; }

 private:
  Status start_unless_it_runs();
  // The answer's packet to a request's.
  Result<Message> exchange(const std::string& request, int passed, const char* words, std::chrono::milliseconds limit);
  Error no_answer(const char* words);  // ends it
  Error note(ErrorCode code, std::string words);
  static Error shown(Error error);
  void end();

  const Setting setting_;
  std::mutex mutex_;  // of everything below
  std::unique_ptr<OwnProcess> process_;
  UniqueFd socket_;
  uint64_t serial_ = 0;
  std::vector<std::string> events_;
};

}  // namespace stab::engine
