// git says "unable to read" of a file, leaves it out, and its checkout ends with 0: so does a submodule's. What a repository has
// beside its commits no clone has: where a partial clone's missing files are to be had, and the filters that make files out of
// what is stored. So each checkout gets both from the repository that is cloned, or fails there, and afterwards each path of the
// commit is held against the file (check_written).
#include "stabd/engine/build/git_source.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "stabd/worker/worker_wire.h"

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
// go into submodules by themselves; they may leave files out (sparse), take files for written that nobody has looked at, and
// write a link as a file. Hooks that are theirs in all repositories may change what is checked out, or say no.
std::vector<std::string> git_words(std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-c", "clone.defaultRemoteName=origin", "-c", "submodule.recurse=false", "-c",
                               "core.sparseCheckout=false", "-c", "core.ignoreStat=false", "-c", "core.checkStat=default", "-c",
                               "core.fsmonitor=false", "-c", "core.symlinks=true", "-c", "core.hooksPath=/dev/null"});
  return words;
}

// A submodule's path is no pattern, whatever characters it has.
std::vector<std::string> literal(std::vector<std::string> words) {
  words.insert(words.begin(), "--literal-pathspecs");
  return words;
}

std::vector<std::string> zero_ended(std::string_view listed) {
  std::vector<std::string> out;
  while (!listed.empty()) {
    out.emplace_back(listed.substr(0, listed.find('\0')));
    listed.remove_prefix(std::min(out.back().size() + 1, listed.size()));
  }
  return out;
}

// What 'git config -z --list' prints: "KEY\nVALUE" for each, no line's end in a key, or a key alone, which is true. Of several
// values of one key the last counts, as for git.
std::map<std::string, std::string> settings_of(std::string_view listed) {
  std::map<std::string, std::string> settings;
  for (const std::string& entry : zero_ended(listed)) {
    const size_t end = entry.find('\n');
    settings[entry.substr(0, end)] = end == std::string::npos ? "true" : entry.substr(end + 1);
  }
  return settings;
}

// NAME of "SECTION.NAME.KEY"; empty: it is another key.
std::string name_within(const std::string& key, std::string_view section, std::string_view last) {
  if (!key.starts_with(section) || !key.ends_with(last) || key.size() <= section.size() + last.size()) return "";
  return key.substr(section.size(), key.size() - section.size() - last.size());
}

// The paths of submodules by their names.
std::map<std::string, std::string> paths_by_name(std::string_view listed) {
  std::map<std::string, std::string> paths;
  for (const auto& [key, value] : settings_of(listed))
    if (const std::string name = name_within(key, "submodule.", ".path"); !name.empty()) paths[name] = value;
  return paths;
}

// Commands of one line, which have no plan, build sources, too.
constexpr char kWithoutSubmodules[] =
    "; or leave submodules out: submodules = false in the source of a plan ('stabctl compare --save FILE' writes one) or of "
    "stab-gate.toml ('stabctl init --gate')\n";
constexpr char kBuildByYourself[] =
    ", or build the revisions yourself: 'stabctl compare' and 'explain' take two programs, and a plan takes source = "
    "{ dir = \"...\" }\n";

// "'a' and 2 other files"; pre: there is one
std::string first_of(const std::vector<std::string>& files) {
  const size_t more = files.size() - 1;
  return "'" + files[0] + "'" + (more == 0 ? "" : " and " + plural(more, "other file"));
}

// A remote's address means the same elsewhere.
std::string absolute_address(const std::string& address, const std::string& repository) {
  return address.starts_with("./") || address.starts_with("../") ? repository + "/" + address : address;
}

// Where a partial clone has what it lacks.
std::vector<std::string> promisors_of(const std::map<std::string, std::string>& settings, const std::string& repository) {
  std::set<std::string> names;
  for (const auto& [key, value] : settings) {
    if (key == "extensions.partialclone") names.insert(value);
    const std::string name = name_within(key, "remote.", ".promisor");
    if (!name.empty() && value != "false" && value != "no" && value != "off" && value != "0") names.insert(name);
    names.insert(name_within(key, "remote.", ".partialclonefilter"));
  }
  std::vector<std::string> addresses;
  for (const std::string& name : names)
    if (const auto url = settings.find("remote." + name + ".url"); url != settings.end())
      addresses.push_back(absolute_address(url->second, repository));
  return addresses;
}

// The filters that make files out of what is stored.
std::set<std::string> filters_of(const std::map<std::string, std::string>& settings) {
  std::set<std::string> filters;
  for (const auto& [key, value] : settings)
    for (const char* last : {".smudge", ".process"})
      if (const std::string name = name_within(key, "filter.", last); !name.empty() && !value.empty()) filters.insert(name);
  return filters;
}

// What a checkout of a clone takes from the repository that it is a clone of.
struct Beside {
  std::vector<std::string> words;    // of a command that writes files
  bool is_partial = false;
  std::string lost_filters;          // that the repository has and no clone of it: "a, b"
};

