// HTTP: requests out of a stream of bytes, and answers as bytes. Knows no socket, no path and no right.
//
// HTTP/1.1 and 1.0, without TLS, upgrades, trailers or compression. Boost.Beast parses; only http.cc includes it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stab::daemon {

// What browsers send is a twentieth of it.
inline constexpr size_t kMaxHttpHeadBytes = 16u << 10;
// A plan of 1 MiB as JSON, each byte of it escaped, and the rest of a submit.
inline constexpr size_t kMaxHttpBodyBytes = 2u << 20;

struct HttpRequest {
  std::string method;  // as sent: "GET"
  std::string target;  // as sent: "/api/status?x"
  std::map<std::string, std::vector<std::string>> fields;  // names in small letters
  std::string body;
  bool keeps_alive = true;

  // Its value if it is there once; nothing if it is absent or there several times.
  std::optional<std::string> field(const std::string& name) const;
  bool has(const std::string& name) const { return fields.count(name) != 0; }
};

// What has to be answered instead of a request; nothing that follows on the connection can be understood.
struct HttpFault {
  int status = 400;
  std::string message;
};

// Cuts a stream into requests. After a fault it yields nothing but that.
class HttpReader {
 public:
  HttpReader();
  HttpReader(HttpReader&&) noexcept;
  HttpReader& operator=(HttpReader&&) noexcept;
  ~HttpReader();

  void add(std::string_view bytes);
  // The next whole request, or nothing until more bytes have come, or a fault.
  std::optional<HttpRequest> next();
  const std::optional<HttpFault>& fault() const { return fault_; }
  // Some of a request has come, not its end.
  bool in_message() const;
  // The bytes of the request that next() yielded last, exactly as they came.
  const std::string& raw() const { return raw_; }

 private:
  struct Parser;
  bool has_head();
  std::unique_ptr<Parser> parser_;
  std::string rest_;  // not parsed yet
  size_t looked_ = 0;  // for the end of a head, in rest_
  size_t head_ = 0;  // bytes of it at rest_'s begin, once it is whole
  std::string seen_;  // parsed, of the request that is being read
  std::string raw_;
  std::optional<HttpFault> fault_;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields;  // beyond those that every answer has
  bool closes = false;    // the connection ends behind it
  bool streams = false;   // no length: what follows is sent as it comes, until the connection ends
};

// Head and body. Every answer forbids sniffing, framing, caching and referrers; `policy` of its own or none at all.
std::string http_bytes(const HttpAnswer& answer);
std::string_view reason_of(int status);

// The fault as an answer; its body is {"error": {"code": 400, "message": "..."}}.
HttpAnswer answer_of(const HttpFault& fault, bool closes);

// One event of a text/event-stream. pre: `data` and `id` have no line ends
std::string sse_bytes(std::string_view event, std::string_view id, std::string_view data);

}  // namespace stab::daemon
