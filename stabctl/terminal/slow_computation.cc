// A thread of its own, so that what computes need not know of it.
#include "stabctl/terminal/slow_computation.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "stabctl/terminal/terminal.h"

namespace stab::ctl {
namespace {

constexpr std::chrono::seconds kPatience{2};  // what is over by then needs no word

}  // namespace

SlowComputation::SlowComputation(std::string hint) : hint_(std::move(hint)) {
  if (rewrites_lines()) thread_ = std::thread([this] { tell(); });
}

SlowComputation::~SlowComputation() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    done_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void SlowComputation::tell() {
  std::unique_lock<std::mutex> held(mutex_);
  const auto start = std::chrono::steady_clock::now();
  const auto is_done = [this] { return done_; };
  bool is_shown = false;
  for (std::chrono::seconds passed = kPatience; !changed_.wait_until(held, start + passed, is_done);
       passed += std::chrono::seconds(1)) {
    const std::string line = "computing for " + std::to_string(passed.count()) + " s" + (hint_.empty() ? "" : "; " + hint_);
    std::fprintf(stderr, "\r\033[K%s", line.substr(0, static_cast<size_t>(progress_width())).c_str());
    is_shown = true;
  }
  if (is_shown) std::fputs("\r\033[K", stderr);
}

}  // namespace stab::ctl
