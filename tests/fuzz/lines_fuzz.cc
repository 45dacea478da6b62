// Bytes from both ends of stab-lines: what is read is written again as the same bytes, and an answer that is taken keeps what it
// promises, so that whoever uses it need not look again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stabd/lines/wire/lines_wire.h"
#include "stabd/lines/wire/source_pattern.h"

namespace {

void demand(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stab::lines;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = decode_request(bytes)) {
    demand(encode(*request) == bytes);
    for (const Module& module : request->modules) (void)in_scope(request->scope, module.path);
  }
  // To a request that has two modules, three places and two wanted regions.
  Request asked;
  asked.modules.resize(2);
  asked.places.resize(3);
  asked.wanted.resize(2);
  if (const auto answer = decode_answer(bytes, asked)) {
    demand(encode(*answer) == bytes);
    demand(answer->modules.size() == 2 && answer->found.size() == 3 && answer->ranges.size() == 2);
    for (const uint32_t region : answer->found) demand(region == kNoRegion || region < answer->regions.size());
    for (const Ranges& list : answer->ranges)
      for (const Range& range : list.ranges) demand(range.module < 2 && range.begin < range.end);
  }
  return 0;
}
