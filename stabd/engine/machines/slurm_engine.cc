// The commands of Slurm are what its versions have in common; its REST interface has no version that Debian's and today's
// share. Each is found in PATH, run without a shell, and its output read to the end.
#include "stabd/engine/machines/slurm_engine.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "base/shell_word.h"
#include "base/unique_fd.h"
#include "stabd/engine/machines/spool.h"

extern char** environ;

namespace stab::engine {
namespace {

// A queue of thousands of jobs has a name each; beyond this it is no answer.
constexpr size_t kMostOutputBytes = 4 << 20;

// Runs a command of Slurm and gives what it prints; kUnavailable with its last words where it fails.
Result<std::string> output_of(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  UniqueFd from(ends[0]), to(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), 2);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return system_error("start '" + words[0] + "'", failed);
  to.reset();
  std::string output;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(from.get(), buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    if (output.size() < kMostOutputBytes) output.append(buffer, static_cast<size_t>(got));
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  while (!output.empty() && output.back() == '\n') output.pop_back();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return Error{ErrorCode::kUnavailable, words[0] + " failed: " + output.substr(0, 500), {}};
}

}  // namespace

std::string SlurmEngine::job(int slot, int64_t epoch) const {
  return set_.prefix + "-" + std::to_string(slot) + "-" + std::to_string(epoch);
}

// The worker is the batch script's own process: nobody else pins it, and the warning before the time limit is its SIGTERM.
Status SlurmEngine::start(int slot, int64_t epoch, const std::string&) {
  const std::string name = job(slot, epoch);
  std::vector<std::string> words = {"sbatch",
                                    "--parsable",
                                    "--nodes=1",
                                    "--ntasks=1",
                                    "--exclusive",
                                    "--mem=0",
                                    "--no-requeue",
                                    "--signal=B:TERM@120",
                                    "--job-name=" + name,
                                    "--output=" + set_.spool + "/aside/" + slot_file(slot, epoch, "log")};
  words.insert(words.end(), set_.options.begin(), set_.options.end());
  std::string line = "exec";
  for (const std::string& word : {set_.stabctl, std::string("work"), std::string("--slot"), std::to_string(slot),
                                  std::string("--epoch"), std::to_string(epoch), std::string("--spool"), set_.spool})
    line += " " + shell_word(word);
  words.push_back("--wrap=" + line);
  STAB_TRY(const std::string answer, output_of(words));
  (void)answer;  // its number: the name is enough
  submitted_[name] = set_.clock->monotonic_raw();
  return {};
}

void SlurmEngine::look() {
  const auto now = set_.clock->monotonic_raw();
  if (looked_ && now - *looked_ < set_.between_looks) return;
  looked_ = now;
  const auto answer = output_of({"squeue", "--me", "--noheader", "--format=%j"});
  if (!answer) return;
  queue_.emplace();
  std::istringstream lines(*answer);
  for (std::string line; std::getline(lines, line);) queue_->insert(line.substr(0, line.find_last_not_of(' ') + 1));
  std::erase_if(submitted_, [&](const auto& of) { return of.second < now; });
}

Result<bool> SlurmEngine::lives(int slot, int64_t epoch) {
  look();
  const std::string name = job(slot, epoch);
  return !queue_ || queue_->contains(name) || submitted_.contains(name);
}

void SlurmEngine::stop(int slot, int64_t epoch) {
  (void)output_of({"scancel", "--me", "--batch", "--signal=TERM", "--name=" + job(slot, epoch)});
}

}  // namespace stab::engine
