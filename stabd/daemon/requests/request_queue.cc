// Round robin over users. Within a user the oldest request is first; a client has one here at a time, so the clients of one
// user take turns, too.
#include "stabd/daemon/requests/request_queue.h"

#include <algorithm>

namespace stab::daemon {

std::string_view name(Lane lane) {
  switch (lane) {
    case Lane::kLook: return "look";
    case Lane::kChange: return "change";
    case Lane::kWork: return "work";
    case Lane::kReport: return "report";
  }
  return "unknown";
}

void RequestQueue::add(Lane lane, WaitingRequest request) {
  Turns& turns = of(lane);
  const uid_t uid = request.peer.uid;
  User& user = turns.users[uid];
  if (user.waiting.empty()) turns.order.push_back(uid);
  user.waiting.push_back(std::move(request));
}

size_t RequestQueue::forget(uint64_t client) {
  size_t of_browsers = 0;
  for (Turns& turns : lanes_) {
    for (auto user = turns.users.begin(); user != turns.users.end();) {
      const bool waited = !user->second.waiting.empty();
      std::erase_if(user->second.waiting, [&](const WaitingRequest& one) {
        of_browsers += one.client == client && one.form != WebForm::kLine;
        return one.client == client;
      });
      if (waited && user->second.waiting.empty()) std::erase(turns.order, user->first);
      user = user->second.waiting.empty() && !user->second.under_way ? turns.users.erase(user) : std::next(user);
    }
  }
  return of_browsers;
}

std::optional<WaitingRequest> RequestQueue::take(Lane lane) {
  Turns& turns = of(lane);
  const auto next = std::find_if(turns.order.begin(), turns.order.end(), [&](uid_t uid) { return !turns.users[uid].under_way; });
  if (next == turns.order.end()) return {};
  const uid_t uid = *next;
  turns.order.erase(next);
  User& user = turns.users[uid];
  WaitingRequest request = std::move(user.waiting.front());
  user.waiting.pop_front();
  user.under_way = true;
  if (!user.waiting.empty()) turns.order.push_back(uid);
  return request;
}

void RequestQueue::done(Lane lane, uid_t uid) {
  Turns& turns = of(lane);
  const auto user = turns.users.find(uid);
  if (user == turns.users.end()) return;
  user->second.under_way = false;
  if (user->second.waiting.empty()) turns.users.erase(user);
}

size_t RequestQueue::waiting() const {
  size_t count = 0;
  for (const Turns& turns : lanes_)
    for (const auto& [uid, user] : turns.users) count += user.waiting.size();
  return count;
}

}  // namespace stab::daemon
