// Door: which HTTP requests are looked at at all. Who sends them is not asked here: the kernel has said it of the connection.
//
// A browser carries requests for any page that is open in it. What tells ours from another's is what pages can't write:
//   Host            a loopback name: a name that somebody's DNS resolves to 127.0.0.1 (rebinding) is refused
//   Origin          where it is there, the same as Host
//   Sec-Fetch-Site  where it is there, same-origin, or none: typed, or opened by a program
//   X-Stab          on each POST: another origin needs a preflight for it, and every preflight is refused
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stabd/daemon/web/http.h"

namespace stab::daemon {

// What is wrong with it, in words with the cure.
std::optional<HttpFault> why_not_in(const HttpRequest& request);

// What a client sent, as part of a message to it: short, and nothing that drives a terminal.
std::string shown(std::string_view text);

// "127.0.0.1", "localhost:8642", "a.localhost:8642".
bool is_loopback_host(std::string_view host);

}  // namespace stab::daemon
