// Beast's parser takes bytes and yields a message; its streams and sockets are not used. Its exceptions stay in here.
#include "stabd/daemon/web/http.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <exception>

namespace stab::daemon {
namespace {

namespace http = boost::beast::http;

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

HttpFault fault_of(const boost::system::error_code& error) {
  if (error == http::error::header_limit)
    return {431, "the head of a request has at most " + std::to_string(kMaxHttpHeadBytes) + " bytes"};
  if (error == http::error::body_limit)
    return {413, "the body of a request has at most " + std::to_string(kMaxHttpBodyBytes) + " bytes"};
  if (error == http::error::bad_version) return {505, "expected HTTP/1.1 or HTTP/1.0"};
  return {400, "this is no HTTP request: " + error.message()};
}

}  // namespace

// Beast's parsers are made anew for each message.
struct HttpReader::Parser {
  Parser() {
    parser.eager(true);
    parser.header_limit(static_cast<std::uint32_t>(kMaxHttpHeadBytes));
    parser.body_limit(kMaxHttpBodyBytes);
  }
  http::request_parser<http::string_body> parser;
};

std::optional<std::string> HttpRequest::field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() || found->second.size() != 1 ? std::nullopt : std::optional(found->second[0]);
}

HttpReader::HttpReader() : parser_(std::make_unique<Parser>()) {}
HttpReader::HttpReader(HttpReader&&) noexcept = default;
HttpReader& HttpReader::operator=(HttpReader&&) noexcept = default;
HttpReader::~HttpReader() = default;

void HttpReader::add(std::string_view bytes) {
  if (!fault_) rest_.append(bytes);
}

bool HttpReader::in_message() const { return !rest_.empty() || !seen_.empty(); }

// A head is parsed when all of it is there: what is said of it then does not depend on the pieces in which it came.
bool HttpReader::has_head() {
  if (parser_->parser.is_header_done()) return true;
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t end = rest_.find(kEnd, looked_);
  head_ = end == std::string::npos ? rest_.size() : end + kEnd.size();
  if (head_ > kMaxHttpHeadBytes) fault_ = fault_of(http::error::header_limit);
  looked_ = end == std::string::npos ? rest_.size() - std::min(rest_.size(), kEnd.size() - 1) : 0;
  return end != std::string::npos && !fault_;
}

std::optional<HttpRequest> HttpReader::next() {
  if (fault_ || !has_head()) return {};
  while (!fault_ && !rest_.empty() && !parser_->parser.is_done()) {
    // A head goes to the parser alone: what it says of a line that is too short would depend on the bytes behind it.
    const bool is_head = !parser_->parser.is_header_done();
    boost::system::error_code error;
    size_t used = 0;
    try {
      used = parser_->parser.put(boost::asio::buffer(rest_.data(), is_head ? head_ : rest_.size()), error);
    } catch (const std::exception&) {
      error = http::error::bad_value;
    }
    if (is_head && error == http::error::need_more) error = http::error::bad_value;
    if (error && error != http::error::need_more) {
      fault_ = fault_of(error);
      break;
    }
    seen_.append(rest_, 0, used);
    rest_.erase(0, used);
    if (used == 0) break;
  }
  if (fault_ || !parser_->parser.is_done()) return {};
  const auto& message = parser_->parser.get();
  HttpRequest request;
  const auto text = [](const auto& view) { return std::string(view.data(), view.size()); };
  request.method = text(message.method_string());
  request.target = text(message.target());
  for (const auto& field : message) request.fields[small(text(field.name_string()))].push_back(text(field.value()));
  request.body = message.body();
  request.keeps_alive = message.keep_alive();
  parser_ = std::make_unique<Parser>();
  raw_ = std::exchange(seen_, {});
  return request;
}

std::string_view reason_of(int status) {
  const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  return {reason.data(), reason.size()};
}

std::string http_bytes(const HttpAnswer& answer) {
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) + " " + std::string(reason_of(answer.status)) + "\r\n";
  const auto put = [&](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  put("Content-Type", answer.type + (answer.type.find("charset") == std::string::npos ? "; charset=utf-8" : ""));
  if (!answer.streams) put("Content-Length", std::to_string(answer.body.size()));
  put("Connection", answer.closes || answer.streams ? "close" : "keep-alive");
  put("X-Content-Type-Options", "nosniff");
  put("X-Frame-Options", "DENY");
  put("Referrer-Policy", "no-referrer");
  put("Cross-Origin-Resource-Policy", "same-origin");
  put("Cache-Control", "no-store");
  bool has_policy = false;
  for (const auto& [name, value] : answer.fields) {
    has_policy = has_policy || name == "Content-Security-Policy";
    put(name, value);
  }
  if (!has_policy)
    put("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  return out + "\r\n" + answer.body;
}

HttpAnswer answer_of(const HttpFault& fault, bool closes) {
  HttpAnswer answer;
  answer.status = fault.status;
  answer.body = nlohmann::json{{"error", {{"code", fault.status}, {"message", fault.message}}}}.dump(
                    -1, ' ', false, nlohmann::json::error_handler_t::replace) +
                "\n";
  answer.closes = closes;
  if (fault.status == 405) answer.fields.emplace_back("Allow", "GET, POST");
  return answer;
}

std::string sse_bytes(std::string_view event, std::string_view id, std::string_view data) {
  std::string out;
  out.append("event: ").append(event).append("\nid: ").append(id).append("\ndata: ").append(data).append("\n\n");
  return out;
}

}  // namespace stab::daemon
