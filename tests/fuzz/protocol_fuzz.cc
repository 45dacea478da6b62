// A stream of bytes from a client, in two pieces cut anywhere: the same lines come out as in one piece, each line is a
// request or a fault that can be answered, every answer is one line, and a request that is written again is the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "stabd/daemon/protocol/protocol.h"

namespace {

using namespace stab::daemon;

void demand(bool condition) {
  if (!condition) std::abort();
}

void check_line(const std::string& line) { demand(!line.empty() && line.find('\n') == line.size() - 1); }

void check_request(const std::string& line) {
  const ParsedRequest parsed = parse_request(line);
  if (!parsed.request) {
    demand(!parsed.fault.message.empty());
    return check_line(fault_line(parsed.fault));
  }
  check_line(answer_line(parsed.request->id, "{}"));
  const std::string again = request_line(1, parsed.request->method, parsed.request->texts, parsed.request->numbers);
  check_line(again);
  const ParsedRequest second = parse_request(std::string_view(again).substr(0, again.size() - 1));
  demand(second.request && second.request->method == parsed.request->method && second.request->texts == parsed.request->texts &&
         second.request->numbers == parsed.request->numbers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t cut = bytes.size() * data[0] / 255;
  LineSplitter whole, pieces;
  std::vector<std::string> lines, same;
  demand(whole.add(bytes, lines));
  demand(pieces.add(bytes.substr(0, cut), same) && pieces.add(bytes.substr(cut), same));
  demand(lines == same);
  for (const std::string& line : lines) check_request(line);
  return 0;
}
