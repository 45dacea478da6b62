#include "engine/experiment/git_source.h"

#include <sstream>
#include <utility>
#include <vector>

#include "worker/worker_wire.h"

namespace stab::engine {
namespace {

// Deeper ones are no project's; a repository that is its own submodule would have no end.
constexpr int kDeepestSubmodule = 16;

std::string without_newlines(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Clone {
 public:
  Clone(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, const std::string& directory,
        store::BuildRow& row)
      : laboratory_(laboratory), place_(place), build_(build), directory_(directory), row_(row) {}

  Result<bool> git(std::vector<std::string> words) { return run(std::move(words), row_); }

  // The submodules of the repository that is cloned in `at`, and theirs. `from` is the same repository elsewhere on this
  // machine, or empty.
  Result<bool> add_submodules(const std::string& at, const std::string& from, int depth) {
    STAB_TRY(const bool any, is_there(at + "/.gitmodules"));
    if (!any) return true;
    if (depth == kDeepestSubmodule) {
      row_.log += "'" + at + "' is a submodule " + std::to_string(depth) + " levels deep, and has submodules\n";
      return false;
    }
    if (!from.empty()) STAB_CHECK_OK(take_origin(at, from));
    STAB_TRY(const bool known, git({"-C", at, "submodule", "--quiet", "init"}));
    if (!known) return false;
    STAB_TRY(const std::string keys, said({"-C", at, "config", "--file", ".gitmodules", "--name-only", "--get-regexp",
                                           "^submodule\\..*\\.path$"}));
    std::istringstream lines(keys);
    for (std::string key; std::getline(lines, key);) {
      STAB_TRY(const bool added, add_submodule(at, from, key, depth));
      if (!added) return false;
    }
    return true;
  }

 private:
  Result<bool> run(std::vector<std::string> words, store::BuildRow& row) {
    words.insert(words.begin(), "git");
    return run_step(laboratory_, place_, build_, directory_, words, kFetchTimeout, row);
  }

  // What a question to git is answered with; nothing where it fails.
  Result<std::string> said(std::vector<std::string> words) {
    store::BuildRow asked;
    STAB_TRY(const bool ok, run(std::move(words), asked));
    return ok ? without_newlines(asked.log) : std::string();
  }

  Result<bool> is_there(const std::string& path) {
    STAB_TRY(const worker::Look::Answer seen, place_.worker->ask(worker::Look{path}));
    return seen.type != static_cast<uint32_t>(worker::FileType::kAbsent);
  }

  // Relative addresses of submodules mean the same as in the user's own repository, which may be a clone itself.
  Status take_origin(const std::string& at, const std::string& from) {
    STAB_TRY(const std::string origin, said({"-C", from, "config", "--get", "remote.origin.url"}));
    if (origin.empty()) return {};
    STAB_TRY(const bool taken, git({"-C", at, "remote", "set-url", "origin", origin}));
    return taken ? Status() : Status(Error{ErrorCode::kSystem, "git remote set-url: " + row_.log, {}});
  }

  // `key` is "submodule.NAME.path".
  Result<bool> add_submodule(const std::string& at, const std::string& from, const std::string& key, int depth) {
    STAB_TRY(const std::string path, said({"-C", at, "config", "--file", ".gitmodules", "--get", key}));
    STAB_TRY(const std::string entry, said({"-C", at, "ls-files", "--stage", "--", path}));
    if (!entry.starts_with("160000 ")) return true;  // named in .gitmodules alone
    const std::string commit = entry.substr(7, entry.find(' ', 7) - 7);
    std::string here = from.empty() ? "" : from + "/" + path;
    if (!here.empty()) {
      STAB_TRY(const bool checked_out, is_there(here + "/.git"));
      if (!checked_out) here.clear();
    }
    std::string words;
    std::optional<std::string> has_it;
    if (!here.empty()) {
      STAB_TRY(has_it, commit_named(laboratory_, place_, build_, here, commit, words));
    }
    std::vector<std::string> update = {"-C", at, "submodule", "--quiet", "update", "--", path};
    if (has_it) {
      // git takes no submodule from a path (CVE-2022-39253) unless told to; this one is the user's own, as its parent is.
      update.insert(update.begin() + 2, {"-c", "protocol.file.allow=always"});
      const std::string url = key.substr(0, key.rfind('.')) + ".url";
      STAB_TRY(const bool set, git({"-C", at, "config", url, here}));
      if (!set) return false;
    }
    STAB_TRY(const bool updated, git(update));
    if (!updated) {
      row_.log += "submodule '" + path + "' is not to be had at " + commit +
                  ": check it out in the repository (git submodule update --init --recursive), or leave submodules out: "
                  "source = { git = \"...\", revision = \"...\", submodules = false }\n";
      return false;
    }
    return add_submodules(at + "/" + path, here, depth + 1);
  }

  const Laboratory& laboratory_;
  const BuildPlace& place_;
  const plan::Build& build_;
  const std::string& directory_;
  store::BuildRow& row_;
};

}  // namespace

bool is_git_address(const std::string& git) { return git.find("://") != std::string::npos; }

Result<std::optional<std::string>> commit_named(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                                const std::string& repository, const std::string& revision, std::string& words) {
  store::BuildRow asked;  // its log is stdout and stderr together: warnings may come first
  STAB_TRY(const bool ok, run_step(laboratory, place, build, "/",
                                   {"git", "-C", repository, "rev-parse", "--verify", "--end-of-options", revision + "^{commit}"},
                                   kFetchTimeout, asked));
  words = asked.log;
  std::string said = without_newlines(asked.log);
  said.erase(0, said.rfind('\n') + 1);
  const bool is_commit =
      (said.size() == 40 || said.size() == 64) && said.find_first_not_of("0123456789abcdef") == std::string::npos;
  return ok && is_commit ? std::optional(said) : std::nullopt;
}

void say_no_commit(const plan::Source& source, const std::string& words, store::BuildRow& row) {
  row.log += words + "no commit '" + source.revision + "' is to be had from '" + source.git + "'\n";
}

Result<bool> fetch_git(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, std::string commit,
                       const std::string& directory, store::BuildRow& row) {
  const plan::Source& source = build.source;
  const std::string from = is_git_address(source.git) ? source.git : absolute(place, source.git);
  Clone clone(laboratory, place, build, directory, row);
  STAB_TRY(const bool cloned, clone.git({"clone", "--quiet", "--no-checkout", from, "."}));
  if (!cloned) return false;
  // Branches of a clone are origin's, all but one.
  std::string words;
  for (const char* where : {"origin/", ""}) {
    if (!commit.empty()) break;
    STAB_TRY(const std::optional<std::string> found,
             commit_named(laboratory, place, build, directory, where + source.revision, words));
    commit = found.value_or("");
  }
  if (commit.empty()) {
    say_no_commit(source, words, row);
    return false;
  }
  STAB_TRY(const bool checked_out, clone.git({"checkout", "--quiet", "--detach", commit}));
  if (!checked_out || !source.submodules) return checked_out;
  return clone.add_submodules(directory, is_git_address(source.git) ? "" : from, 0);
}

}  // namespace stab::engine
