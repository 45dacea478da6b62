#include "stabd/daemon/loop/http_answer.h"

#include <nlohmann/json.hpp>

#include "analysis/page/page.h"
#include "stabd/daemon/web/http.h"

namespace stab::daemon {
namespace {

using Json = nlohmann::json;

int status_of(RpcCode code) {
  switch (code) {
    case RpcCode::kParse:
    case RpcCode::kInvalidRequest:
    case RpcCode::kInvalidParams: return 400;
    case RpcCode::kNoSuchMethod:
    case RpcCode::kNotFound: return 404;
    case RpcCode::kDenied: return 403;
    case RpcCode::kBusy: return 409;
    case RpcCode::kInternal: return 500;
  }
  return 500;
}

std::string page_answer(bool closes, const ServiceAnswer& answer) {
  const Json json = Json::parse(answer.line);
  const Json& result = json.at("result");
  HttpAnswer out;
  out.closes = closes;
  if (result.value("exit_code", 1) != 0)
    return http_bytes(answer_of({409, result.value("err", "there is no report yet")}, closes));
  out.type = "text/html";
  out.body = result.value("out", "");
  // An origin of its own: whatever is in a report, its script can't ask the daemon for anything.
  out.fields.emplace_back(
      "Content-Security-Policy",
      page::page_policy() + "; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals");
  return http_bytes(out);
}

}  // namespace

std::string web_answer(WebForm form, bool closes, const ServiceAnswer& answer) {
  if (form == WebForm::kPage && !answer.fault) return page_answer(closes, answer);
  HttpAnswer out;
  out.closes = closes;
  if (answer.fault) out.status = status_of(*answer.fault);
  if (form == WebForm::kEvents && !answer.fault) {
    out.type = "text/event-stream";
    out.streams = true;
    return http_bytes(out);
  }
  out.body = answer.line;
  return http_bytes(out);
}

}  // namespace stab::daemon
