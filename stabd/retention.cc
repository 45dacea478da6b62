// Results are deleted only where the administrator has said after how long. Builds and archived binaries are a cache
// and an aid: the limits on age and disk apply to them, oldest use first, and nothing goes that a waiting, running
// or paused experiment has built.
#include "stabd/retention.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "stabd/archive.h"
#include "stabd/places.h"

namespace stab::engine {
namespace {

namespace fs = std::filesystem;

uint64_t bytes_of(const struct stat& info) { return static_cast<uint64_t>(info.st_blocks) * 512; }

// Links are counted, not followed: a build may hold any.
uint64_t bytes_below(const fs::path& root) {
  uint64_t bytes = 0;
  std::error_code error;
  struct stat info;
  for (fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error), end; !error && at != end;
       at.increment(error))
    if (::lstat(at->path().c_str(), &info) == 0) bytes += bytes_of(info);
  return bytes;
}

int64_t modified_ns(const struct stat& info) { return info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec; }

std::vector<StoredThing> things_below(const std::string& files, const KeptExperiments& uses) {
  std::vector<StoredThing> things;
  std::error_code error;
  struct stat info;
  for (fs::directory_iterator at(files + "/builds", error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    StoredThing thing{path, info.st_uid, bytes_below(path), 0, uses.directories_needed.count(at->path().filename().string()) > 0};
    if (::lstat((path + ".done").c_str(), &info) == 0) thing.used_at_ns = modified_ns(info);
    things.push_back(std::move(thing));
  }
  error.clear();
  for (fs::directory_iterator at(files + "/archive", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (::lstat(at->path().c_str(), &info) != 0) continue;
    things.push_back({at->path().string(), {}, bytes_of(info), uses.binaries.count(name) > 0 ? modified_ns(info) : 0,
                      uses.binaries_needed.count(name) > 0});
  }
  return things;
}

Status remove_thing(const std::string& path) {
  // First the mark that it is whole: a crash in between must not leave half a build that counts as one.
  STAB_CHECK_OK(remove_tree(path + ".done"));
  return remove_tree(path);
}

}  // namespace

std::vector<StoredThing> what_goes(std::vector<StoredThing> things, const Config& config, int64_t now_ns) {
  std::stable_sort(things.begin(), things.end(),
                   [](const StoredThing& a, const StoredThing& b) { return a.used_at_ns < b.used_at_ns; });
  uint64_t total = 0;
  std::map<uint32_t, uint64_t> of_user;
  for (const StoredThing& thing : things) {
    total += thing.bytes;
    if (thing.uid) of_user[*thing.uid] += thing.bytes;
  }
  std::vector<StoredThing> gone, left;
  const auto take_out = [&](const auto& must_go) {
    left.clear();
    for (StoredThing& thing : things) {
      if (thing.needed || !must_go(thing)) {
        left.push_back(std::move(thing));
        continue;
      }
      total -= thing.bytes;
      if (thing.uid) of_user[*thing.uid] -= thing.bytes;
      gone.push_back(std::move(thing));
    }
    things.swap(left);
  };
  const int64_t oldest = config.retention.builds.count() == 0 ? 0 : now_ns - config.retention.builds.count();
  take_out([&](const StoredThing& thing) { return thing.used_at_ns == 0 || thing.used_at_ns < oldest; });
  take_out([&](const StoredThing& thing) {
    const uint64_t limit = thing.uid ? config.quota_of(*thing.uid).disk_bytes : 0;
    return limit > 0 && of_user[*thing.uid] > limit;
  });
  take_out([&](const StoredThing&) { return config.retention.disk_bytes > 0 && total > config.retention.disk_bytes; });
  return gone;
}

Result<KeptExperiments> retain_experiments(const Config& config, store::Store& store, int64_t now_ns) {
  KeptExperiments kept;
  STAB_TRY(const std::vector<store::ExperimentRow> all, store.experiments());
  for (const store::ExperimentRow& row : all) {
    const bool old = config.retention.experiments.count() > 0 && row.finished_at_ns != 0 &&
                     now_ns - row.finished_at_ns >= config.retention.experiments.count();
    if (is_over(row.state) && old) {
      STAB_CHECK_OK(store.delete_experiment(row.id));
      kept.said.push_back("experiment " + std::to_string(row.id) + " '" + row.name + "' is over for long enough: deleted");
      continue;
    }
    STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(row.id));
    for (const store::BuildRow& build : builds) {
      kept.binaries.insert(build.binary_sha256);
      if (is_over(row.state)) continue;
      kept.binaries_needed.insert(build.binary_sha256);
      kept.directories_needed.insert(build.input_hash.substr(0, 16));
    }
  }
  return kept;
}

Result<RetentionResult> retain_files(const Config& config, const KeptExperiments& kept, const std::string& database,
                                     int64_t now_ns) {
  RetentionResult result;
  std::vector<StoredThing> things = things_below(files_beside(database), kept);
  for (const StoredThing& thing : things)
    if (thing.uid) result.bytes_by_user[*thing.uid] += thing.bytes;
  for (const StoredThing& thing : what_goes(std::move(things), config, now_ns)) {
    STAB_CHECK_OK(remove_thing(thing.path));
    if (thing.uid) result.bytes_by_user[*thing.uid] -= thing.bytes;
    result.said.push_back("'" + thing.path + "', " + std::to_string(thing.bytes) + " bytes: removed");
  }
  return result;
}

}  // namespace stab::engine
