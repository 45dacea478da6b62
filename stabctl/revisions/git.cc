// Starts git, and reads what it answers and what it warns of apart from each other.
#include "stabctl/revisions/git.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/line_ends.h"
#include "base/unique_fd.h"

extern char** environ;

namespace stab::ctl {
namespace {

// A history of 100,000 commits, a line each.
constexpr size_t kMostAnswered = 16 << 20;
constexpr size_t kMostWarned = 64 << 10;

// Up to one byte more than `most`.
std::string read_all(int fd, size_t most) {
  std::string said;
  char bytes[4096];
  for (;;) {
    const ssize_t got = ::read(fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    said.append(bytes, std::min(static_cast<size_t>(got), most + 1 - said.size()));
  }
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
  if (failed == ENOENT)
    return Error{ErrorCode::kNotFound, "there is no program 'git' in PATH; install it, or add its folder to PATH", {}};
  if (failed != 0) return system_error("run git", failed);
  const std::string answer = read_all(out.get(), kMostAnswered);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.size() > kMostAnswered)
    return bad_input("git " + words[1] + " answers with more than " + std::to_string(kMostAnswered >> 20) +
                     " MiB, which is more than is read of it");
  if (status == 0) return without_line_ends(answer);
  ::lseek(warnings.get(), 0, SEEK_SET);
  const std::string said = without_line_ends(read_all(warnings.get(), kMostWarned));
  return bad_input("git " + words[1] + ": " + (said.empty() ? "failed" : said));
}

}  // namespace stab::ctl
