// Our thread writes and the receiver's reads, so that a deputy which waits for us to read keeps nobody. Writes give up after a
// time: a deputy that reads nothing is as one that is gone, and another one takes over.
#include "stabd/engine/machines/deputy_engine.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/engine/build/builds.h"
#include "stabd/engine/machines/deputy.h"
#include "stabd/engine/machines/worker_files.h"
#include "stabd/engine/separation/start_error.h"

namespace stab::engine {
namespace {

constexpr timeval kWriteLimit{30, 0};
constexpr std::chrono::milliseconds kForgetWithin{5'000};
// A deputy that has lost its connection waits for its workers (process_engine.cc) before it ends.
constexpr int kEndMs = 15'000;
constexpr std::chrono::milliseconds kKillLimit{1000};
// A user's spool may be out of reach for a minute; one that stays so is a fault to be told.
constexpr int kMostFailedStarts = 6;

class LaunchedDeputy final : public DeputyProcess {
 public:
  LaunchedDeputy(UniqueFd ours, std::unique_ptr<OwnProcess> process)
      : DeputyProcess(std::move(ours)), process_(std::move(process)) {}
  ~LaunchedDeputy() override {
    ::shutdown(socket.get(), SHUT_RDWR);
    pollfd gone{process_->pidfd(), POLLIN, 0};
    (void)::poll(&gone, 1, kEndMs);
    (void)process_->end(kKillLimit);
  }

 private:
  std::unique_ptr<OwnProcess> process_;
};

}  // namespace

Result<std::unique_ptr<DeputyProcess>> launch_deputy(const DeputyLaunch& launch) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair", errno);
  UniqueFd ours(ends[0]);
  const UniqueFd its(ends[1]);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return system_error("open '/dev/null'", errno);
  host::LaunchRequest request;
  request.exec_path = launch.stabctl;
  request.directory = "/";
  request.argv = {"stabctl", "deputy"};
  request.env = {std::string("PATH=") + kSearchPath, "LC_ALL=C.UTF-8"};
  request.submitter = launch.submitter;
  auto process = launch.start(request, {its.get(), its.get(), null.get(), -1, -1});
  if (!process) return start_error(launch.stabctl, process.error());
  return std::unique_ptr<DeputyProcess>(std::make_unique<LaunchedDeputy>(std::move(ours), *std::move(process)));
}

DeputyEngine::DeputyEngine(Setting setting) : set_(std::move(setting)), newest_(set_.newest) {
  set_.spool->listen([this](const std::string& name, const std::string&) { hear(name); });
}

DeputyEngine::~DeputyEngine() {
  end();  // the receiver puts files, and tells the listener
  set_.spool->listen({});
}

void DeputyEngine::end() {
  if (process_) ::shutdown(process_->socket.get(), SHUT_RDWR);
  if (receives_.joinable()) receives_.join();
  sender_.reset();
  process_.reset();
  asked_.clear();
}

Status DeputyEngine::sent(Status status) {
  if (!status) ::shutdown(process_->socket.get(), SHUT_RDWR);
  return status;
}

Status DeputyEngine::say(const std::string& name, const std::string& text) {
  return sent(sender_->send_bytes(name, sealed(text)));
}

Status DeputyEngine::send(const std::string& name) {
  return sent(sender_->send(name, set_.spool->path_of(name)));
}

bool DeputyEngine::has_deputy() const {
  const std::lock_guard<std::mutex> held(mutex_);
  return process_ && !closed_;
}

Status DeputyEngine::ready() {
  if (has_deputy()) return {};
  const auto now = set_.clock->monotonic_raw();
  if (began_ && now - *began_ < set_.between_starts) return Error{ErrorCode::kBusy, "stabctl deputy has ended: " + why_, {}};
  began_ = now;
  Status begun = begin();
  if (begun) {
    failures_ = 0;
    return {};
  }
  ++failures_;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    why_ = begun.error().message + (why_closed_.empty() ? "" : ": " + why_closed_);
  }
  end();
  return begun;
}

Status DeputyEngine::begin() {
  STAB_CHECK_OK(introduce(set_.answers_within));
  STAB_TRY(const std::vector<std::string> names, set_.spool->names());
  for (const std::string& name : names) {
    const std::optional<SlotFile> file = parse_slot_file(name);
    const bool wants = file ? file->what == "grant" || file->what == "verdict"
                            : name == kSpoolExperiment || name == kSpoolBundle || name.starts_with("binary.");
    if (wants) STAB_CHECK_OK(send(name));
  }
  return {};
}

Status DeputyEngine::introduce(std::chrono::milliseconds answers_within) {
  end();
  {
    const std::lock_guard<std::mutex> held(mutex_);
    ready_.reset();
    started_.clear();
    lives_.clear();
    why_closed_.clear();
    closed_ = false;
  }
  STAB_TRY(process_, set_.launch());
  ::setsockopt(process_->socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kWriteLimit, sizeof kWriteLimit);
  sender_ = std::make_unique<FileSender>(process_->socket.get());
  receives_ = std::thread([this, fd = process_->socket.get()] {
    const Status received = receive_files(
        fd, set_.most_file_bytes, [this](const std::string& name, const std::string& content) { return take(name, content); });
    const std::lock_guard<std::mutex> held(mutex_);
    closed_ = true;
    if (!received) why_closed_ = received.error().message;
    changed_.notify_all();
  });
  STAB_CHECK_OK(say(kDeputyPlan, set_.name + "\n" + set_.identity + "\n" + set_.plan_text));
  std::unique_lock<std::mutex> held(mutex_);
  changed_.wait_for(held, answers_within, [this] { return closed_ || ready_; });
  if (!ready_) return Error{ErrorCode::kUnavailable, "the submit agent (stabctl deputy) does not answer", {}};
  if (!ready_->empty()) return Error{ErrorCode::kUnavailable, *ready_, {}};
  return {};
}