class Clone {
 public:
  Clone(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, const std::string& directory,
        store::BuildRow& row)
      : laboratory_(laboratory), place_(place), build_(build), directory_(directory), row_(row) {}

  Result<bool> git(std::vector<std::string> words) {
    if (!has_time()) return false;
    return run_step(laboratory_, place_, build_, directory_, git_words(std::move(words)), left(), row_);
  }

  // `from`: the repository on this machine that `at` is to be a clone of, or empty. Its own settings hold for no clone.
  Result<std::optional<Beside>> beside(const std::string& at, const std::string& from) {
    Beside out;
    STAB_TRY(const auto here, ask({"-C", at, "config", "-z", "--list"}));
    if (!here) return std::optional<Beside>();
    std::set<std::string> filters = filters_of(settings_of(*here));
    if (!from.empty()) {
      STAB_TRY(const auto there, ask({"-C", from, "config", "-z", "--list"}));
      if (!there) return std::optional<Beside>();
      const std::map<std::string, std::string> settings = settings_of(*there);
      for (const std::string& address : promisors_of(settings, from)) {
        const std::string remote = "remote.stab-promisor-" + std::to_string(out.words.size());
        out.words.insert(out.words.end(), {"-c", remote + ".url=" + address, "-c", remote + ".promisor=true"});
        out.is_partial = true;
      }
      // Its command may be another's, and this build never runs it: a file that needs it ends the checkout.
      for (const std::string& filter : filters_of(settings)) {
        if (!filters.insert(filter).second) continue;
        out.words.insert(out.words.end(), {"-c", "filter." + filter + ".smudge=false", "-c", "filter." + filter + ".process="});
        out.lost_filters += (out.lost_filters.empty() ? "" : ", ") + filter;
      }
    }
    // A filter that fails is no reason for git to fail, unless it is required.
    for (const std::string& filter : filters) out.words.insert(out.words.end(), {"-c", "filter." + filter + ".required=true"});
    return std::optional(std::move(out));
  }

  Result<bool> check_out(const std::string& at, const std::string& from, const std::string& commit) {
    STAB_TRY(const auto with, beside(at, from));
    if (!with) return false;
    std::vector<std::string> words = with->words;
    words.insert(words.end(), {"-C", at, "checkout", "--quiet", "--detach", commit});
    STAB_TRY(const bool done, git(words));
    if (!done) return not_whole(from, *with);
    return check_written(at, from, *with);
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
    row_.log += why + kWithoutSubmodules;
    return false;
  }

  // Why a checkout may have failed that git doesn't know of.
  bool not_whole(const std::string& from, const Beside& with) {
    if (with.is_partial)
      row_.log += "'" + from + "' is a partial clone, which may lack files of this commit; to fetch them all: git -C '" + from +
                  "' fetch --refetch --no-filter\n";
    if (!with.lost_filters.empty())
      row_.log += "filters that are set in '" + from + "' alone, so that a clone of it has none: " + with.lost_filters +
                  "; set them for all repositories (git config --global)" + kBuildByYourself;
    return false;
  }

  // Whether each path of the commit in `at` is there as a checkout writes it.
  Result<bool> check_written(const std::string& at, const std::string& from, const Beside& with) {
    STAB_TRY(const auto listed, ask({"-C", at, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no",
                                     "--ignore-submodules=all"}));
    if (!listed) return false;
    std::vector<std::string> wrong, changed;
    for (const std::string& entry : zero_ended(*listed))
      if (entry.size() > 3) (entry.starts_with(" M ") ? changed : wrong).push_back(entry.substr(3));
    STAB_TRY(const bool compared, compare(at, with, changed, wrong));
    if (!compared) return false;
    if (!wrong.empty()) {
      row_.log += "git has not written " + first_of(wrong) + " as the commit has it, so there is nothing to build" +
                  (from.empty() || with.is_partial ? "\n" : "; to look for what is missing: git -C '" + from + "' fsck\n");
      return not_whole(from, with);
    }
    return check_no_pointers(at, from, with);
  }

  // A question that takes several commands: with git's own settings for each, in the top of what is checked out there.
  Result<std::optional<std::string>> ask_script(const std::string& at, const Beside& with, const std::string& script,
                                                const std::vector<std::string>& arguments) {
    std::vector<std::string> words = with.words;
    words.insert(words.end(), {"-C", at, "-c", "alias.stab-ask=!f() { " + script + "; }; f", "stab-ask"});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return ask(std::move(words));
  }

  // Which of these files, that git takes for changed, are: one that was committed with other line ends than its attributes want
  // is as a checkout writes it.
  Result<bool> compare(const std::string& at, const Beside& with, const std::vector<std::string>& files,
                       std::vector<std::string>& wrong) {
    constexpr ptrdiff_t kAtOnce = 200;
    for (auto next = files.begin(); next != files.end();) {
      const auto end = next + std::min(kAtOnce, files.end() - next);
      STAB_TRY(const auto differing, ask_script(at, with,
                                                "for path; do git cat-file --filters \"HEAD:$path\" | cmp -s - \"./$path\" || "
                                                "printf '%s\\0' \"$path\"; done",
                                                {next, end}));
      if (!differing) return false;
      for (std::string& path : zero_ended(*differing)) wrong.push_back(std::move(path));
      next = end;
    }
    return true;
  }

