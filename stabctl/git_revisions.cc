// git is asked by its own commands, as the user: what they may read and what their configuration says holds here, too.
#include "stabctl/git_revisions.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

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

// What git answers, without the line's end; an Error with git's own words where it fails. Its warnings, such as of a home
// directory that it may not read, are no part of the answer.
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

constexpr char kFetchAll[] = "; this clone is shallow and may lack it: fetch with depth 0 (git fetch --unshallow)";

bool is_shallow() {
  const auto shallow = git({"rev-parse", "--is-shallow-repository"});
  return shallow && *shallow == "true";
}

// "HEAD~3" of a history of two commits.
std::string why_no_commit(const std::string& name) {
  if (is_shallow()) return kFetchAll;
  const std::string of = name.substr(0, name.find_first_of("~^"));
  if (of.size() < name.size() && !of.empty()) {
    const auto count = git({"rev-list", "--count", "--end-of-options", of});
    if (count && *count == "1") return "; '" + of + "' is the first commit, with none before it to compare it with";
    if (count) return "; '" + of + "' and what came before it are " + *count + " commits";
  }
  return "; 'git log --all --oneline' lists the commits that there are";
}

Result<std::string> commit_named(const std::string& name) {
  auto commit = git({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (!commit) return bad_input("'" + name + "' names no commit here" + why_no_commit(name));
  return commit;
}

}  // namespace

Result<std::string> root_of_repository() { return git({"rev-parse", "--show-toplevel"}); }

Result<Revisions> revisions_of(const std::string& base, const std::string& head, bool forked) {
  Revisions out;
  STAB_TRY(out.root, root_of_repository());
  STAB_TRY(out.base, commit_named(base));
  STAB_TRY(out.head, commit_named(head));
  const auto ancestor = git({"merge-base", out.base, out.head});
  if (!ancestor)
    return bad_input("'" + base + "' and '" + head + "' have no common ancestor, so there is no change to judge" +
                     (is_shallow() ? kFetchAll : "; compare commits of one history"));
  if (forked) out.base = *ancestor;
  return out;
}

Result<Revisions> revisions_of(const std::string& range) {
  const size_t dots = range.find("..");
  const bool forked = dots != std::string::npos && range.compare(dots, 3, "...") == 0;
  const std::string base = dots == std::string::npos ? "" : range.substr(0, dots);
  const std::string head = dots == std::string::npos ? "" : range.substr(dots + (forked ? 3 : 2));
  if (base.empty() || head.empty())
    return bad_input("'" + range + "' is no range of revisions; write BASE..HEAD, or BASE...HEAD to compare "
                     "with where HEAD left BASE");
  return revisions_of(base, head, forked);
}

Result<std::string> uncommitted_changes(const std::string& root) {
  return git({"-C", root, "status", "--porcelain", "--untracked-files=no"});
}

}  // namespace stab::ctl
