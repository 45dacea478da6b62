// One loop around poll(2), all descriptors non-blocking. Each connection of a browser has one of its own to the daemon, made
// when its first request passes the gate: who has no cookie takes nothing of the daemon's.
#include "stabctl/daemon/web_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

namespace stab::ctl {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A browser has six connections to one host; the daemon takes 16 of one user.
constexpr size_t kMostPairs = 64;
// Kept for a side that does not take what the other one sends.
constexpr size_t kMostKept = 1u << 20;
// A browser that was let in before may be silent for as long as the daemon lets it; another one says what it wants.
constexpr std::chrono::seconds kFirstRequest{10};

// Ports that are tried where any will do. Who holds a port on ::1 beside each free one of 127.0.0.1 holds thousands.
constexpr int kPortsTried = 64;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// False where the other side is gone.
bool put(int fd, std::string& bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return would_block();
    bytes.erase(0, static_cast<size_t>(sent));
  }
  return true;
}

}  // namespace

struct WebRelay::Pair {
  UniqueFd browser, daemon;
  daemon::HttpReader reader;
  std::string to_daemon, to_browser;
  bool ends = false;       // nothing more is read; over once to_browser is taken
  bool was_let_in = false, was_answered = false;
  SteadyClock::time_point since = SteadyClock::now();
};

WebRelay::WebRelay(Port port, WebGate gate, std::function<Result<UniqueFd>()> daemon)
    : port_(std::move(port)), gate_(std::move(gate)), daemon_(std::move(daemon)) {}
WebRelay::~WebRelay() = default;

namespace {

union Address {
  sockaddr any;
  sockaddr_in four;
  sockaddr_in6 six;
};

Address loopback(int family, int port) {
  Address address{};
  address.any.sa_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    address.four.sin_port = htons(static_cast<uint16_t>(port));
    address.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else {
    address.six.sin6_port = htons(static_cast<uint16_t>(port));
    address.six.sin6_addr = in6addr_loopback;
  }
  return address;
}

socklen_t size_of(int family) { return family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }

// errno where it can't be had.
UniqueFd listen_on(int family, int port) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return {};
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  const Address address = loopback(family, port);
  if (::bind(fd.get(), &address.any, size_of(family)) == 0 && ::listen(fd.get(), SOMAXCONN) == 0) return fd;
  const int why = errno;
  fd.reset();
  errno = why;
  return {};
}

// Of a kernel without IPv6, or an interface without the address.
bool means_no_address(int code) { return code == EAFNOSUPPORT || code == EADDRNOTAVAIL || code == EPROTONOSUPPORT; }

Result<int> port_of(int listener) {
  Address address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener, &address.any, &size) != 0) return system_error("getsockname", errno);
  return static_cast<int>(ntohs(address.four.sin_port));
}

Error not_ours(const std::string& address, int code) {
  if (code != EADDRINUSE) return system_error("listen on " + address, code);
  return {ErrorCode::kBusy,
          "another program listens on " + address +
              ", and a browser could come to that one instead, with your token; give another "
              "--port, or none for one that is free",
          {}};
}

}  // namespace

Result<WebRelay::Port> WebRelay::listen(int number) {
  for (int tried = 1;; ++tried) {
    Port port;
    UniqueFd four = listen_on(AF_INET, number);
    if (!four) return not_ours("127.0.0.1:" + std::to_string(number), errno);
    STAB_TRY(port.number, port_of(four.get()));
    port.listeners.push_back(std::move(four));
    UniqueFd six = listen_on(AF_INET6, port.number);
    if (!six) {
      const int why = errno;
      if (means_no_address(why)) return port;
      if (number == 0 && why == EADDRINUSE && tried < kPortsTried) continue;
      return not_ours("[::1]:" + std::to_string(port.number), why);
    }
    port.listeners.push_back(std::move(six));
    return port;
  }
}

// Of those that were not let in the oldest goes: whoever has no cookie keeps nobody out.
void WebRelay::make_room() {
  const auto now = SteadyClock::now();
  pairs_.remove_if([&](const Pair& pair) { return !pair.was_let_in && now - pair.since > kFirstRequest; });
  if (pairs_.size() < kMostPairs) return;
  const auto stranger = std::find_if(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return !pair.was_let_in; });
  if (stranger != pairs_.end()) pairs_.erase(stranger);
}

// As many as there may be, then those that are there have their turn.
void WebRelay::accept(int listener) {
  for (size_t accepted = 0; accepted < kMostPairs; ++accepted) {
    UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    make_room();
    if (pairs_.size() >= kMostPairs) continue;
    pairs_.emplace_back();
    pairs_.back().browser = std::move(fd);
  }
}

