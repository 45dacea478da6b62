// Bytes from the other end of a worker's socket, as each request and as the answer to each: what is read is written again
// as the same bytes, and nothing that is refused leaves more memory behind than the packet had.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stabd/worker/worker_wire.h"

namespace {

using namespace stab;
using namespace stab::worker;

void demand(bool condition) {
  if (!condition) std::abort();
}

template <class Request>
void check(std::string_view packet) {
  Header header;
  Reader reader(packet);
  reader.all(header);
  Request request;
  if (decode_request(packet, request)) demand(encode_request(request, header.serial) == packet);
  typename Request::Answer answer;
  Error error;
  if (!decode_answer<Request>(packet, header.serial, answer, error)) return;
  demand(header.error == 0 || (!error.message.empty() && error.message.size() <= kMaxWordsBytes));
  demand(error.code != ErrorCode::kUnavailable && error.code != ErrorCode::kBusy);
  if (header.error == 0) demand(encode_answer(header, answer) == packet);
  demand(!decode_answer<Request>(packet, header.serial + 1, answer, error));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view packet(reinterpret_cast<const char*>(data), size);
  check<Look>(packet);
  check<Find>(packet);
  check<Open>(packet);
  check<Hash>(packet);
  check<HashTree>(packet);
  check<CopyTree>(packet);
  check<Fill>(packet);
  check<CheckFiles>(packet);
  check<HashOutput>(packet);
  check<Match>(packet);
  check<CopyFile>(packet);
  check<Empty>(packet);
  check<Measure>(packet);
  check<ReadMetrics>(packet);
  check<ReadSimulated>(packet);
  check<ReadAnew>(packet);
  check<OwnLibraries>(packet);
  return 0;
}
