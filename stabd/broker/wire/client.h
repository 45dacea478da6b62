// Client: the engine's end of the wire to its broker.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabd/broker/wire/broker_wire.h"

namespace stab::broker {

struct Reply {
  Answer answer;
  std::vector<UniqueFd> descriptors;
};

// May be used by several threads: their requests take turns.
class Client {
 public:
  // Says hello; from then on the broker serves this socket. `child`: it is ours, and waited for at the end.
  static Result<std::unique_ptr<Client>> over(UniqueFd socket, pid_t child = -1);
  ~Client();  // what the broker has started ends, and what it has turned is turned back; a child has done that by then
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // A refusal is an Error with the broker's words. kUnavailable once the broker is gone, which is for good: what it had
  // started is dead then, or dies.
  Result<Reply> ask(const Request& request, const std::vector<int>& descriptors = {});

  // Whether an answer has failed to come: nothing can be asked any more.
  bool gone() const { return gone_; }
  pid_t pid() const { return pid_; }
  // Whether it can start programs as other users.
  bool is_root() const { return uid_ == 0; }
  // What it found left behind when it started, in words; empty: nothing.
  const std::string& found() const { return found_; }

 private:
  Client(UniqueFd socket, pid_t child) : socket_(std::move(socket)), child_(child) {}
  Error loss(const Error& error);
  std::mutex turn_;
  UniqueFd socket_;
  std::atomic<bool> gone_{false};
  pid_t child_;
  pid_t pid_ = -1;
  uid_t uid_ = 0;
  std::string found_;
};

}  // namespace stab::broker
