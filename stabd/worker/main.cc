// stab-worker: does an engine's file work with the rights of the user whose experiment runs, and with no others. The
// launcher has made it that user and taken every capability away; it inherits one socket, answers one request after the
// other on it, and ends when the engine does.
//
// Its limits (memory, descriptors, no core) are set by the launcher too. What is left to do here: nobody may look into it
// or stop it from outside by ptrace, and a request that its engine no longer waits for ends by an alarm.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/message_socket.h"
#include "stabd/worker/answers.h"

namespace {

// After an engine that waits would have killed it.
constexpr std::chrono::seconds kGrace{10};

void set_alarm(std::chrono::seconds limit) { ::alarm(static_cast<unsigned>((limit + kGrace).count())); }

}  // namespace

int main() {
  using namespace stab::worker;
  ::prctl(PR_SET_DUMPABLE, 0);
  // The socket says when the engine is gone. One that is stopped hears nothing of it, and dies with whoever started it: the
  // launcher has seen to that.
  ::signal(SIGPIPE, SIG_IGN);
  for (;;) {
    auto packet = stab::receive_message(kSocketFd, kMaxPacketBytes, std::chrono::milliseconds(-1), 1);
    if (!packet || packet->bytes.empty()) return 0;
    stab::UniqueFd passed;
    if (!packet->descriptors.empty()) passed = std::move(packet->descriptors[0]);
    const std::string answer = answer_to(packet->bytes, passed, set_alarm);
    if (answer.empty()) return 2;  // an engine of another version
    if (!stab::send_message(kSocketFd, answer, passed ? std::vector<int>{passed.get()} : std::vector<int>())) return 3;
    ::alarm(0);
  }
}
