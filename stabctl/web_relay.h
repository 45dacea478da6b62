// WebRelay: passes what a gate lets through from a port of 127.0.0.1 to the daemon's socket, and its answers back. It reads
// requests to know whether they may pass, and hands on their very bytes; of answers it knows nothing.
#pragma once

#include <functional>
#include <list>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabctl/web_gate.h"

namespace stab::ctl {

class WebRelay {
 public:
  // Listens on 127.0.0.1; port 0: one that is free.
  static Result<UniqueFd> listen(int port);
  static Result<int> port_of(int listener);

  // `daemon` connects to it anew.
  WebRelay(UniqueFd listener, WebGate gate, std::function<Result<UniqueFd>()> daemon);
  ~WebRelay();

  // Until `stop` is readable.
  Status run(int stop);

 private:
  struct Pair;
  void accept();
  void make_room();
  // False: it is over.
  bool take_from_browser(Pair& pair);
  bool take_from_daemon(Pair& pair);
  void pass_on(Pair& pair);
  void answer(Pair& pair, const engine::HttpAnswer& answer);

  UniqueFd listener_;
  WebGate gate_;
  std::function<Result<UniqueFd>()> daemon_;
  std::list<Pair> pairs_;
};

}  // namespace stab::ctl
