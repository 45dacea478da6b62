// Starting the compiler and the post-link step.
#include "instrumenter/driver/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/unique_fd.h"

extern char** environ;

namespace stab::driver {
namespace {

std::vector<char*> pointers(const Arguments& command) {
  std::vector<char*> out;
  for (const std::string& word : command) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

Result<int> wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return system_error("wait for a child", errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<int> run(const Arguments& command) {
  pid_t child = 0;
  const int error = posix_spawn(&child, command[0].c_str(), nullptr, nullptr, pointers(command).data(), environ);
  if (error != 0) return system_error("run '" + command[0] + "'", error);
  return wait_for(child);
}

Result<Captured> run_captured(const Arguments& command, int descriptor) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe", errno);
  UniqueFd reader(ends[0]), writer(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), descriptor);
  const int other = descriptor == STDERR_FILENO ? STDOUT_FILENO : STDERR_FILENO;
  posix_spawn_file_actions_addopen(&actions, other, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, pointers(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return system_error("run '" + command[0] + "'", error);
  writer.reset();
  Captured captured{};
  char buffer[8192];
  for (;;) {
    const ssize_t count = read(reader.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    captured.text.append(buffer, static_cast<size_t>(count));
  }
  STAB_TRY(captured.exit_code, wait_for(child));
  return captured;
}

Error become(const Arguments& command) {
  execv(command[0].c_str(), pointers(command).data());
  return system_error("run '" + command[0] + "'", errno);
}

std::string shown_as_typed(const Arguments& command) {
  std::string out;
  for (const std::string& word : command) {
    out += " \"";
    for (const char c : word) {
      if (c == '"' || c == '\\' || c == '$') out += '\\';
      out += c;
    }
    out += '"';
  }
  return out;
}

}  // namespace stab::driver
