// A build's directory is named by the hash of everything that goes into it, so that the same inputs are built
// once, whatever experiment asks, and a path has one length in all cells. Next to the directory a file
// "<hash>.done" says that the build finished; without it the directory is a torso and is made anew.
#include "stabd/engine/build/builds.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "stabd/engine/build/build_step.h"
#include "stabd/engine/build/git_source.h"
#include "stabd/engine/build/command.h"
#include "stabd/engine/separation/places.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

// Part of every input hash: a change of how builds are made must not find old ones.
constexpr char kCacheVersion[] = "5";

void add_part(std::string& all, const std::string& name, const std::string& value) {
  all += name + "=" + std::to_string(value.size()) + ":" + value + "\n";
}

// The hash that a worker answered with; it decides nothing but this user's own names.
Result<std::string> checked(Result<worker::Hash::Answer> answer) {
  if (!answer) return answer.error();
  if (worker::is_sha256(answer->sha256)) return answer->sha256;
  return Error{ErrorCode::kSystem,
               "stab-worker returned '" + one_line(answer->sha256.substr(0, 64)) + "', which is not a SHA-256 hash",
               {}};
}

// As the submitter where the directory is one of the submitter's builds; what is another's in it is left to us.
Status remove_build(const BuildPlace& place, const std::string& directory) {
  struct stat info;
  if (::lstat(directory.c_str(), &info) != 0) return {};
  const auto emptied = place.worker->ask(worker::Empty{directory});
  if (!emptied && emptied.error().code != ErrorCode::kDenied) return emptied.error();
  return remove_tree(directory);
}

// Readable by the submitter, whose compiler obeys it; it holds nothing but what the plan has.
Status write_layout_file(const std::string& directory, const std::string& text) {
  const std::string path = layout_file_path(directory);
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("write '" + path + "'", errno);
  return {};
}

// What compiles and links, as the driver itself lists it with the PATH that the build has. Our own parts go in by their
// bytes, the system's by size and time of their last change: LLVM's libraries take half a second to read. The list comes
// from a process of the submitter's, so it is the submitter's worker that looks at what it names.
Status add_toolchain(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build, std::string& all) {
  const std::string driver = place.installation.bin + "/szc";
  if (::access(driver.c_str(), X_OK) != 0) return {};  // a laboratory of programs that it doesn't compile
  host::LaunchRequest request = command_request(place, build, "/", {driver, "--stab-parts"});
  request.exec_path = driver;
  STAB_TRY(const CommandOutput listed, run_command(laboratory, request, kFetchTimeout));
  if (listed.cancelled) return Error{ErrorCode::kBusy, "'" + driver + " --stab-parts' was cancelled", {}};
  if (!listed.ok) return Error{ErrorCode::kCorrupt, "'" + driver + " --stab-parts': " + listed.failure + "; " + listed.log, {}};
  std::error_code error;
  const std::string root = fs::canonical(fs::path(place.installation.bin).parent_path(), error).string() + "/";
  std::istringstream lines(listed.log);
  for (std::string part; std::getline(lines, part);) {
    if (part.starts_with(root)) {
      STAB_TRY(const std::string content, checked(place.worker->ask(worker::Hash{part, kMostSource.bytes})));
      add_part(all, part.substr(root.size()), content);
      continue;
    }
    STAB_TRY(const worker::Look::Answer seen, place.worker->ask(worker::Look{part}));
    if (seen.type == static_cast<uint32_t>(worker::FileType::kAbsent))
      return Error{ErrorCode::kNotFound, "'" + part + "', which '" + driver + " --stab-parts' lists, is not there", {}};
    add_part(all, part, std::to_string(seen.bytes) + " " + std::to_string(seen.modified_ns));
  }
  return {};
}

Result<bool> fetch_source(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                          const std::string& commit, const std::string& directory, store::BuildRow& row) {
  const plan::Source& source = build.source;
  if (!source.dir.empty()) {
    const auto copied = place.worker->ask(worker::CopyTree{absolute(place, source.dir), directory, kMostSource});
    if (!copied) return Error{copied.error().code, "copy source '" + source.dir + "': " + copied.error().message, {}};
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

Result<std::string> first_of(Worker& worker, const worker::Find& find, const std::string& if_none) {
  const auto found = worker.ask(find);
  if (!found && found.error().code == ErrorCode::kNotFound) return Error{ErrorCode::kNotFound, if_none, {}};
  if (!found) return found.error();
  if (found->index < find.paths.size()) return find.paths[found->index];
  return Error{ErrorCode::kSystem, "the worker has found a file that it was not asked for", {}};
}

// By its name alone where we may not look: a home directory is its user's, and a daemon's unit may show it none.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  const fs::path named = error ? path.lexically_normal() : found;
  return named.has_filename() ? named : named.parent_path();
}

// A copy of a directory into itself would have no end, and its hash would be another one each time.
Status check_apart(const BuildPlace& place, const plan::Source& source) {
  if (source.dir.empty()) return {};
  const fs::path from = resolved(absolute(place, source.dir)), own = resolved(place.root);
  if (std::mismatch(from.begin(), from.end(), own.begin(), own.end()).first != from.end()) return {};
  return bad_input("source '" + source.dir + "' holds the lab's own files, '" + own.string() +
                   "', which change while it is copied; give the database a place outside of it, with --db");
}

}  // namespace

