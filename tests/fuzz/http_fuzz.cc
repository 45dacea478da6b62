// A stream of bytes from a browser, in two pieces cut anywhere: the same answers and questions come out as in one piece; a
// question is one line that the protocol takes as it is; a request that would have come from another page asks nothing; and
// behind a broken request there is nothing more.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "stabd/daemon/protocol/protocol.h"
#include "stabd/daemon/web/assets.h"
#include "stabd/daemon/web/conversation.h"
#include "stabd/daemon/web/door.h"

namespace stab::daemon {

// The page itself is another test's.
Asset asset_at(std::string_view path) { return path == "/" ? Asset{"text/html", "page", "packed"} : Asset{}; }

}  // namespace stab::daemon

namespace {

using namespace stab::daemon;

void demand(bool condition) {
  if (!condition) std::abort();
}

struct Said {
  std::vector<std::string> turns;
  bool closed = false;
  void take(WebConversation& conversation) {
    while (const auto turn = conversation.next()) {
      demand(!closed && turn->send.empty() != turn->ask.empty());
      turns.push_back(turn->send.empty() ? turn->ask : turn->send);
      closed = turn->closes;
      if (turn->ask.empty()) {
        demand(turn->send.starts_with("HTTP/1.1 ") && turn->send.find("\r\n\r\n") != std::string::npos &&
               turn->send.find("Content-Security-Policy: ") < turn->send.find("\r\n\r\n"));
        continue;
      }
      demand(turn->ask.find('\n') == turn->ask.size() - 1 && turn->form != WebForm::kLine);
      demand(parse_request(std::string_view(turn->ask).substr(0, turn->ask.size() - 1)).request.has_value());
    }
  }
};

// What is asked, is asked by requests that the door lets in.
void check_door(std::string_view bytes, size_t asked) {
  HttpReader reader;
  reader.add(bytes);
  size_t let_in = 0;
  std::string whole;
  while (const auto request = reader.next()) {
    whole += reader.raw();
    if (why_not_in(*request)) break;
    demand(is_loopback_host(request->field("host").value_or("")));
    ++let_in;
    if (!request->keeps_alive) break;
  }
  demand(bytes.starts_with(whole));
  demand(asked <= let_in);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t cut = bytes.size() * data[0] / 255;
  WebConversation whole, pieces;
  Said once, twice;
  whole.add(bytes);
  once.take(whole);
  pieces.add(bytes.substr(0, cut));
  twice.take(pieces);
  pieces.add(bytes.substr(cut));
  twice.take(pieces);
  demand(once.turns == twice.turns && once.closed == twice.closed);
  size_t asked = 0;
  for (const std::string& turn : once.turns) asked += turn.starts_with("{\"id\"") || turn.starts_with("{\"jsonrpc\"");
  check_door(bytes, asked);
  return 0;
}
