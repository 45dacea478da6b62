// A build's directory is named by the hash of everything that goes into it, so that the same inputs are built
// once, whatever experiment asks, and a path has one length in all cells. Next to the directory a file
// "<hash>.done" says that the build finished; without it the directory is a torso and is made anew.
#include "stabd/builds.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "stabd/acting_as.h"
#include "stabd/command.h"
#include "stabd/host/roots.h"
#include "stabd/places.h"
#include "stabd/sha256.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

// Part of every input hash: a change of how builds are made must not find old ones.
constexpr char kCacheVersion[] = "1";
constexpr std::chrono::minutes kFetchTimeout{10};

std::string absolute(const BuildPlace& place, const std::string& path) {
  return path.empty() || path[0] == '/' ? path : place.plan_directory + "/" + path;
}

bool is_git_address(const std::string& git) { return git.find("://") != std::string::npos; }

void add_part(std::string& all, const std::string& name, const std::string& value) {
  all += name + "=" + std::to_string(value.size()) + ":" + value + "\n";
}

Result<std::string> hash_of_tree(const std::string& root) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error))
    if (!at->is_directory(error)) files.push_back(at->path().string());
  if (error) return system_error("read source directory '" + root + "'", error.value());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::string& file : files) {
    struct stat info;
    if (::lstat(file.c_str(), &info) != 0) return system_error("stat '" + file + "'", errno);
    std::string content;
    if (S_ISLNK(info.st_mode)) {
      content = fs::read_symlink(file, error).string();
    } else if (S_ISREG(info.st_mode)) {
      STAB_TRY(content, sha256_of_file(file));
    }
    add_part(all, file.substr(root.size()), std::to_string(info.st_mode) + " " + content);
  }
  return sha256(all);
}

LaunchRequest command_request(const BuildPlace& place, const plan::Build& build, const std::string& directory,
                              std::vector<std::string> argv) {
  LaunchRequest request;
  request.directory = directory;
  request.argv = std::move(argv);
  request.submitter = place.submitter;
  const char* home = place.submitter ? nullptr : ::getenv("HOME");
  request.env = {"PATH=" + place.installation.bin + ":" + kSearchPath, "LC_ALL=C.UTF-8",
                 "HOME=" + std::string(home != nullptr ? home : "/nonexistent"), "PLAN_DIR=" + place.plan_directory,
                 "LINK=" + std::to_string(build.link)};
  // The drivers shuffle the link order by it; 0 is the order as given.
  if (build.link_seed != 0) request.env.push_back("STAB_LINK_SEED=" + std::to_string(build.link_seed));
  return request;
}

// Runs one command of the build and appends to its log. False: it failed, and the row says so.
Result<bool> run_step(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                      const std::string& directory, const std::vector<std::string>& argv,
                      std::chrono::nanoseconds timeout, store::BuildRow& row) {
  LaunchRequest request = command_request(place, build, directory, argv);
  const std::string& name = argv[0];
  if (name.find('/') != std::string::npos) {
    request.exec_path = name[0] == '/' ? name : directory + "/" + name;
  } else {
    STAB_TRY(request.exec_path, find_in_path(place.installation.bin + ":" + kSearchPath, name));
  }
  STAB_TRY(const CommandOutput output, run_command(laboratory, request, timeout));
  row.log += output.log;
  row.duration_ns += output.duration.count();
  if (!output.ok) row.log += "\n" + name + ": " + output.failure + "\n";
  return output.ok;
}

// The commit that a revision means in this repository now, asked of git itself. Nothing: git knows none, and `words`
// says why.
Result<std::optional<std::string>> commit_named(const Laboratory& laboratory, const BuildPlace& place,
                                                const plan::Build& build, const std::string& repository,
                                                const std::string& revision, std::string& words) {
  store::BuildRow asked;  // its log is stdout and stderr together: warnings may come first
  STAB_TRY(const bool ok, run_step(laboratory, place, build, "/",
                                   {"git", "-C", repository, "rev-parse", "--verify", "--end-of-options", revision + "^{commit}"},
                                   kFetchTimeout, asked));
  std::string said = words = asked.log;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  said.erase(0, said.rfind('\n') + 1);
  const bool is_commit = (said.size() == 40 || said.size() == 64) && said.find_first_not_of("0123456789abcdef") == std::string::npos;
  return ok && is_commit ? std::optional(said) : std::nullopt;
}

