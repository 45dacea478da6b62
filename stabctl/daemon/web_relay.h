// WebRelay: passes what a gate lets through from a port of this machine's to the daemon's socket, and its answers back. It reads
// requests to know whether they may pass, and hands on their very bytes; of answers it knows nothing.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stabctl/daemon/web_gate.h"

namespace stab::ctl {

class WebRelay {
 public:
  // A port on both addresses that a browser takes a name below .localhost to, 127.0.0.1 and ::1: whoever held the other one would
  // get the visitors, and with them the token. Where the machine has no ::1, nobody can.
  struct Port {
    int number = 0;
    std::vector<UniqueFd> listeners;
  };
  // 0: one that is free on both.
  static Result<Port> listen(int number);

  // `daemon` connects to it anew.
  WebRelay(Port port, WebGate gate, std::function<Result<UniqueFd>()> daemon);
  ~WebRelay();

  // Until `stop` is readable.
  Status run(int stop);

 private:
  struct Pair;
  void accept(int listener);
  void make_room();
  // False: it is over.
  bool take_from_browser(Pair& pair);
  bool take_from_daemon(Pair& pair);
  void pass_on(Pair& pair);
  void answer(Pair& pair, const daemon::HttpAnswer& answer);

  Port port_;
  WebGate gate_;
  std::function<Result<UniqueFd>()> daemon_;
  std::list<Pair> pairs_;
};

}  // namespace stab::ctl
