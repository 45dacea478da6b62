// What a user could put into a worker's place. The engine asks it to look at a path, and the path says what it does:
// "...hang" nothing, "end" ends, "garbage", "serial", "many" and "long" answer wrong, "terminal" with words that drive one,
// "denied" that it may not, anything else as it should. To measure a directory it says what nobody can have, or nothing where
// "hang" lies in it.
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "base/message_socket.h"
#include "stabd/worker/worker_wire.h"

int main() {
  using namespace stab::worker;
  for (;;) {
    auto packet = stab::receive_message(kSocketFd, kMaxPacketBytes, std::chrono::milliseconds(-1), 1);
    if (!packet || packet->bytes.empty()) return 0;
    Header header;
    Look look;
    Reader reader(packet->bytes);
    reader.all(header, look);
    std::string answer = encode_answer(header, Look::Answer());
    const bool measures = header.kind == static_cast<uint32_t>(Kind::kMeasure);
    if (look.path == "end") return 1;
    if (look.path.ends_with("hang") || (measures && ::access((look.path + "/hang").c_str(), F_OK) == 0))
      for (;;) ::pause();
    if (look.path == "garbage") answer = std::string(300, '\xff');
    if (look.path == "long") answer = std::string(kMaxPacketBytes + 1, 'x');
    if (look.path == "many") answer += "more";
    if (look.path == "serial") {
      header.serial += 1;
      answer = encode_answer(header, Look::Answer());
    }
    if (look.path == "terminal") answer = encode_error(header, {stab::ErrorCode::kUnavailable, "\x1b[2J cleared", {}});
    if (header.kind == static_cast<uint32_t>(Kind::kFind)) answer = encode_answer(header, Find::Answer{1000});
    if (header.kind == static_cast<uint32_t>(Kind::kReadAnew)) answer = encode_answer(header, ReadAnew::Answer());
    if (look.path == "denied") answer = encode_error(header, {stab::ErrorCode::kDenied, "open: denied", {}});
    if (measures) answer = encode_answer(header, Measure::Answer{UINT64_MAX, 1, true});
    (void)stab::send_message(kSocketFd, answer, {});
  }
}
