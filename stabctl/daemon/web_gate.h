// WebGate: who may pass from a port of this machine's to the daemon. Every user of the machine can connect to it, and every page
// in the user's browser, too; so a request passes only with a cookie that is given for a token, and the token is known only
// to who started us: it stands behind the # of the address that is opened, which no browser sends to anybody.
//
// A browser sends a cookie to every port of a host, so that a program of another user's on 127.0.0.1 could get ours. The
// address therefore has a name of its own below .localhost (RFC 6761: this machine), drawn anew each time, and only that name is
// answered: a browser that is led to any other name or number has no cookie for it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/daemon/web/http.h"

namespace stab::ctl {

class WebGate {
 public:
  // `name`: how a browser calls this machine. pre: all three were drawn
  WebGate(std::string name, int port, std::string token, std::string cookie)
      : name_(std::move(name)), port_(port), token_(std::move(token)), cookie_(std::move(cookie)) {}

  // What to answer instead of passing it on; nothing: it passes.
  std::optional<daemon::HttpAnswer> stops(const daemon::HttpRequest& request) const;
  std::string address() const;  // with the token

 private:
  std::string host() const { return name_ + ":" + std::to_string(port_); }
  std::string cookie_name() const { return "stab-" + std::to_string(port_); }
  bool has_cookie(const daemon::HttpRequest& request) const;
  daemon::HttpAnswer swap(const daemon::HttpRequest& request) const;
  std::string name_;
  int port_;
  std::string token_, cookie_;
};

// 256 bits from the kernel, as 64 digits.
Result<std::string> drawn_word();
// Below .localhost, with 128 bits in it: a label has at most 63 characters.
Result<std::string> drawn_name();

}  // namespace stab::ctl
