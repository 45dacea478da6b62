// Results are deleted only where the administrator has said after how long. Builds and archived binaries are a cache
// and an aid: the limits on age and disk apply to them, oldest use first, and nothing goes that a waiting, running
// or paused experiment has built.
//
// Results can't be made again, and a machine's clock may be wrong: in 1970 until the network sets it, or far ahead for an hour.
// So an experiment ended no earlier than others had been submitted before it. It goes only where two looks that lie a day apart,
// with none between them that says otherwise, find it old enough. The first leaves a line in the experiment's log.
//
// Builds are users' own files: their users' workers look into them and empty them. An archived binary is ours.
#include "stabd/daemon/upkeep/retention.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/clock.h"
#include "stabd/daemon/upkeep/user_workers.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/results/local_time.h"
#include "stabd/engine/separation/places.h"

namespace stab::daemon {
namespace {

namespace fs = std::filesystem;

uint64_t bytes_of(const struct stat& info) { return static_cast<uint64_t>(info.st_blocks) * 512; }

int64_t modified_ns(const struct stat& info) { return nanoseconds_of(info.st_mtim).count(); }

// 0 where the system does not say.
uint64_t bytes_of_disk(const std::string& directory) {
  struct statvfs disk;
  return ::statvfs(directory.c_str(), &disk) == 0 ? static_cast<uint64_t>(disk.f_blocks) * disk.f_frsize : 0;
}

// Looks at what lies below <database>.files.
class Looking {
 public:
  Looking(const KeptExperiments& kept, UserWorkers& workers, std::map<std::string, uint64_t>& counted,
          std::vector<std::string>& wrong)
      : kept_(kept), workers_(workers), counted_(counted), wrong_(wrong) {}

  std::vector<StoredThing> things_below(const std::string& files) {
    std::error_code error;
    disk_bytes_ = bytes_of_disk(files + "/builds");
    for (fs::directory_iterator at(files + "/builds", error), end; !error && at != end && !workers_.cancelled();
         at.increment(error))
      add_build(at->path());
    // What is gone is not to be remembered.
    counted_.swap(counted_now_);
    error.clear();
    for (fs::directory_iterator at(files + "/archive", error), end; !error && at != end; at.increment(error))
      add_binary(at->path());
    return std::move(things_);
  }

 private:
  void add_build(const fs::path& at) {
    const std::string path = at.string(), name = at.filename().string();
    struct stat info;
    if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return;
    StoredThing thing{
        path, {info.st_uid}, bytes_of(info), 0, kept_.directories_needed.count(name) > 0, std::pair(info.st_uid, info.st_gid)};
    struct stat done;
    if (::lstat((path + ".done").c_str(), &done) == 0) thing.used_at_ns = modified_ns(done);
    if (is_wrong_owner(name, info.st_uid)) {
      wrong_.push_back("'" + path + "' belongs to user " + std::to_string(info.st_uid) +
                       ", whose build it isn't: it stays, and " + "is not looked into; remove it by hand");
      thing.needed = true;
    } else {
      measure(thing);
    }
    things_.push_back(std::move(thing));
  }

  // Of a build that no experiment has any more only its directory says whose it is.
  bool is_wrong_owner(const std::string& name, uid_t owner) const {
    const auto found = kept_.directories.find(name);
    return owner != ::geteuid() && found != kept_.directories.end() && found->second.count(owner) == 0;
  }

  void measure(StoredThing& thing) {
    const auto answer = workers_.ask(thing.owner->first, thing.owner->second, worker::Measure{thing.path, kMostBuildFiles});
    if (answer) {
      // A user says it of the own files. More than there is place for would push out what is others'.
      uint64_t& of_user = said_[thing.owner->first];
      const uint64_t left = disk_bytes_ > of_user ? disk_bytes_ - of_user : 0;
      thing.bytes = std::min(answer->bytes, left);
      of_user += thing.bytes;
      if (!answer->whole) {
        // Nobody knows what it takes, so it is no cache that is worth its room.
        thing.used_at_ns = 0;
        wrong_.push_back("'" + thing.path + "' has more than " + std::to_string(kMostBuildFiles) +
                         " files, or directories that their " + "owner may not look into: it takes " +
                         std::to_string(thing.bytes) + " bytes or more, and is kept only while it is needed");
      }
    } else {
      const auto last = counted_.find(thing.path);
      if (last != counted_.end()) thing.bytes = last->second;
      if (!workers_.cancelled())
        wrong_.push_back("'" + thing.path + "' of user " + std::to_string(thing.owner->first) +
                         " can't be measured, and counts as " + std::to_string(thing.bytes) + " bytes" +
                         (last != counted_.end() ? ", as it did last: " : ": ") + answer.error().message);
    }
    counted_now_[thing.path] = thing.bytes;
  }

