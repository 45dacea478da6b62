// One request, one answer, in turn. After anything but a whole answer the two sides may no longer mean the same one, so
// the connection is given up: the broker then ends what it has started, as after a crash of ours.
#include "stabd/broker/wire/client.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>

#include "base/message_socket.h"

namespace stab::broker {
namespace {

// Launching waits for a process of ours to begin, 10 s at most; everything else is done in milliseconds.
constexpr std::chrono::seconds kPatience{30};

}  // namespace

Client::~Client() {
  socket_.reset();
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

Result<std::unique_ptr<Client>> Client::over(UniqueFd socket, pid_t child) {
  std::unique_ptr<Client> client(new Client(std::move(socket), child));
  STAB_TRY(const Reply reply, client->ask(Hello{}));
  client->pid_ = reply.answer.pid;
  client->uid_ = reply.answer.uid;
  client->found_ = reply.answer.text;
  return client;
}

// pre: turn_ is held.
Error Client::loss(const Error& error) {
  gone_ = true;
  ::shutdown(socket_.get(), SHUT_RDWR);
  return Error{ErrorCode::kUnavailable,
               "the broker" + (pid_ > 0 ? " (process " + std::to_string(pid_) + ")" : std::string()) +
                   " has ended or hangs: " + error.message + "; what ran is lost, and repeated after the next start",
               {}};
}

Result<Reply> Client::ask(const Request& request, const std::vector<int>& descriptors) {
  const std::lock_guard<std::mutex> held(turn_);
  if (gone_) return loss(Error{ErrorCode::kUnavailable, "it was lost before", {}});
  const Status sent = send_message(socket_.get(), encode(request), descriptors);
  if (!sent) return loss(sent.error());
  Result<Message> message = receive_message(socket_.get(), kMostMessageBytes, kPatience);
  if (!message) return loss(message.error());
  if (message->bytes.empty()) return loss(Error{ErrorCode::kUnavailable, "the other side is gone", {}});
  if (const auto version = other_version(message->bytes)) {
    (void)loss(Error{ErrorCode::kCorrupt, "another version", {}});  // nothing was started yet
    return version_error(*version, kVersion);
  }
  const Result<Answer> answer = decode_answer(message->bytes, message->descriptors.size());
  if (!answer) return loss(answer.error());
  if (answer->flags & Answer::kRefused) return Error{static_cast<ErrorCode>(answer->code), answer->text, {}};
  return Reply{*answer, std::move(message->descriptors)};
}

}  // namespace stab::broker