void WebRelay::answer(Pair& pair, const daemon::HttpAnswer& answer) {
  pair.to_browser += daemon::http_bytes(answer);
  pair.ends = pair.ends || answer.closes;
}

void WebRelay::pass_on(Pair& pair) {
  while (!pair.ends) {
    const auto request = pair.reader.next();
    if (pair.reader.fault()) {
      daemon::HttpAnswer fault;
      fault.status = pair.reader.fault()->status;
      fault.type = "text/plain";
      fault.body = pair.reader.fault()->message + "\n";
      fault.closes = true;
      return answer(pair, fault);
    }
    if (!request) return;
    if (auto stopped = gate_.stops(*request)) {
      stopped->closes = stopped->closes || !request->keeps_alive || pair.was_let_in;
      answer(pair, *stopped);
      continue;
    }
    pair.was_let_in = true;
    if (!pair.daemon) {
      auto connected = daemon_();
      if (!connected) {
        daemon::HttpAnswer gone;
        gone.status = 502;
        gone.type = "text/plain";
        gone.body = connected.error().message + "\n";
        gone.closes = true;
        return answer(pair, gone);
      }
      pair.daemon = std::move(*connected);
    }
    pair.to_daemon += pair.reader.raw();
  }
}

bool WebRelay::take_from_browser(Pair& pair) {
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(pair.browser.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return would_block();
  if (got == 0) return false;
  pair.reader.add({bytes.data(), static_cast<size_t>(got)});
  pass_on(pair);
  return true;
}

bool WebRelay::take_from_daemon(Pair& pair) {
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(pair.daemon.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && would_block()) return true;
  if (got > 0) {
    pair.was_answered = true;
    pair.to_browser.append(bytes.data(), static_cast<size_t>(got));
    return true;
  }
  if (!pair.was_answered) {
    daemon::HttpAnswer full;
    full.status = 503;
    full.type = "text/plain";
    full.body = "the daemon has closed the connection: you have as many as it takes, or it has ended\n";
    full.closes = true;
    answer(pair, full);
  }
  pair.ends = true;
  pair.daemon.reset();
  return true;
}

Status WebRelay::run(int stop) {
  std::vector<pollfd> fds;
  for (;;) {
    fds = {{stop, POLLIN, 0}};
    for (const UniqueFd& listener : port_.listeners) fds.push_back({listener.get(), POLLIN, 0});
    for (const Pair& pair : pairs_) {
      // Who does not take answers is asked for no more questions, whoever answers them: one to our gate takes no cookie.
      const bool reads = !pair.ends && pair.to_daemon.size() < kMostKept && pair.to_browser.size() < kMostKept;
      fds.push_back({pair.browser.get(), static_cast<short>((reads ? POLLIN : 0) | (pair.to_browser.empty() ? 0 : POLLOUT)), 0});
      const bool takes = pair.to_browser.size() < kMostKept;
      fds.push_back({pair.daemon ? pair.daemon.get() : -1,
                     static_cast<short>((takes ? POLLIN : 0) | (pair.to_daemon.empty() ? 0 : POLLOUT)), 0});
    }
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return system_error("poll", errno);
    if (fds[0].revents != 0) return {};
    size_t i = 1 + port_.listeners.size();
    for (auto pair = pairs_.begin(); pair != pairs_.end(); i += 2) {
      bool goes_on = (fds[i].revents & (POLLERR | POLLNVAL)) == 0;
      const bool was_asked = (fds[i].events & POLLIN) != 0;
      if (!was_asked && (fds[i].revents & POLLHUP) != 0) goes_on = false;  // nobody is there to take anything
      if (goes_on && was_asked && (fds[i].revents & (POLLIN | POLLHUP)) != 0) goes_on = take_from_browser(*pair);
      if (goes_on && pair->daemon && (fds[i + 1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) goes_on = take_from_daemon(*pair);
      // A daemon that takes no more may have said something before it closed.
      if (goes_on && pair->daemon && !put(pair->daemon.get(), pair->to_daemon)) pair->to_daemon.clear();
      if (goes_on) goes_on = put(pair->browser.get(), pair->to_browser);
      if (goes_on && pair->ends && pair->to_browser.empty()) goes_on = false;
      pair = goes_on ? std::next(pair) : pairs_.erase(pair);
    }
    for (size_t listener = 1; listener <= port_.listeners.size(); ++listener)
      if (fds[listener].revents != 0) accept(fds[listener].fd);
  }
}

}  // namespace stab::ctl