  void add_binary(const fs::path& at) {
    const std::string name = at.filename().string();
    struct stat info;
    if (::lstat(at.c_str(), &info) != 0) return;
    const auto users = kept_.binaries.find(name);
    const bool is_known = users != kept_.binaries.end();
    things_.push_back({at.string(), is_known ? users->second : std::set<uint32_t>(), bytes_of(info),
                       is_known ? modified_ns(info) : 0, kept_.binaries_needed.count(name) > 0, {}});
  }

  const KeptExperiments& kept_;
  UserWorkers& workers_;
  std::map<std::string, uint64_t>& counted_;
  std::map<std::string, uint64_t> counted_now_;
  std::map<uint32_t, uint64_t> said_;
  std::vector<std::string>& wrong_;
  std::vector<StoredThing> things_;
  uint64_t disk_bytes_ = 0;
};

constexpr std::string_view kDue = "to-be-deleted", kNotDue = "not-to-be-deleted";  // kinds of events: on disk
constexpr std::chrono::nanoseconds kBetweenLooks = std::chrono::hours(24);

// When an experiment was first found old enough, of the looks that have found it so until now.
Result<std::optional<int64_t>> found_due_at(store::Store& store, store::Id experiment) {
  STAB_TRY(const bool any, store.has_event(experiment, kDue));
  if (!any) return std::optional<int64_t>();
  STAB_TRY(const std::vector<store::EventRow> events, store.events(experiment));
  std::optional<int64_t> at;
  for (const store::EventRow& event : events) {
    if (event.kind == kDue) at = event.at_ns;
    if (event.kind == kNotDue) at.reset();
  }
  return at;
}

// Whether an experiment that is over has been so for long enough, as this look and an earlier one find.
Result<bool> goes(const Config& config, store::Store& store, const store::ExperimentSummary& row, int64_t ended_ns,
                  int64_t now_ns, KeptExperiments& kept) {
  const std::chrono::nanoseconds age = config.retention.experiments, wait = std::min(age, kBetweenLooks);
  STAB_TRY(const std::optional<int64_t> found, found_due_at(store, row.id));
  if (now_ns - ended_ns < age.count()) {
    if (found) STAB_CHECK_OK(store.log({now_ns, row.id, std::string(kNotDue), "by this clock it is not over for long enough"}));
    return false;
  }
  if (found && *found <= now_ns) return now_ns - *found >= wait.count();
  const std::string text =
      "it is over for long enough: deleted by the first look after " + engine::local_time(now_ns + wait.count());
  kept.said.push_back("experiment " + std::to_string(row.id) + " '" + row.name + "': " + text);
  STAB_CHECK_OK(store.log({now_ns, row.id, std::string(kDue), text}));
  return false;
}

// A build's directory is empty once its user's worker is done, and then goes as any entry of a directory of ours.
Status remove_thing(const StoredThing& thing, UserWorkers& workers) {
  if (!thing.owner) return engine::remove_tree(thing.path);
  // One that was made and never given to its user; who has its parent can remove it.
  if (thing.used_at_ns == 0 && ::rmdir(thing.path.c_str()) == 0) return {};
  STAB_CHECK_OK(workers.usable(thing.owner->first, thing.owner->second));
  // First the mark that it is whole: a crash in between must not leave half a build that counts as one.
  STAB_CHECK_OK(engine::remove_tree(thing.path + ".done"));
  STAB_CHECK_OK(engine::remove_tree(thing.path + ".layout"));  // what it was built by, where it was
  const auto emptied = workers.ask(thing.owner->first, thing.owner->second, worker::Empty{thing.path});
  if (!emptied) return emptied.error();
  if (::rmdir(thing.path.c_str()) != 0 && errno != ENOENT) return system_error("remove '" + thing.path + "'", errno);
  return {};
}

}  // namespace

std::vector<StoredThing> what_goes(std::vector<StoredThing> things, const Config& config, int64_t now_ns) {
  std::stable_sort(things.begin(), things.end(),
                   [](const StoredThing& a, const StoredThing& b) { return a.used_at_ns < b.used_at_ns; });
  uint64_t total = 0;
  std::map<uint32_t, uint64_t> of_user;
  for (const StoredThing& thing : things) {
    total += thing.bytes;
    for (const uint32_t uid : thing.uids) of_user[uid] += thing.bytes;
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
      for (const uint32_t uid : thing.uids) of_user[uid] -= thing.bytes;
      gone.push_back(std::move(thing));
    }
    things.swap(left);
  };
  const int64_t oldest = config.retention.builds.count() == 0 ? 0 : now_ns - config.retention.builds.count();
  take_out([&](const StoredThing& thing) { return thing.used_at_ns == 0 || thing.used_at_ns < oldest; });
  take_out([&](const StoredThing& thing) {
    // What somebody measured who is within the quota stays for that one.
    return !thing.uids.empty() && std::all_of(thing.uids.begin(), thing.uids.end(), [&](uint32_t uid) {
      const uint64_t limit = config.quota_of(uid).disk_bytes;
      return limit > 0 && of_user[uid] > limit;
    });
  });
  take_out([&](const StoredThing&) { return config.retention.disk_bytes > 0 && total > config.retention.disk_bytes; });
  return gone;
}

