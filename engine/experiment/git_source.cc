#include "engine/experiment/git_source.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/worker_wire.h"

namespace stab::engine {
namespace {

// Deeper ones are no project's.
constexpr int kDeepestSubmodule = 16;
// Boost has 160. A repository that names its own earlier commits several times is small, and a clone of all of it has no end in
// sight.
constexpr size_t kMostSubmodules = 1000;
// A clone with all of its submodules.
constexpr std::chrono::minutes kSourceTimeout{30};

// What holds for each command: the user's own settings may call a clone's remote something else than "origin", and have commands
// go into submodules by themselves; and a submodule's path is no pattern, whatever characters it has.
std::vector<std::string> git_words(std::vector<std::string> words) {
  words.insert(words.begin(),
               {"git", "--literal-pathspecs", "-c", "clone.defaultRemoteName=origin", "-c", "submodule.recurse=false"});
  return words;
}

// The paths of submodules by their names, out of what 'git config -z --list' prints of a .gitmodules: "KEY\nVALUE\0" for each, no
// line's end in a key. Of several paths of one name the last counts, as for git.
std::map<std::string, std::string> paths_by_name(std::string_view listed) {
  constexpr std::string_view kSection = "submodule.", kKey = ".path";
  std::map<std::string, std::string> paths;
  while (!listed.empty()) {
    const std::string_view entry = listed.substr(0, listed.find('\0'));
    listed.remove_prefix(std::min(entry.size() + 1, listed.size()));
    const std::string_view key = entry.substr(0, entry.find('\n'));
    if (key.size() == entry.size() || key.size() <= kSection.size() + kKey.size()) continue;
    if (!key.starts_with(kSection) || !key.ends_with(kKey)) continue;
    const std::string_view name = key.substr(kSection.size(), key.size() - kSection.size() - kKey.size());
    paths[std::string(name)] = entry.substr(key.size() + 1);
  }
  return paths;
}

class Clone {
 public:
  Clone(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, const std::string& directory,
        store::BuildRow& row)
      : laboratory_(laboratory), place_(place), build_(build), directory_(directory), row_(row) {}

  Result<bool> git(std::vector<std::string> words) {
    if (!has_time()) return false;
    return run_step(laboratory_, place_, build_, directory_, git_words(std::move(words)), left(), row_);
  }

  // The submodules of the repository that is cloned in `at`, and theirs. `from` is the same repository elsewhere on this
  // machine, or empty.
  Result<bool> add_submodules(const std::string& at, const std::string& from, int depth) {
    STAB_TRY(const bool any, is_there(at + "/.gitmodules"));
    if (!any) return true;
    if (depth == kDeepestSubmodule)
      return refused("'" + at + "' is a submodule " + std::to_string(depth) + " levels deep, and has submodules");
    if (!from.empty()) {
      STAB_TRY(const bool taken, take_origin(at, from));
      if (!taken) return false;
    }
    STAB_TRY(const auto listed, ask({"-C", at, "config", "-z", "--file", ".gitmodules", "--list"}));
    if (!listed) return false;
    const std::map<std::string, std::string> paths = paths_by_name(*listed);
    submodules_ += paths.size();
    if (submodules_ > kMostSubmodules)
      return refused("it has more than " + std::to_string(kMostSubmodules) + " submodules, those of submodules counted");
    for (const auto& [name, path] : paths) {
      STAB_TRY(const bool added, add_submodule(at, from, name, path, depth));
      if (!added) return false;
    }
    return true;
  }

 private:
  // pre: has_time()
  std::chrono::nanoseconds left() const { return kSourceTimeout - std::chrono::nanoseconds(row_.duration_ns); }
  bool has_time() {
    if (left() > std::chrono::nanoseconds(0)) return true;
    row_.log += "the source and its submodules are not there after " + std::to_string(kSourceTimeout.count()) + " minutes\n";
    return false;
  }

  Result<std::optional<std::string>> ask(std::vector<std::string> words) {
    if (!has_time()) return std::optional<std::string>();
    return ask_step(laboratory_, place_, build_, directory_, git_words(std::move(words)), left(), row_);
  }

  bool refused(const std::string& why) {
    row_.log += why + "; to leave submodules out: source = { git = \"...\", revision = \"...\", submodules = false }\n";
    return false;
  }

  Result<bool> is_there(const std::string& path) {
    STAB_TRY(const worker::Look::Answer seen, place_.worker->ask(worker::Look{path}));
    return seen.type != static_cast<uint32_t>(worker::FileType::kAbsent);
  }

