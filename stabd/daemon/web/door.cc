#include "stabd/daemon/web/door.h"

#include <algorithm>

namespace stab::daemon {
namespace {

// "a.localhost": no name server is asked for it (RFC 6761, 6.3), so that none can lead it elsewhere.
bool is_below_localhost(std::string_view name) {
  constexpr std::string_view kEnd = ".localhost";
  if (!name.ends_with(kEnd) || name.size() == kEnd.size() || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

bool is_own_site(const std::string& site) { return site == "same-origin" || site == "none"; }

std::optional<HttpFault> why_no_post(const HttpRequest& request) {
  if (request.field("x-stab") != "1")
    return HttpFault{403, "a POST without the header 'X-Stab: 1' is refused: it may come from another page"};
  const std::string type = request.field("content-type").value_or("");
  if (type != "application/json" && !type.starts_with("application/json;"))
    return HttpFault{415, "expected Content-Type 'application/json', not '" + shown(type) + "'"};
  return {};
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 100));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return out;
}

bool is_loopback_host(std::string_view host) {
  const size_t colon = host.find(':');
  const std::string_view name = host.substr(0, colon);
  if (name != "127.0.0.1" && name != "localhost" && !is_below_localhost(name)) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view port = host.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<HttpFault> why_not_in(const HttpRequest& request) {
  const std::string host = request.field("host").value_or("");
  if (!is_loopback_host(host))
    return HttpFault{
        403, "the host is '" + shown(host) + "'; this answers to 127.0.0.1:PORT, localhost:PORT and names below .localhost only"};
  if (request.has("origin") && request.field("origin") != "http://" + host)
    return HttpFault{403, "a request of another page, '" + shown(request.field("origin").value_or("several")) + "', is refused"};
  if (request.has("sec-fetch-site") && !is_own_site(request.field("sec-fetch-site").value_or("")))
    return HttpFault{403, "a request that another page caused is refused; type the address, or run 'stabctl web'"};
  if (request.method == "POST") return why_no_post(request);
  if (request.method != "GET") return HttpFault{405, "there are GET and POST, not '" + shown(request.method) + "'"};
  if (!request.body.empty()) return HttpFault{400, "a GET has no body"};
  return {};
}

}  // namespace stab::daemon