Result<KeptExperiments> retain_experiments(const Config& config, store::Store& store, int64_t now_ns) {
  KeptExperiments kept;
  STAB_TRY(std::vector<store::ExperimentSummary> all, store.summaries());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  int64_t latest_ns = 0;  // of the times at which experiments were submitted until then, by clocks that weren't ahead of this one
  for (const store::ExperimentSummary& row : all) {
    if (row.submitted_at_ns <= now_ns) latest_ns = std::max(latest_ns, row.submitted_at_ns);
    bool old = false;
    if (is_over(row.state) && row.finished_at_ns != 0 && config.retention.experiments.count() > 0) {
      STAB_TRY(old, goes(config, store, row, std::max(row.finished_at_ns, latest_ns), now_ns, kept));
    }
    if (old) {
      STAB_CHECK_OK(store.delete_experiment(row.id));
      kept.said.push_back("experiment " + std::to_string(row.id) + " '" + row.name + "' is over for long enough: deleted");
      continue;
    }
    STAB_TRY(const std::vector<store::BuildRow> builds, store.builds(row.id));
    for (const store::BuildRow& build : builds) {
      kept.binaries[build.binary_sha256].insert(static_cast<uint32_t>(row.submitter_uid));
      kept.directories[build.input_hash.substr(0, 16)].insert(static_cast<uint32_t>(row.submitter_uid));
      if (is_over(row.state)) continue;
      kept.binaries_needed.insert(build.binary_sha256);
      kept.directories_needed.insert(build.input_hash.substr(0, 16));
    }
  }
  return kept;
}

RetentionResult retain_files(const Config& config, const KeptExperiments& kept, const std::string& database, int64_t now_ns,
                             UserWorkers& workers, std::map<std::string, uint64_t>& counted) {
  RetentionResult result;
  std::vector<StoredThing> things = Looking(kept, workers, counted, result.wrong).things_below(engine::files_beside(database));
  for (const StoredThing& thing : things)
    for (const uint32_t uid : thing.uids) result.bytes_by_user[uid] += thing.bytes;
  for (const StoredThing& thing : what_goes(std::move(things), config, now_ns)) {
    if (workers.cancelled()) break;
    if (const Status removed = remove_thing(thing, workers); !removed) {
      if (!workers.cancelled()) result.wrong.push_back("'" + thing.path + "' stays: " + removed.error().message);
      continue;
    }
    for (const uint32_t uid : thing.uids) result.bytes_by_user[uid] -= thing.bytes;
    result.said.push_back("'" + thing.path + "', " + std::to_string(thing.bytes) + " bytes: removed");
  }
  return result;
}

}  // namespace stab::daemon
