// RequestQueue: what clients have asked for and nobody has begun to answer.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stabd/daemon/settings/peer.h"
#include "stabd/daemon/web/form.h"

namespace stab::daemon {

// What takes about equally long waits together, so that nothing quick stands behind something slow.
enum class Lane {
  kLook,    // milliseconds: status
  kChange,  // the store's gate and a sync of the disk: cancel, priority
  kWork,    // up to seconds: parsing a plan, logs, a piece of a bundle
  kReport,  // as long as it takes: what is computed of all trials of an experiment
};
inline constexpr size_t kLanes = 4;
std::string_view name(Lane lane);

struct WaitingRequest {
  uint64_t client = 0;
  Peer peer;
  std::string line;
  WebForm form = WebForm::kLine;
  bool closes = false;  // the connection, behind the answer
  bool changes = false;  // of a browser: it is more than a question
  std::chrono::steady_clock::time_point asked{};  // when it came to wait
};

// Users take turns, whatever number of clients each has, and have one request of a lane under way at most: another user's is
// next, however many the first one has sent. Pure; not thread-safe.
class RequestQueue {
 public:
  void add(Lane lane, WaitingRequest request);
  // The client is gone: what it waits for is not begun. How many of these were of a browser.
  size_t forget(uint64_t client);
  // The next one, now under way; nothing if there is none whose user has none under way.
  std::optional<WaitingRequest> take(Lane lane);
  // The user's request that was taken is answered.
  void done(Lane lane, uid_t uid);
  size_t waiting() const;

 private:
  struct User {
    std::deque<WaitingRequest> waiting;
    bool under_way = false;
  };
  struct Turns {
    std::map<uid_t, User> users;  // with something waiting or under way
    std::deque<uid_t> order;      // those with something waiting, each once
  };
  Turns& of(Lane lane) { return lanes_[static_cast<size_t>(lane)]; }
  std::array<Turns, kLanes> lanes_;
};

}  // namespace stab::daemon
