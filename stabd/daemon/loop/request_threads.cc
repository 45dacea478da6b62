// Each thread has a connection of its own to the store, for reading. Which lane a request is for is known once it is parsed:
// short lines are parsed where status is answered, and go on to another lane from there; a long one is never quick.
#include "stabd/daemon/loop/request_threads.h"

#include <sys/resource.h>
#include <unistd.h>

#include <iterator>
#include <utility>

#include "stabd/daemon/loop/http_answer.h"

namespace stab::daemon {
namespace {

// A plan is longer, and nothing that is answered at once is.
constexpr size_t kShortLine = 16 << 10;
// Two of a lane, so that one user's long request is beside another one's. Each report takes memory with its trials, so there
// are no more of them, and whatever number of users asks for reports, nobody else waits for one.
constexpr Lane kThreads[] = {Lane::kLook, Lane::kChange, Lane::kWork, Lane::kWork, Lane::kReport, Lane::kReport};

// More than the others have. Where processors are short, what is quick gets nine times as much of them as what takes long.
constexpr int kWorkNice = 10;

}  // namespace

RequestThreads::RequestThreads(Service& service, const std::atomic<uint64_t>& events, std::function<void()> wake)
    : service_(&service), events_(&events), wake_(std::move(wake)) {
  loops_ = std::size(kThreads);
  for (const Lane lane : kThreads)
    threads_.emplace_back([this, lane] {
      loop(lane);
      const std::lock_guard<std::mutex> held(mutex_);
      --loops_;
      changed_.notify_all();
    });
}

bool RequestThreads::stop(std::chrono::nanoseconds patience) {
  {
    std::unique_lock<std::mutex> held(mutex_);
    quit_ = true;
    changed_.notify_all();
    if (!changed_.wait_for(held, patience, [this] { return loops_ == 0; })) return false;
  }
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  return true;
}

RequestThreads::~RequestThreads() { (void)stop(std::chrono::hours(24 * 365)); }

void RequestThreads::add(WaitingRequest request) {
  const std::lock_guard<std::mutex> held(mutex_);
  of_browsers_ += request.form != WebForm::kLine;
  request.asked = std::chrono::steady_clock::now();
  queue_.add(request.line.size() > kShortLine ? Lane::kWork : Lane::kLook, std::move(request));
  changed_.notify_all();
}

void RequestThreads::forget(uint64_t client) {
  const std::lock_guard<std::mutex> held(mutex_);
  of_browsers_ -= queue_.forget(client);
}

std::vector<AnsweredRequest> RequestThreads::take_answers() {
  const std::lock_guard<std::mutex> held(mutex_);
  for (const AnsweredRequest& one : answers_) of_browsers_ -= one.of_browser;
  return std::exchange(answers_, {});
}

size_t RequestThreads::of_browsers() const {
  const std::lock_guard<std::mutex> held(mutex_);
  return of_browsers_;
}

size_t RequestThreads::waiting() const {
  const std::lock_guard<std::mutex> held(mutex_);
  return queue_.waiting();
}

void RequestThreads::loop(Lane lane) {
  // Of this thread alone. Where it is refused, the lanes are equals.
  const auto self = static_cast<id_t>(::gettid());
  if (lane == Lane::kWork || lane == Lane::kReport)
    (void)::setpriority(PRIO_PROCESS, self, ::getpriority(PRIO_PROCESS, self) + kWorkNice);
  std::unique_lock<std::mutex> held(mutex_);
  for (;;) {
    std::optional<WaitingRequest> request;
    changed_.wait(held, [&] { return quit_ || (request = queue_.take(lane)).has_value(); });
    if (quit_) return;
    held.unlock();
    const uint64_t events_before = events_->load();
    const Lane wanted = lane == Lane::kLook ? service_->lane_of(request->line) : lane;
    ServiceAnswer answer;
    if (wanted == lane) {
      answer = service_->handle(request->line, request->peer);
      if (request->form != WebForm::kLine) answer.line = web_answer(request->form, request->closes, answer);
    }
    held.lock();
    const uid_t uid = request->peer.uid;
    if (wanted == lane) {
      answers_.push_back({request->client, std::move(answer), events_before, request->closes,
                          request->form != WebForm::kLine, request->changes, lane, request->asked});
    } else {
      queue_.add(wanted, *std::move(request));
    }
    queue_.done(lane, uid);
    changed_.notify_all();
    if (wanted == lane) wake_();
  }
}

}  // namespace stab::daemon
