// ToldEvents: the last things that happened, numbered, for those who come late or come back.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stabd/engine_thread.h"

namespace stab::engine {

struct Happened {
  uint64_t number = 0;
  EngineEvent event;
};

class ToldEvents {
 public:
  // `start` names this daemon's events: a number means nothing after it was started again.
  explicit ToldEvents(std::string start) : start_(std::move(start)) {}

  const Happened& add(EngineEvent event);
  // The number of the last one; from any thread.
  const std::atomic<uint64_t>& last() const { return last_; }
  size_t kept() const { return events_.size(); }

  std::string name(uint64_t number) const { return start_ + "-" + std::to_string(number); }
  // The other way round; nothing where it is no event of this daemon's.
  std::optional<uint64_t> number_of(std::string_view name) const;
  std::string for_line(const Happened& one) const;
  std::string for_browser(const Happened& one) const;

  using Wanted = std::function<bool(const EngineEvent&)>;
  // Those after number `seen`, as lines.
  std::string lines_since(uint64_t seen, const Wanted& wanted) const;
  // The same for a browser. Nothing is `seen`, or more than is kept came since: it is told to look at everything anew.
  std::string for_browser_since(std::optional<uint64_t> seen, const Wanted& wanted) const;

 private:
  std::string start_;
  std::deque<Happened> events_;
  std::atomic<uint64_t> last_{0};
};

}  // namespace stab::engine
