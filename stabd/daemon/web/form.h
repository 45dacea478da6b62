// WebForm: how an answer of the protocol goes out.
#pragma once

namespace stab::daemon {

enum class WebForm {
  kLine,    // as docs/reference/protocol.md has it: no HTTP
  kJson,    // the same as the body of an HTTP answer
  kPage,    // the report page in it
  kEvents,  // the head of a stream of events
};

}  // namespace stab::daemon
