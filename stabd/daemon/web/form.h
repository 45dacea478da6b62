// WebForm: how an answer of the protocol goes out.
#pragma once

namespace stab::engine {

enum class WebForm {
  kLine,    // as docs/protocol.md has it: no HTTP
  kJson,    // the same as the body of an HTTP answer
  kPage,    // the report page in it
  kEvents,  // the head of a stream of events
};

}  // namespace stab::engine
