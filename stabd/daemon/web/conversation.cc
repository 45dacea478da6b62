#include "stabd/daemon/web/conversation.h"

#include <algorithm>

#include "stabd/daemon/protocol/protocol.h"
#include "stabd/daemon/web/assets.h"
#include "stabd/daemon/web/door.h"

namespace stab::daemon {
namespace {

constexpr char kPagePolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";
// Of an event's name: two numbers and a sign between.
constexpr size_t kMaxEventName = 64;
constexpr std::string_view kTrend = "trend";
// What changes something, and the one question whose parameters are no part of a path.
constexpr std::string_view kPosts[] = {"submit",   "cancel", "pause",  "resume", "extend", "priority",
                                       "rerun",    "replay", "delete", "unmask", kTrend};

// "/api/experiments/12/log" with "/api/experiments/" and "/log": "12". Empty: it is no such path.
std::string number_in(std::string_view path, std::string_view before, std::string_view behind) {
  if (!path.starts_with(before) || !path.ends_with(behind) || path.size() <= before.size() + behind.size()) return {};
  const std::string_view number = path.substr(before.size(), path.size() - before.size() - behind.size());
  const bool digits = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && number.size() <= 18 ? std::string(number) : std::string();
}

struct Question {
  std::string method;
  std::map<std::string, std::string> texts;
  std::map<std::string, int64_t> numbers;
  WebForm form = WebForm::kJson;
};

std::optional<Question> question_at(std::string_view path) {
  if (path == "/api/status") return Question{"status", {}, {{"daemon", 1}}};
  if (path == "/api/machine") return Question{"machine", {}, {}};
  if (path == "/api/series") return Question{"series", {}, {}};
  if (path == "/api/events") return Question{"follow", {}, {}, WebForm::kEvents};
  if (const std::string id = number_in(path, "/api/experiments/", ""); !id.empty())
    return Question{"watch", {{"experiment", id}}, {}};
  if (const std::string id = number_in(path, "/api/experiments/", "/log"); !id.empty())
    return Question{"logs", {{"experiment", id}}, {}};
  if (const std::string id = number_in(path, "/api/experiments/", "/not-passed"); !id.empty())
    return Question{"output", {{"experiment", id}}, {}};
  if (const std::string id = number_in(path, "/api/trials/", "/output"); !id.empty())
    return Question{"output", {}, {{"trial", std::stoll(id)}}};
  if (const std::string id = number_in(path, "/experiments/", "/report.html"); !id.empty())
    return Question{"report", {{"experiment", id}}, {{"html", 1}}, WebForm::kPage};
  return {};
}

// Without blanks at its ends.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "br, gzip;q=0.8": gzip is named, and not with the weight 0 (RFC 9110, 12.5.3).
bool accepts_gzip(std::string_view field) {
  while (!field.empty()) {
    const size_t end = std::min(field.find(','), field.size());
    const std::string_view coding = field.substr(0, end);
    field.remove_prefix(std::min(end + 1, field.size()));
    const size_t weight = std::min(coding.find(';'), coding.size());
    if (trimmed(coding.substr(0, weight)) != "gzip") continue;
    const std::string_view value = trimmed(coding.substr(std::min(weight + 1, coding.size())));
    return !value.starts_with("q=0") || value.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

HttpFault no_such_path(std::string_view path) { return {404, "there is nothing at '" + shown(path) + "'"}; }

}  // namespace

std::optional<WebTurn> WebConversation::next() {
  if (over_) return {};
  std::optional<HttpRequest> request = reader_.next();
  if (!request && !reader_.fault()) return {};
  WebTurn turn = request ? answer_to(*request) : WebTurn{http_bytes(answer_of(*reader_.fault(), true)), {}, WebForm::kJson, true};
  over_ = turn.closes;
  return turn;
}

WebTurn WebConversation::answer_to(const HttpRequest& request) {
  // Who breaks the rules of the door has no further word on this connection.
  if (const auto fault = why_not_in(request)) return {http_bytes(answer_of(*fault, true)), {}, WebForm::kJson, true};
  const bool closes = !request.keeps_alive;
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const auto refuse = [&](const HttpFault& fault) {
    return WebTurn{http_bytes(answer_of(fault, closes)), {}, WebForm::kJson, closes};
  };
  if (request.method == "POST") {
    const auto method = std::find_if(std::begin(kPosts), std::end(kPosts), [&](std::string_view one) {
      return path.starts_with("/api/") && path.substr(5) == one;
    });
    if (method == std::end(kPosts)) return refuse(no_such_path(path));
    const ParsedRequest parsed = parse_params(std::string(*method), request.body);
    if (!parsed.request) return refuse({400, parsed.fault.message});
    return {"", request_line(1, parsed.request->method, parsed.request->texts, parsed.request->numbers), WebForm::kJson, closes,
            *method != kTrend};
  }
  if (const Asset asset = asset_at(path); !asset.type.empty()) {
    HttpAnswer answer;
    answer.type = asset.type;
    const bool packed = accepts_gzip(request.field("accept-encoding").value_or(""));
    answer.body = packed ? asset.gzipped : asset.bytes;
    answer.closes = closes;
    if (packed) answer.fields.emplace_back("Content-Encoding", "gzip");
    answer.fields.emplace_back("Vary", "Accept-Encoding");
    answer.fields.emplace_back("Content-Security-Policy", kPagePolicy);
    return {http_bytes(answer), {}, WebForm::kJson, closes};
  }
  const std::optional<Question> question = question_at(path);
  if (!question) return refuse(no_such_path(path));
  if (question->form == WebForm::kEvents) last_event_ = request.field("last-event-id").value_or("").substr(0, kMaxEventName);
  return {"", request_line(1, question->method, question->texts, question->numbers), question->form, closes};
}

}  // namespace stab::daemon