Status DeputyEngine::start(int slot, int64_t epoch, const std::string& host) {
  Status is_ready = ready();
  // One that has just ended isn't the slot's fault.
  if (!is_ready && is_ready.error().code == ErrorCode::kBusy) {
    ::poll(nullptr, 0, static_cast<int>(set_.between_starts.count()));
    is_ready = ready();
  }
  STAB_CHECK_OK(is_ready);
  const Of of(slot, epoch);
  {
    const std::lock_guard<std::mutex> held(mutex_);
    newest_[slot] = std::max(newest_[slot], epoch);
  }
  STAB_CHECK_OK(send(slot_file(slot, epoch, "grant")));
  STAB_CHECK_OK(say(slot_file(slot, epoch, "start"), host));
  std::unique_lock<std::mutex> held(mutex_);
  changed_.wait_for(held, set_.answers_within, [&] { return closed_ || started_.contains(of); });
  const auto started = started_.find(of);
  if (started == started_.end()) return Error{ErrorCode::kUnavailable, "stabctl deputy ended, or took too long to start it", {}};
  if (!started->second.empty()) return Error{ErrorCode::kUnavailable, started->second, {}};
  return {};
}

Result<bool> DeputyEngine::lives(int slot, int64_t epoch) {
  if (const Status is_ready = ready(); !is_ready) {
    if (failures_ < kMostFailedStarts) return true;
    return Error{ErrorCode::kUnavailable, "the submit agent (stabctl deputy) can't be started: " + why_, {}};
  }
  const Of of(slot, epoch);
  {
    const std::lock_guard<std::mutex> held(mutex_);
    newest_[slot] = std::max(newest_[slot], epoch);
  }
  if (asked_.insert(of).second) (void)say(slot_file(slot, epoch, "ask"), "");
  const std::lock_guard<std::mutex> held(mutex_);
  const auto told = lives_.find(of);
  return closed_ || told == lives_.end() || told->second;
}

void DeputyEngine::stop(int slot, int64_t epoch) {
  if (sender_) (void)say(slot_file(slot, epoch, "stop"), "");
}

// One that has ended has kept its directory for the next, and there would be none. Where no deputy can be had soon it stays: the
// daemon may be about to end, and waits for this.
void DeputyEngine::forget() {
  if (!has_deputy() && (newest_.empty() || !introduce(std::min(set_.answers_within, kForgetWithin)))) return;
  (void)say(kDeputyOver, "");
}

void DeputyEngine::hear(const std::string& name) {
  const std::optional<SlotFile> file = parse_slot_file(name);
  if (sender_ && file && file->what == "verdict") (void)send(name);
}

bool DeputyEngine::may_send_part(const SlotFile& file) {
  const std::lock_guard<std::mutex> held(mutex_);
  return ++parts_[{file.slot, file.epoch}] <= most_parts(static_cast<size_t>(set_.blocks_of[static_cast<size_t>(file.slot)]));
}

Status DeputyEngine::take(const std::string& name, const std::string& content) {
  const auto told = [&](auto set) {
    const std::optional<std::string> text = unsealed(content);
    if (!text) return;
    const std::lock_guard<std::mutex> held(mutex_);
    set(at_most(*text, kMostReasonBytes));
    changed_.notify_all();
  };
  const Error strange{ErrorCode::kCorrupt, "the submit agent (stabctl deputy) sent a message that Stab never sends", {}};
  const std::optional<SlotFile> file = parse_slot_file(name);
  const bool is_part = file && parse_part_file(file->what);
  if (!is_part && content.size() > kMostNoteBytes) return strange;
  if (name == kDeputyReady) {
    told([&](const std::string& text) { ready_ = text; });
    return {};
  }
  if (!file || file->slot >= static_cast<int>(set_.blocks_of.size())) return strange;
  const Of of(file->slot, file->epoch);
  {
    const std::lock_guard<std::mutex> held(mutex_);
    const auto newest = newest_.find(file->slot);
    if (newest == newest_.end() || file->epoch > newest->second) return strange;
  }
  if (is_part) {
    if (!may_send_part(*file)) return strange;
    STAB_CHECK_OK(set_.spool->put(name, content));
    return say(slot_file(file->slot, file->epoch, kGotPrefix + file->what), "");
  }
  if (file->what == "started") told([&](const std::string& text) { started_[of] = text; });
  else if (file->what == "lives") told([&](const std::string& text) { lives_[of] = text == "1"; });
  else if (is_worker_note(file->what)) return set_.spool->put(name, content);
  else return strange;
  return {};
}

}  // namespace stab::engine