  // Without git-lfs, or told to, git writes the pointer and takes it for the file.
  Result<bool> check_no_pointers(const std::string& at, const std::string& from, const Beside& with) {
    STAB_TRY(const auto listed, ask_script(at, with,
                                           "git grep --no-color -G -z -l -I -e '^version https://git-lfs.github.com/spec/v' -- "
                                           "':(attr:filter=lfs)'; test $? -le 1",
                                           {}));
    if (!listed) return false;
    const std::vector<std::string> pointers = zero_ended(*listed);
    if (pointers.empty()) return true;
    row_.log += first_of(pointers) +
                " would be built as a pointer of Git LFS, without its content; install git-lfs and have it write files (git lfs "
                "install)" +
                (from.empty() ? "" : ", fetch them (git -C '" + from + "' lfs fetch --all)") +
                kBuildByYourself;
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
    const std::string origin = configured->substr(0, configured->find('\n'));
    if (origin.empty()) return true;
    return git({"-C", at, "config", "--", "remote.origin.url", absolute_address(origin, from)});
  }

  // The commit that `at` wants in a submodule's path. Empty: it is named in .gitmodules alone. Nothing: git fails.
  Result<std::optional<std::string>> commit_of(const std::string& at, const std::string& path) {
    constexpr std::string_view kLink = "160000 commit ";
    STAB_TRY(const auto entry, ask(literal({"-C", at, "ls-tree", "-z", "HEAD", "--", path})));
    if (!entry || !entry->starts_with(kLink)) return entry ? std::optional(std::string()) : std::nullopt;
    return std::optional(entry->substr(kLink.size(), entry->find('\t') - kLink.size()));
  }

  Result<bool> add_submodule(const std::string& at, const std::string& from, const std::string& name, const std::string& path,
                             int depth) {
    STAB_TRY(const auto commit, commit_of(at, path));
    if (!commit || commit->empty()) return commit.has_value();
    const auto not_to_be_had = [&, &wanted = *commit] {
      return refused("submodule '" + path + "' is not available at " + wanted +
                     ": check it out in the repository (git submodule update --init --recursive)");
    };
    STAB_TRY(const bool known, git(literal({"-C", at, "submodule", "--quiet", "init", "--", path})));
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
    STAB_TRY(const auto with, beside(at, here));
    if (!with) return false;
    std::vector<std::string> update = literal(with->words);
    update.insert(update.end(), {"-C", at});
    if (has_it) {
      // git takes no submodule from a path (CVE-2022-39253) unless told to; this one is the user's own, as its parent is.
      update.insert(update.end(), {"-c", "protocol.file.allow=always"});
      STAB_TRY(const bool set, git({"-C", at, "config", "--", "submodule." + name + ".url", here}));
      if (!set) return false;
    }
    update.insert(update.end(), {"submodule", "--quiet", "update"});
    // One that .gitmodules leaves out (update = none) and the user has is not left out.
    if (has_it) update.push_back("--checkout");
    update.insert(update.end(), {"--", path});
    STAB_TRY(const bool updated, git(update));
    if (!updated) {
      if (!words.empty()) row_.log += "in '" + here + "': " + words;
      not_whole(here, *with);
      return not_to_be_had();
    }
    const std::string there = at + "/" + path;
    STAB_TRY(const bool is_clone, is_there(there + "/.git"));
    if (!is_clone) {
      row_.log += "submodule '" + path + "' stays empty: its setting is update = none\n";
      return true;
    }
    STAB_TRY(const auto head, ask({"-C", there, "rev-parse", "HEAD"}));
    if (!head) return false;
    if (!head->starts_with(*commit)) return not_to_be_had();
    STAB_TRY(const bool whole, check_written(there, has_it ? here : "", *with));
    if (!whole) return false;
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
  row.log += words + "no commit '" + source.revision + "' is available from '" + source.git + "'\n";
}

Result<bool> fetch_git(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, std::string commit,
                       const std::string& directory, store::BuildRow& row) {
  const plan::Source& source = build.source;
  const std::string from = is_git_address(source.git) ? source.git : absolute(place, source.git);
  Clone clone(laboratory, place, build, directory, row);
  std::vector<std::string> clone_words{"clone", "--quiet", "--no-checkout", "--", from, "."};
  // Whom the user's settings let take nothing from a path, as CVE-2022-39253 made many do, has named this one.
  if (!is_git_address(source.git)) clone_words.insert(clone_words.begin(), {"-c", "protocol.file.allow=always"});
  STAB_TRY(const bool cloned, clone.git(std::move(clone_words)));
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
  const std::string here = is_git_address(source.git) ? "" : from;
  STAB_TRY(const bool checked_out, clone.check_out(directory, here, commit));
  if (!checked_out || !source.submodules) return checked_out;
  return clone.add_submodules(directory, here, 0);
}

}  // namespace stab::engine