  // Relative addresses of submodules mean the same as in the user's own repository, which may be a clone itself.
  Result<bool> take_origin(const std::string& at, const std::string& from) {
    STAB_TRY(const auto configured, ask({"-C", from, "config", "--default", "", "--get", "remote.origin.url"}));
    if (!configured) return false;
    std::string origin = configured->substr(0, configured->find('\n'));
    if (origin.empty()) return true;
    if (origin.starts_with("./") || origin.starts_with("../")) origin = from + "/" + origin;
    return git({"-C", at, "config", "--", "remote.origin.url", origin});
  }

  // The commit that `at` wants in a submodule's path. Empty: it is named in .gitmodules alone. Nothing: git fails.
  Result<std::optional<std::string>> commit_of(const std::string& at, const std::string& path) {
    constexpr std::string_view kLink = "160000 commit ";
    STAB_TRY(const auto entry, ask({"-C", at, "ls-tree", "-z", "HEAD", "--", path}));
    if (!entry || !entry->starts_with(kLink)) return entry ? std::optional(std::string()) : std::nullopt;
    return std::optional(entry->substr(kLink.size(), entry->find('\t') - kLink.size()));
  }

  Result<bool> add_submodule(const std::string& at, const std::string& from, const std::string& name, const std::string& path,
                             int depth) {
    STAB_TRY(const auto commit, commit_of(at, path));
    if (!commit || commit->empty()) return commit.has_value();
    const auto not_to_be_had = [&, &wanted = *commit] {
      return refused("submodule '" + path + "' is not to be had at " + wanted +
                     ": check it out in the repository (git submodule update --init --recursive)");
    };
    STAB_TRY(const bool known, git({"-C", at, "submodule", "--quiet", "init", "--", path}));
    if (!known) return not_to_be_had();
    std::string here = from.empty() ? "" : from + "/" + path, words;
    std::optional<std::string> has_it;
    if (!here.empty()) {
      STAB_TRY(const bool checked_out, is_there(here + "/.git"));
      if (!checked_out) here.clear();
    }
    if (!here.empty()) {
      STAB_TRY(has_it, commit_named(laboratory_, place_, build_, here, *commit, words));
    }
    std::vector<std::string> update = {"-C", at, "submodule", "--quiet", "update", "--", path};
    if (has_it) {
      // git takes no submodule from a path (CVE-2022-39253) unless told to; this one is the user's own, as its parent is.
      update.insert(update.begin() + 2, {"-c", "protocol.file.allow=always"});
      STAB_TRY(const bool set, git({"-C", at, "config", "--", "submodule." + name + ".url", here}));
      if (!set) return false;
    }
    STAB_TRY(const bool updated, git(update));
    if (!updated) {
      if (!words.empty()) row_.log += "in '" + here + "': " + words;
      return not_to_be_had();
    }
    return add_submodules(at + "/" + path, here, depth + 1);
  }

  const Laboratory& laboratory_;
  const BuildPlace& place_;
  const plan::Build& build_;
  const std::string& directory_;
  store::BuildRow& row_;
  size_t submodules_ = 0;  // that were named so far
};

}  // namespace

bool is_git_address(const std::string& git) { return git.find("://") != std::string::npos; }

Result<std::optional<std::string>> commit_named(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                                const std::string& repository, const std::string& revision, std::string& words) {
  store::BuildRow asked;
  STAB_TRY(const auto answer,
           ask_step(laboratory, place, build, "/",
                    {"git", "-C", repository, "rev-parse", "--verify", "--end-of-options", revision + "^{commit}"}, kFetchTimeout,
                    asked));
  words = asked.log;
  if (!answer) return std::optional<std::string>();
  const std::string said = answer->substr(0, answer->find('\n'));
  const bool is_commit =
      (said.size() == 40 || said.size() == 64) && said.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_commit ? std::optional(said) : std::nullopt;
}

void say_no_commit(const plan::Source& source, const std::string& words, store::BuildRow& row) {
  row.log += words + "no commit '" + source.revision + "' is to be had from '" + source.git + "'\n";
}

Result<bool> fetch_git(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, std::string commit,
                       const std::string& directory, store::BuildRow& row) {
  const plan::Source& source = build.source;
  const std::string from = is_git_address(source.git) ? source.git : absolute(place, source.git);
  Clone clone(laboratory, place, build, directory, row);
  STAB_TRY(const bool cloned, clone.git({"clone", "--quiet", "--no-checkout", "--", from, "."}));
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
