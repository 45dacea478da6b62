// Protocol: one JSON-RPC 2.0 message a line over a Unix stream socket. docs/reference/protocol.md lists the methods.
//
//   request       {"jsonrpc":"2.0","id":1,"method":"status","params":{...}}
//   answer        {"jsonrpc":"2.0","id":1,"result":...} or {...,"error":{"code":-32600,"message":"..."}}
//   notification  {"jsonrpc":"2.0","method":"event","params":{...}}: from the daemon, after "watch"
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stab::daemon {

// A report of thousands of cells; whoever sends more is broken or hostile.
inline constexpr size_t kMaxFrameBytes = 4u << 20;
// What a client sends: a plan of 1 MiB, each byte of it escaped with a backslash, and the rest of a submit. Any number of
// clients may have as much of a line sent, and never its end.
inline constexpr size_t kMaxRequestBytes = (2u << 20) + (64u << 10);
inline constexpr int kMaxFrameDepth = 16;

// Parameters of every method are a flat object of texts and whole numbers. A number stands for the text of its digits, and such a
// text for the number: experiments are named by either.
struct RpcRequest {
  std::string id;  // JSON of the id: "1", "\"a\"", "null"
  std::string method;
  std::map<std::string, std::string> texts;
  std::map<std::string, int64_t> numbers;

  std::string text(const std::string& name) const;  // empty where absent
  std::optional<int64_t> number(const std::string& name) const;  // nothing where absent, or another text
};

// Do not renumber: on the wire. -32700 to -32600 are JSON-RPC's own.
enum class RpcCode {
  kParse = -32700,
  kInvalidRequest = -32600,
  kNoSuchMethod = -32601,
  kInvalidParams = -32602,
  kInternal = -32603,
  kNotFound = -32001,
  kDenied = -32002,
  kBusy = -32003,
};
RpcCode rpc_code(ErrorCode code);

struct RpcFault {
  RpcCode code = RpcCode::kInternal;
  std::string message;
  std::string id = "null";
};

// A line without its end. The fault is what has to be answered.
struct ParsedRequest {
  std::optional<RpcRequest> request;
  RpcFault fault;
};
ParsedRequest parse_request(std::string_view line);
// The same of a method's parameters alone, which may have lines.
ParsedRequest parse_params(const std::string& method, std::string_view params);

// Each with its end of line. `result` and `params` are JSON.
std::string answer_line(const std::string& id, const std::string& result);
std::string fault_line(const RpcFault& fault);
std::string event_line(const std::string& params);
std::string request_line(int64_t id, const std::string& method, const std::map<std::string, std::string>& texts,
                         const std::map<std::string, int64_t>& numbers);

// Cuts a stream of bytes into lines. False once a line is too long: the peer is to be dropped.
class LineSplitter {
 public:
  explicit LineSplitter(size_t max_bytes = kMaxFrameBytes) : max_bytes_(max_bytes) {}
  bool in_line() const { return !rest_.empty(); }  // some of a line has come, not its end
  bool add(std::string_view bytes, std::vector<std::string>& lines);

 private:
  size_t max_bytes_;
  std::string rest_;
};

}  // namespace stab::daemon