Result<std::string> find_in_path(Worker& worker, const std::string& path, const std::string& name) {
  worker::Find find;
  find.runs = true;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    find.paths.push_back(path.substr(at, end - at) + "/" + name);
    at = end + 1;
  }
  return first_of(worker, find, "'" + name + "' is not in " + path);
}

std::string build_directory_name(const std::string& input_hash) { return input_hash.substr(0, 16); }

std::string build_directory(const BuildPlace& place, const std::string& input_hash) {
  return place.root + "/" + build_directory_name(input_hash);
}

bool needs_directory(const plan::Build& build) {
  return !build.command.empty() || !build.source.dir.empty() || !build.source.git.empty();
}

Result<std::string> input_hash_of(const Laboratory& laboratory, const BuildPlace& place, const plan::Build& build,
                                  const std::string& commit) {
  std::string all;
  add_part(all, "cache", kCacheVersion);
  STAB_CHECK_OK(add_toolchain(laboratory, place, build, all));
  // One user's binaries are never run by another.
  add_part(all, "user", place.submitter ? std::to_string(place.submitter->uid) : "");
  add_part(all, "plan", place.plan_directory);
  for (const std::string& word : build.command.argv) add_part(all, "word", word);
  if (!build.layout_file.empty()) add_part(all, "layout file", build.layout_file);
  add_part(all, "link", std::to_string(build.link) + " " + std::to_string(build.link_seed));
  if (!build.source.dir.empty()) {
    STAB_TRY(const std::string tree,
             checked(place.worker->ask(worker::HashTree{absolute(place, build.source.dir), kMostSource})));
    add_part(all, "source", tree);
  }
  if (!build.source.git.empty()) {
    add_part(all, "git", build.source.git);
    add_part(all, "commit", commit.empty() ? build.source.revision : commit);
    if (!build.source.submodules) add_part(all, "submodules", "none");
  }
  for (const std::string& patch : build.source.patches) {
    if (patch.empty()) continue;
    STAB_TRY(const std::string content, checked(place.worker->ask(worker::Hash{absolute(place, patch), kMostSource.bytes})));
    add_part(all, "patch", content);
  }
  return worker::sha256(all);
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
  STAB_CHECK_OK(check_apart(place, source));
  STAB_TRY(row.input_hash, input_hash_of(laboratory, place, build, *commit));
  const std::string directory = build_directory(place, row.input_hash);
  const std::string done = directory + ".done";
  if (::access(done.c_str(), F_OK) == 0 && ::access(directory.c_str(), X_OK) == 0) {
    ::utimensat(AT_FDCWD, done.c_str(), nullptr, 0);  // used today: retention begins with the oldest
    row.state = store::BuildState::kDone;
    row.log = "the same inputs were built before, in " + directory + "\n";
    return {};
  }
  STAB_CHECK_OK(remove_tree(done));
  STAB_CHECK_OK(remove_build(place, directory));
  STAB_CHECK_OK(make_directories(directory));
  // Other users' sources and binaries are none of a user's business.
  if (place.submitter && ::chmod(directory.c_str(), 0700) != 0) return system_error("chmod '" + directory + "'", errno);
  if (place.submitter) STAB_CHECK_OK(place.give(directory, place.submitter->uid, place.submitter->gid));
  STAB_TRY(const bool fetched, fetch_source(laboratory, place, build, *commit, directory, row));
  if (!fetched) return {};
  if (!build.layout_file.empty()) STAB_CHECK_OK(write_layout_file(directory, build.layout_file));
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
  if (name.find('/') == std::string::npos) {
    Result<std::string> found = find_in_path(*place.worker, kSearchPath, name);
    if (found || directory.empty() || found.error().code != ErrorCode::kNotFound) return found;
    const auto made = place.worker->ask(worker::Look{directory + "/" + name});
    if (!made || !made->executable || made->type != static_cast<uint32_t>(worker::FileType::kRegular)) return found;
    return Error{ErrorCode::kNotFound, found.error().message + "; for what the build made write './" + name + "'", {}};
  }
  if (name[0] == '/') return name;
  // Another file of that name, such as one that the plan's directory has, would be measured in the place of what was built.
  if (!directory.empty()) {
    const std::string made = fs::path(directory + "/" + name).lexically_normal().string();
    STAB_TRY(const worker::Look::Answer seen, place.worker->ask(worker::Look{made}));
    if (seen.type == static_cast<uint32_t>(worker::FileType::kRegular) && !seen.executable)
      return bad_input("'" + made + "' is what the build made, and may not be executed: let the build make it executable, or, if "
                       "its file system is mounted noexec, keep the database, which builds lie next to, on another one (--db "
                       "FILE; without it a gate's is in TMPDIR)");
  }
  worker::Find find;
  find.runs = true;
  for (const std::string& parent : {directory, place.plan_directory})
    find.paths.push_back(fs::path(parent + "/" + name).lexically_normal().string());
  return first_of(*place.worker, find,
                  "'" + name + "' is not what the build made, nor in " + place.plan_directory + "; the build is in " + directory);
}

Result<std::string> hash_of(Worker& worker, const std::string& path) {
  return checked(worker.ask(worker::Hash{path, kMostHashedBytes}));
}

std::vector<std::string> input_paths(const BuildPlace& place, const std::string& directory, const std::string& name) {
  if (!name.empty() && name[0] == '/') return {name};
  return {place.plan_directory + "/" + name, directory + "/" + name};
}

}  // namespace stab::engine
