// A child's standard input is open as long as we live: it ends after its trial when that closes, so workers don't outlive a
// controller that is killed. Otherwise it is asked to end by SIGTERM, with its group, as a command may be a script that starts
// the worker: of ssh that ends the connection, and thus the worker. A worker's broker and trials have sessions of their own.
#include "stabd/engine/machines/process_engine.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/shell_word.h"
#include "stabd/engine/machines/worker_files.h"

extern char** environ;

namespace stab::engine {
namespace {

constexpr auto kLookForVerdict = std::chrono::milliseconds(100);  // how often a verdict is looked for, to be sent
// A trial may take long; what has not ended by then is killed, and its trial with it.
constexpr auto kGrace = std::chrono::seconds(10);

}  // namespace

ProcessEngine::~ProcessEngine() {
  for (auto& [of, child] : children_) {
    child->closing = true;
    if (child->pid > 0) ::kill(-child->pid, SIGTERM);
  }
  const auto deadline = std::chrono::steady_clock::now() + kGrace;  // one for all of them: whoever started us waits for us, too
  for (auto& [of, child] : children_) end(*child, deadline);
}

Status ProcessEngine::start(int slot, int64_t epoch, const std::string& host) {
  std::vector<std::string> worker = {set_.stabctl, "work", "--slot", std::to_string(slot), "--epoch", std::to_string(epoch)};
  if (set_.shared) worker.insert(worker.end(), {"--attached", "--spool", set_.spool->directory()});
  std::vector<std::string> words = set_.command;
  if (words.empty()) {
    words = worker;
  } else {
    std::string line;
    for (const std::string& word : worker) line += (line.empty() ? "" : " ") + shell_word(word);
    words.insert(words.end(), {host, line});
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0) return system_error("pipe", errno);
  UniqueFd to_read(to[0]), to_write(to[1]);
  if (::pipe2(from, O_CLOEXEC) != 0) return system_error("pipe", errno);
  UniqueFd from_read(from[0]), from_write(from[1]);
  const std::string log = set_.spool->directory() + "/aside/" + slot_file(slot, epoch, "log");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to_read.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, from_write.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  // A group of its own: a Ctrl-C is for the controller, which tells its workers.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  auto child = std::make_unique<Child>();
  const int failed = ::posix_spawnp(&child->pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return system_error("start '" + words[0] + "'", failed);
  child->to = std::move(to_write);
  child->from = std::move(from_read);
  if (set_.shared) {
    child->over = true;
  } else {
    serve(*child, slot, epoch);
  }
  children_[{slot, epoch}] = std::move(child);
  return {};
}

size_t ProcessEngine::granted_blocks(int slot, int64_t epoch) const {
  const auto grant = set_.spool->note(slot_file(slot, epoch, "grant"));
  if (!grant || !*grant) return 0;
  const std::string_view blocks = std::string_view(**grant).substr(std::min((*grant)->find('\n'), (*grant)->size()));
  return static_cast<size_t>(std::count_if(blocks.begin(), blocks.end(), [](char c) { return c == ' ' || c == '\n'; }));
}

// Keeps a file that the worker has sent, if it is one that the controller reads. Other files are not kept, and are no fault.
Status ProcessEngine::take(const SlotFile& file, const std::string& name, const std::string& content, size_t& parts_left) {
  const auto strange = [](const char* what) {
    return Error{ErrorCode::kCorrupt, std::string("the worker sent ") + what + ", which no worker does", {}};
  };
  if (parse_part_file(file.what)) {
    if (parts_left-- == 0) return strange("more parts than its blocks have");
    return set_.spool->put(name, content);
  }
  if (!is_worker_note(file.what)) return {};
  return content.size() > kMostNoteBytes ? strange("a note of more than 1 MiB") : set_.spool->put(name, content);
}

// Talks with a worker by two threads. One takes its files, those of its own slot and epoch only. The other sends what the worker
// needs, in the order in which it looks for it, and the verdict when there is one.
void ProcessEngine::serve(Child& child, int slot, int64_t epoch) {
  child.receives = std::thread([this, &child, spool = set_.spool, slot, epoch] {
    size_t parts_left = most_parts(granted_blocks(slot, epoch));
    const auto take_own = [&](const std::string& name, const std::string& content) {
      const auto file = parse_slot_file(name);
      return file && file->slot == slot && file->epoch == epoch ? take(*file, name, content, parts_left) : Status();
    };
    const Status received = receive_files(child.from.get(), set_.most_file_bytes, take_own);
    // It is refused with this reason; as nobody reads what it says any more, it ends at its next word. Where our own disk is full
    // its host is not to blame: its epoch is lost, and another one granted.
    if (!received && received.error().code == ErrorCode::kCorrupt)
      (void)spool->put_note(slot_file(slot, epoch, "end"), received.error().message);
    child.from.reset();
    child.over = true;
  });
  child.sends = std::thread([&child, spool = set_.spool, slot, epoch] {
    FileSender sender(child.to.get());
    const auto names = spool->names();
    if (!names) return;
    for (const std::string& name : *names)
      if ((name == kSpoolExperiment || name == kSpoolBundle || name.starts_with("binary.") ||
           name == slot_file(slot, epoch, "grant")) &&
          !sender.send(name, spool->path_of(name)))
        return;
    const std::string verdict = slot_file(slot, epoch, "verdict");
    while (!child.over && !child.closing && !spool->has(verdict)) std::this_thread::sleep_for(kLookForVerdict);
    if (spool->has(verdict)) (void)sender.send(verdict, spool->path_of(verdict));
  });
}

Result<bool> ProcessEngine::lives(int slot, int64_t epoch) {
  const auto at = children_.find({slot, epoch});
  if (at == children_.end()) return false;
  Child& child = *at->second;
  if (child.pid > 0) {
    int status = 0;
    const pid_t ended = ::waitpid(child.pid, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return system_error("wait for a worker", errno);
    if (ended == child.pid) child.pid = -1;
  }
  return child.pid > 0 || !child.over;
}

void ProcessEngine::stop(int slot, int64_t epoch) {
  const auto at = children_.find({slot, epoch});
  if (at == children_.end()) return;
  at->second->closing = true;
  if (at->second->pid > 0) ::kill(-at->second->pid, SIGTERM);
}

void ProcessEngine::end(Child& child, std::chrono::steady_clock::time_point deadline) {
  int status = 0;
  while (child.pid > 0 && ::waitpid(child.pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(-child.pid, SIGKILL);
      ::waitpid(child.pid, &status, 0);
      break;
    }
    std::this_thread::sleep_for(kLookForVerdict);
  }
  child.pid = -1;
  if (child.sends.joinable()) child.sends.join();
  if (child.receives.joinable()) child.receives.join();
}

}  // namespace stab::engine
