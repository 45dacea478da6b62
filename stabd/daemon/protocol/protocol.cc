// Parsing is strict and bounded before anything is looked at: size by the line splitter, depth while parsing.
// Whatever a client sends, the answer is a line and the daemon goes on.
#include "stabd/daemon/protocol/protocol.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_line.h"

namespace stab::daemon {
namespace {

using Json = nlohmann::json;

// Parses with a bound on nesting; discarded on any fault.
Json parse_bounded(std::string_view text) {
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxFrameDepth;
    return !too_deep;
  };
  Json json = Json::parse(text, watch, false);
  return too_deep ? Json(Json::value_t::discarded) : json;
}

ParsedRequest fault(RpcCode code, std::string message, std::string id = "null") {
  return {std::nullopt, {code, std::move(message), std::move(id)}};
}

ParsedRequest with_params(RpcRequest request, const Json& params) {
  if (!params.is_object()) return fault(RpcCode::kInvalidParams, "params is not an object", request.id);
  for (const auto& [name, value] : params.items()) {
    if (value.is_string()) {
      request.texts[name] = value.get<std::string>();
    } else if (value.is_number_integer()) {
      request.numbers[name] = value.get<int64_t>();
    } else {
      return fault(RpcCode::kInvalidParams, "param '" + name + "' is neither a text nor a whole number", request.id);
    }
  }
  return {std::move(request), {}};
}

}  // namespace

std::string RpcRequest::text(const std::string& name) const {
  if (const auto at = texts.find(name); at != texts.end()) return at->second;
  const auto at = numbers.find(name);
  return at == numbers.end() ? std::string() : std::to_string(at->second);
}

std::optional<int64_t> RpcRequest::number(const std::string& name) const {
  if (const auto at = numbers.find(name); at != numbers.end()) return at->second;
  const auto at = texts.find(name);
  if (at == texts.end()) return std::nullopt;
  int64_t number = 0;
  const char* const end = at->second.data() + at->second.size();
  const auto [stop, error] = std::from_chars(at->second.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

RpcCode rpc_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBadInput: return RpcCode::kInvalidParams;
    case ErrorCode::kNotFound: return RpcCode::kNotFound;
    case ErrorCode::kDenied: return RpcCode::kDenied;
    case ErrorCode::kBusy: return RpcCode::kBusy;
    default: return RpcCode::kInternal;
  }
}

ParsedRequest parse_request(std::string_view line) {
  const Json json = parse_bounded(line);
  if (json.is_discarded()) return fault(RpcCode::kParse, "not a JSON text, or nested too deeply");
  if (!json.is_object()) return fault(RpcCode::kInvalidRequest, "a request is an object");
  RpcRequest request;
  const auto id = json.find("id");
  if (id == json.end() || !(id->is_number_integer() || id->is_string()))
    return fault(RpcCode::kInvalidRequest, "id is missing, or neither a whole number nor a text");
  request.id = json_line(*id);
  if (json.value("jsonrpc", Json()) != "2.0")
    return fault(RpcCode::kInvalidRequest, "jsonrpc is not \"2.0\"", request.id);
  const auto method = json.find("method");
  if (method == json.end() || !method->is_string())
    return fault(RpcCode::kInvalidRequest, "method is missing", request.id);
  request.method = method->get<std::string>();
  const auto params = json.find("params");
  return params == json.end() ? ParsedRequest{std::move(request), {}} : with_params(std::move(request), *params);
}

ParsedRequest parse_params(const std::string& method, std::string_view params) {
  const Json json = parse_bounded(params);
  if (json.is_discarded()) return fault(RpcCode::kParse, "not a JSON text, or nested too deeply", "1");
  RpcRequest request;
  request.id = "1";
  request.method = method;
  return with_params(std::move(request), json);
}

std::string answer_line(const std::string& id, const std::string& result) {
  return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":" + result + "}\n";
}

std::string fault_line(const RpcFault& fault) {
  const Json error = {{"code", static_cast<int>(fault.code)}, {"message", fault.message}};
  return "{\"jsonrpc\":\"2.0\",\"id\":" + fault.id + ",\"error\":" + json_line(error) + "}\n";
}

std::string event_line(const std::string& params) {
  return "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":" + params + "}\n";
}

std::string request_line(int64_t id, const std::string& method, const std::map<std::string, std::string>& texts,
                         const std::map<std::string, int64_t>& numbers) {
  Json params = Json::object();
  for (const auto& [name, value] : texts) params[name] = value;
  for (const auto& [name, value] : numbers) params[name] = value;
  return json_line(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}) + "\n";
}

bool LineSplitter::add(std::string_view bytes, std::vector<std::string>& lines) {
  for (;;) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    rest_.append(bytes.substr(0, end));
    if (rest_.size() > max_bytes_) return false;
    lines.push_back(std::move(rest_));
    rest_.clear();
    bytes.remove_prefix(end + 1);
  }
  rest_.append(bytes);
  return rest_.size() <= max_bytes_;
}

}  // namespace stab::daemon
