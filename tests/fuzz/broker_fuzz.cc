// What an engine that was taken over may send its broker, and what a broker may answer: whatever the bytes are, decoding
// ends in a request that keeps the bounds of stabd/broker/wire/broker_wire.h, or in words. The first byte says how many
// descriptors came
// along and which direction it is.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "stabd/broker/wire/broker_wire.h"

namespace {

using namespace stab::broker;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_text(const char* text, size_t room) { return std::memchr(text, 0, room) != nullptr; }

void check_bounds(const Request& request) {
  if (const auto* launch = std::get_if<Launch>(&request))
    require(launch->limit_count <= kMostLimits && launch->argc <= kMostWords && launch->envc <= kMostWords &&
            launch->cpu < kMostCpus);
  if (const auto* counters = std::get_if<OpenCounters>(&request))
    require(counters->count >= 1 && counters->count <= kMostCounters && counters->pid >= 0);
  if (const auto* knob = std::get_if<TurnKnob>(&request))
    require(is_text(knob->knob, sizeof knob->knob) && is_text(knob->word, sizeof knob->word) && is_simple_name(knob->knob) &&
            is_simple_name(knob->word));
  if (const auto* give = std::get_if<Give>(&request)) require(give->uid != kOwnUser);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t descriptors = data[0] & 0x3f;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 0x80) {
    const auto answer = decode_answer(bytes, descriptors);
    if (answer) require(encode(*answer) == bytes && is_text(answer->text, sizeof answer->text) &&
                        is_text(answer->ipc_text, sizeof answer->ipc_text) &&
                        is_text(answer->tmp_text, sizeof answer->tmp_text));
    return 0;
  }
  const auto request = decode_request(bytes, descriptors);
  if (!request) {
    require(!request.error().message.empty());
    return 0;
  }
  require(encode(*request) == bytes && descriptors_of(*request) == descriptors);
  check_bounds(*request);
  return 0;
}
