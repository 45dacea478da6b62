// Starts git, and reads what it answers and what it warns of apart from each other.
#include "stabctl/git.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

extern char** environ;

namespace stab::ctl {
namespace {

constexpr size_t kMostSaid = 64 << 10;

std::string read_all(int fd) {
  std::string said;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::read(fd, bytes, sizeof bytes)) > 0;)
    if (said.size() < kMostSaid) said.append(bytes, static_cast<size_t>(got));
  while (said.ends_with('\n')) said.pop_back();
  return said;
}

}  // namespace

Result<std::string> git(std::vector<std::string> words) {
  words.insert(words.begin(), "git");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  const UniqueFd warnings(::memfd_create("git", MFD_CLOEXEC));
  if (!warnings) return system_error("make a file in memory", errno);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, warnings.get(), 2);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, "git", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  in.reset();
  if (failed != 0) return system_error("run git", failed);
  const std::string answer = read_all(out.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return answer;
  ::lseek(warnings.get(), 0, SEEK_SET);
  const std::string said = read_all(warnings.get());
  return bad_input("git " + words[1] + ": " + (said.empty() ? "failed" : said));
}

}  // namespace stab::ctl
