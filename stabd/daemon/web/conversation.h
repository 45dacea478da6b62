// Conversation: HTTP of one client as the daemon speaks it. Bytes come in; what comes out is what to send, or a line of
// docs/reference/protocol.md to be answered as any client's. Pure: the server (stabd/daemon/loop/server.cc) moves the bytes.
//
//   GET /  /lab.js  /lab.css           the page
//   GET /api/status                    status, with how the daemon fares
//   GET /api/machine                   machine
//   GET /api/experiments/N             watch, without the events that follow it
//   GET /api/experiments/N/log         logs
//   GET /api/events                    follow, as server-sent events
//   GET /experiments/N/report.html     report, the page
//   POST /api/METHOD                   submit, cancel, pause, resume, extend, priority, rerun, replay, delete, unmask;
//                                      the body is params
//
// An answer is the protocol's, with a status that says the same as its error code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stabd/daemon/web/form.h"
#include "stabd/daemon/web/http.h"

namespace stab::daemon {

struct WebTurn {
  std::string send;  // an answer as it is
  std::string ask;   // or a line whose answer is sent in this form
  WebForm form = WebForm::kJson;
  bool closes = false;  // behind the answer
  bool changes = false;  // what is asked is no question
};

class WebConversation {
 public:
  void add(std::string_view bytes) { reader_.add(bytes); }
  // pre: the turn before is over. Nothing until more bytes have come.
  std::optional<WebTurn> next();
  // Some of a request has come, not its end.
  bool in_message() const { return reader_.in_message(); }
  // Of the request for events that was asked last: the event that the client has seen last; empty: none.
  const std::string& last_event() const { return last_event_; }

 private:
  WebTurn answer_to(const HttpRequest& request);
  HttpReader reader_;
  std::string last_event_;
  bool over_ = false;
};

}  // namespace stab::daemon
