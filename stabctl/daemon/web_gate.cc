#include "stabctl/daemon/web_gate.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "stabd/daemon/web/door.h"

namespace stab::ctl {
namespace {

using daemon::HttpAnswer;
using daemon::HttpRequest;

// What a browser without the cookie gets: it gives the token behind the # for one. Without a token it says what to do.
constexpr char kEntrance[] = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Lab</title>
<link rel="icon" href="data:,"><script src="/enter.js" defer></script></head>
<body><main><h1>Lab</h1><p id="why" role="status">
This page is for who has its whole address: 'stabctl web' prints it.</p></main></body></html>
)";
constexpr char kEnter[] = R"('use strict';
(async () => {
  const word = location.hash.match(/(?:^#|&)token=([0-9a-f]+)/);
  if (!word) return;
  const answer = await fetch('/token',
    {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Stab': '1'}, body: JSON.stringify(word[1])});
  if (answer.ok) location.replace('/');
  else document.getElementById('why').textContent = (await answer.json()).error.message;
})();
)";
constexpr char kEntrancePolicy[] =
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

HttpAnswer refusal(int status, const std::string& message) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = "{\"error\":{\"code\":" + std::to_string(status) + ",\"message\":\"" + message + "\"}}\n";
  answer.closes = true;
  return answer;
}

HttpAnswer entrance(const char* type, const char* body) {
  HttpAnswer answer;
  answer.type = type;
  answer.body = body;
  answer.fields.emplace_back("Content-Security-Policy", kEntrancePolicy);
  return answer;
}

// In a time that says nothing of where they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differs == 0;
}

}  // namespace

Result<std::string> drawn_word() {
  unsigned char bytes[32];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return system_error("getrandom", errno);
  std::string word;
  for (const unsigned char byte : bytes) {
    word += "0123456789abcdef"[byte >> 4];
    word += "0123456789abcdef"[byte & 15];
  }
  return word;
}

Result<std::string> drawn_name() {
  STAB_TRY(const std::string word, drawn_word());
  return "stab-" + word.substr(0, 32) + ".localhost";
}

std::string WebGate::address() const { return "http://" + host() + "/#token=" + token_; }

bool WebGate::has_cookie(const HttpRequest& request) const {
  const auto found = request.fields.find("cookie");
  if (found == request.fields.end()) return false;
  const std::string begin = cookie_name() + "=";
  for (const std::string& line : found->second) {
    for (size_t at = 0; at < line.size();) {
      const size_t end = std::min(line.find(';', at), line.size());
      std::string_view one = std::string_view(line).substr(at, end - at);
      while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
      if (one.starts_with(begin) && same(one.substr(begin.size()), cookie_)) return true;
      at = end + 1;
    }
  }
  return false;
}

HttpAnswer WebGate::swap(const HttpRequest& request) const {
  if (const auto fault = daemon::why_not_in(request))
    return refusal(fault->status, "the token is taken from the lab's own page only");
  if (!same(request.body, "\"" + token_ + "\""))
    return refusal(403, "this token is not this address's; 'stabctl web' prints the one that is");
  HttpAnswer answer;
  answer.body = "{}\n";
  answer.fields.emplace_back("Set-Cookie", cookie_name() + "=" + cookie_ + "; HttpOnly; SameSite=Strict; Path=/");
  return answer;
}

std::optional<HttpAnswer> WebGate::stops(const HttpRequest& request) const {
  // The name is as good as a secret, so a refusal doesn't tell it.
  if (!same(request.field("host").value_or(""), host()))
    return refusal(403, "this answers to the host in the address that 'stabctl web' has printed, and to no other");
  if (request.method == "POST" && request.target == "/token") return swap(request);
  if (has_cookie(request)) return {};
  if (request.method == "GET" && request.target == "/") return entrance("text/html", kEntrance);
  if (request.method == "GET" && request.target == "/enter.js") return entrance("text/javascript", kEnter);
  return refusal(401, "open the address that 'stabctl web' has printed");
}

}  // namespace stab::ctl