void say_no_commit(const plan::Source& source, const std::string& words, store::BuildRow& row) {
  row.log += words + "no commit '" + source.revision + "' is to be had from '" + source.git + "'\n";
}

// A clone of the source at the commit; without one, of a repository elsewhere, at what its revision means there.
Result<bool> fetch_git(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, std::string commit,
                       const std::string& directory, store::BuildRow& row) {
  const plan::Source& source = build.source;
  const std::string from = is_git_address(source.git) ? source.git : absolute(place, source.git);
  STAB_TRY(const bool cloned, run_step(laboratory, place, build, directory, {"git", "clone", "--quiet", "--no-checkout", from, "."},
                                       kFetchTimeout, row));
  if (!cloned) return false;
  // Branches of a clone are origin's, all but one.
  std::string words;
  for (const char* where : {"origin/", ""}) {
    if (!commit.empty()) break;
    STAB_TRY(const std::optional<std::string> found, commit_named(laboratory, place, build, directory, where + source.revision, words));
    commit = found.value_or("");
  }
  if (commit.empty()) {
    say_no_commit(source, words, row);
    return false;
  }
  return run_step(laboratory, place, build, directory, {"git", "checkout", "--quiet", "--detach", commit}, kFetchTimeout, row);
}

Result<bool> fetch_source(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                          const std::string& commit, const std::string& directory, store::BuildRow& row) {
  const plan::Source& source = build.source;
  if (!source.dir.empty()) {
    const ActingAs submitter(place.submitter);
    std::error_code error;
    fs::copy(absolute(place, source.dir), directory,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    if (error) return system_error("copy source '" + source.dir + "'", error.value());
  }
  if (!source.git.empty()) {
    STAB_TRY(const bool fetched, fetch_git(laboratory, place, build, commit, directory, row));
    if (!fetched) return false;
  }
  for (const std::string& patch : source.patches) {
    if (patch.empty()) continue;
    STAB_TRY(const bool ok, run_step(laboratory, place, build, directory,
                                     {"patch", "-p1", "--batch", "-i", absolute(place, patch)}, kFetchTimeout, row));
    if (!ok) return false;
  }
  return true;
}

// A file whose presence survives a crash only if everything before it does.
Status write_done_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) return system_error("create '" + path + "'", errno);
  ::syncfs(fd.get());
  if (::fsync(fd.get()) != 0) return system_error("fsync '" + path + "'", errno);
  return {};
}

}  // namespace

Result<std::string> find_in_path(const std::string& path, const std::string& name) {
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    const std::string candidate = path.substr(at, end - at) + "/" + name;
    if (may_access(candidate, X_OK)) return candidate;
    at = end + 1;
  }
  return Error{ErrorCode::kNotFound, "'" + name + "' is not in " + path, {}};
}

std::string build_directory(const BuildPlace& place, const std::string& input_hash) {
  return place.root + "/" + input_hash.substr(0, 16);
}

bool needs_directory(const plan::Build& build) {
  return !build.command.empty() || !build.source.dir.empty() || !build.source.git.empty();
}

Result<std::string> input_hash_of(const BuildPlace& place, const plan::Build& build, const std::string& commit) {
  const ActingAs submitter(place.submitter);
  std::string all;
  add_part(all, "cache", kCacheVersion);
  // One user's binaries are never run by another.
  add_part(all, "user", place.submitter ? std::to_string(place.submitter->uid) : "");
  add_part(all, "plan", place.plan_directory);
  for (const std::string& word : build.command.argv) add_part(all, "word", word);
  add_part(all, "link", std::to_string(build.link) + " " + std::to_string(build.link_seed));
  if (!build.source.dir.empty()) {
    STAB_TRY(const std::string tree, hash_of_tree(absolute(place, build.source.dir)));
    add_part(all, "source", tree);
  }
  if (!build.source.git.empty()) {
    add_part(all, "git", build.source.git);
    add_part(all, "commit", commit.empty() ? build.source.revision : commit);
  }
  for (const std::string& patch : build.source.patches) {
    if (patch.empty()) continue;
    STAB_TRY(const std::string content, sha256_of_file(absolute(place, patch)));
    add_part(all, "patch", content);
  }
  const std::string root = fs::path(place.installation.bin).parent_path().string();
  for (const char* tool : {"/bin/szc", "/bin/stab-postlink", "/lib/stab/libstabrt.a", "/lib/stab/libstabpass.so"}) {
    if (::access((root + tool).c_str(), R_OK) != 0) continue;
    STAB_TRY(const std::string content, sha256_of_file(root + tool));
    add_part(all, tool, content);
  }
  return sha256(all);
}

Status make_build(const Laboratory& laboratory, const BuildPlace& place, const plan::Program& program,
                  const plan::Build& build, store::BuildRow& row) {
  row.state = store::BuildState::kFailed;
  row.log.clear();
  row.duration_ns = 0;
  const plan::Source& source = build.source;
  std::optional<std::string> commit("");
  std::string words;
  if (!source.git.empty() && !is_git_address(source.git)) {
    STAB_TRY(commit, commit_named(laboratory, place, build, absolute(place, source.git), source.revision, words));
  }
  if (!commit) {
    say_no_commit(source, words, row);
    return {};
  }
  STAB_TRY(row.input_hash, input_hash_of(place, build, *commit));
  const std::string directory = build_directory(place, row.input_hash);
  const std::string done = directory + ".done";
  if (::access(done.c_str(), F_OK) == 0 && ::access(directory.c_str(), X_OK) == 0) {
    ::utimensat(AT_FDCWD, done.c_str(), nullptr, 0);  // used today: retention begins with the oldest
    row.state = store::BuildState::kDone;
    row.log = "the same inputs were built before, in " + directory + "\n";
    return {};
  }
  STAB_CHECK_OK(remove_tree(done));
  STAB_CHECK_OK(remove_tree(directory));
  STAB_CHECK_OK(make_directories(directory));
  // Other users' sources and binaries are none of a user's business.
  if (place.submitter && ::chmod(directory.c_str(), 0700) != 0) return system_error("chmod '" + directory + "'", errno);
  if (place.submitter && ::chown(directory.c_str(), place.submitter->uid, place.submitter->gid) != 0)
    return system_error("chown '" + directory + "'", errno);
  STAB_TRY(const bool fetched, fetch_source(laboratory, place, build, *commit, directory, row));
  if (!fetched) return {};
  if (!build.command.empty()) {
    STAB_TRY(const bool built,
             run_step(laboratory, place, build, directory, build.command.argv, program.build_timeout, row));
    if (!built) return {};
  }
  STAB_CHECK_OK(write_done_file(done));
  row.state = store::BuildState::kDone;
  return {};
}

Result<std::string> find_program(const BuildPlace& place, const std::string& directory, const std::string& name) {
  const ActingAs submitter(place.submitter);
  if (name.find('/') == std::string::npos) return find_in_path(kSearchPath, name);
  if (name[0] == '/') return name;
  for (const std::string& parent : {directory, place.plan_directory}) {
    const std::string candidate = fs::path(parent + "/" + name).lexically_normal().string();
    if (may_access(candidate, X_OK)) return candidate;
  }
  return Error{ErrorCode::kNotFound,
               "'" + name + "' is neither in the build's directory '" + directory + "' nor in the plan's", {}};
}

Result<std::string> find_input(const BuildPlace& place, const std::string& directory, const std::string& name) {
  if (!name.empty() && name[0] == '/') return name;
  const ActingAs submitter(place.submitter);
  for (const std::string& parent : {place.plan_directory, directory}) {
    const std::string candidate = parent + "/" + name;
    if (may_access(candidate, R_OK)) return candidate;
  }
  return Error{ErrorCode::kNotFound, "input '" + name + "' does not exist, or may not be read", {}};
}

}  // namespace stab::engine
