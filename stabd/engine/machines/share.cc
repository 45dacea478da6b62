// The store is on a local disk, since SQLite's log wants one host and shared file systems refuse its locks. Its path is as long
// on every machine: a binary's path is in the memory of the program that runs.
#include "stabd/engine/machines/share.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <sstream>
#include <utility>
#include <vector>

#include "base/trusted_folder.h"
#include "base/unique_fd.h"
#include "plan/size.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/machine/facts.h"
#include "stabd/engine/machines/controller.h"
#include "stabd/engine/machines/held_scratch.h"
#include "stabd/engine/machines/worker_files.h"
#include "stabd/engine/machines/worker_log.h"
#include "stabd/engine/results/node_preflight.h"
#include "stabd/engine/separation/places.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

constexpr int kLookMs = 200;    // at what the controller has to say
constexpr int kRetryMs = 5000;  // at a spool that takes nothing
constexpr std::chrono::seconds kBeat{5};

void wait_ms(int ms) {
  ::poll(nullptr, 0, ms);
}

std::string machine_name(const host::Roots& roots, const std::map<std::string, std::string>& facts) {
  const auto host = facts.find("host.name");
  const std::string id = host::read_small_file("/etc/machine-id").value_or("").substr(0, 12);
  (void)roots;
  return (host == facts.end() ? std::string("unnamed") : host->second) + (id.empty() ? "" : " (" + id + ")");
}

// A note that may come at any time; none: stopped meanwhile.
Result<std::optional<std::string>> wait_for(const ShareSetting& set, const std::string& name) {
  while (!set.stop->asked()) {
    STAB_TRY(std::optional<std::string> note, set.spool->note(name));
    if (note) return note;
    wait_ms(kLookMs);
  }
  return std::optional<std::string>();
}

// Waits for a file that a file system between machines may show late: others name it before we see it, or its name alone says
// what it holds.
Result<bool> wait_for_file(const ShareSetting& set, const std::string& name) {
  while (!set.stop->asked()) {
    if (set.spool->has(name)) return true;
    wait_ms(kLookMs);
  }
  return false;
}

Status take_binary(const Spool& spool, const Archive& archive, const std::string& sha256) {
  const std::string path = spool.path_of("binary." + sha256);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return system_error("open '" + path + "'", errno);
  STAB_TRY(const UniqueFd room, room_for(static_cast<uint64_t>(info.st_size)));
  for (off_t at = 0; at < info.st_size;) {
    char buffer[1 << 16];
    const ssize_t got = ::pread(file.get(), buffer, sizeof buffer, at);
    if (got <= 0 || ::pwrite(room.get(), buffer, static_cast<size_t>(got), at) != got)
      return system_error("copy '" + path + "'", errno);
    at += got;
  }
  STAB_TRY(const uint64_t bytes, archive.put(room.get(), sha256));
  (void)bytes;
  return {};
}

// Sends each block of the share as soon as it is over, and signs of life meanwhile. It also looks whether the controller has
// ended the epoch.
class Deliverer final : public Observer {
 public:
  Deliverer(const ShareSetting& set, store::Store& store, std::string identity, std::vector<uint32_t> blocks,
            int64_t block_places, std::string path)
      : set_(&set),
        store_(&store),
        identity_(std::move(identity)),
        blocks_(std::move(blocks)),
        block_places_(block_places),
        path_(std::move(path)) {}

  void phase(std::string_view text) override { set_->observer->phase(text); }
  void note(std::string_view text) override { set_->observer->note(text); }
  void trial_done(const TrialNews& news) override {
    set_->observer->trial_done(news);
    if (news.kind == store::TrialKind::kPreflight) {
      add_preflight(preflight_, news);
      preflight_told_ = false;
    }
    if (news.kind == store::TrialKind::kMain) failure_ = deliver();
    if (!failure_.ok() && said_ != failure_.error().message) note(said_ = failure_.error().message);
    show_life();
  }
  void trial_progress(const ProgressNews& news) override { set_->observer->trial_progress(news); }
  void at_closed_gate() override {
    set_->observer->at_closed_gate();
    show_life();
  }

  // Sends what the preflight's trials gave, in one note when they are over: before any block, and before the slot's end.
  Status tell_preflight() {
    if (preflight_told_) return {};
    const std::string text = facts_text(preflight_facts(preflight_));  // a note: no more than the controller keeps
    STAB_CHECK_OK(set_->spool->put_note(slot_file(set_->slot, set_->epoch, kPreflightNote), text));
    preflight_told_ = true;
    return {};
  }

  // What the engine has noted, when that is more than before. A block's events are told before its part, with which the
  // controller may have all that it waits for.
  Status tell_log() {
    STAB_TRY(const std::vector<store::EventRow> events, store_->events(1));
    const std::string text = log_note(events);
    if (text == told_log_) return {};
    STAB_CHECK_OK(set_->spool->put_note(slot_file(set_->slot, set_->epoch, kLogNote), text));
    told_log_ = text;
    return {};
  }

  // All blocks that are over and not yet sent.
  Status deliver() {
    STAB_CHECK_OK(tell_preflight());
    while (next_ < blocks_.size()) {
      const uint32_t block = blocks_[next_];
      STAB_TRY(const int64_t open, store_->open_places(1, block_places_ * block, block_places_));
      if (open > 0) return {};
      STAB_CHECK_OK(tell_log());
      const store::PartLabel label{identity_, set_->slot, set_->epoch, static_cast<int>(next_), block};
      ::unlink(path_.c_str());  // of a try before
      STAB_CHECK_OK(store_->write_part(1, label, block_places_ * block, block_places_, path_));
      STAB_TRY(const std::string sha256, worker::sha256_of_file(path_));
      STAB_CHECK_OK(set_->spool->put_copy(slot_file(set_->slot, set_->epoch, part_file({label.number, block, sha256})), path_));
      ++next_;
    }
    return {};
  }

 private:
  void show_life() {
    const auto now = set_->clock->monotonic_raw();
    if (now - beat_ < kBeat && beats_ > 0) return;
    beat_ = now;
    (void)set_->spool->put_note(slot_file(set_->slot, set_->epoch, "heartbeat"), std::to_string(++beats_));
    if (set_->spool->has(slot_file(set_->slot, set_->epoch + 1, "grant"))) set_->stop->after_this_trial();
  }

  const ShareSetting* set_;
  store::Store* store_;
  std::string identity_;
  std::vector<uint32_t> blocks_;
  int64_t block_places_;
  std::string path_, said_;
  std::map<std::string, std::string> preflight_;
  bool preflight_told_ = true;
  std::string told_log_;
  Status failure_;
  size_t next_ = 0;
  std::chrono::nanoseconds beat_{0};
  int64_t beats_ = 0;
};

struct Share {
  std::string identity;
  std::vector<uint32_t> blocks;
  int64_t block_places = 0;
};

// The worker's own store, with the blocks that it was granted and the binaries that they run.
Result<Share> take_share(const ShareSetting& set, const std::string& grant, const std::string& database) {
  Share share;
  std::istringstream words(grant);
  words >> share.identity;
  for (uint32_t block; words >> block;) share.blocks.push_back(block);
  STAB_TRY(store::Store own, store::Store::open(database, store::Store::Access::kWrite));
  STAB_TRY(const store::Id id,
           own.import_experiment(set.spool->path_of(kSpoolBundle), 1,
                                 store::Store::Importer{static_cast<int64_t>(::geteuid()), static_cast<int64_t>(::getegid())}));
  STAB_TRY(const store::ExperimentRow row, own.experiment(id));
  STAB_TRY(const std::vector<store::BuildRow> builds, own.builds(id));
  if (identity_of(row, builds) != share.identity)
    return Error{ErrorCode::kCorrupt,
                 "the spool's bundle is of another experiment than slot " + std::to_string(set.slot) + "'s grant",
                 {}};
  STAB_TRY(const ExpandedPlan expanded, expand_stored(row));
  share.block_places = static_cast<int64_t>(plan::block_trials(expanded.plan, expanded.design));
  const Archive archive(archive_beside(database));
  for (const store::BuildRow& build : builds) {
    STAB_TRY(const bool there, wait_for_file(set, "binary." + build.binary_sha256));
    if (there) STAB_CHECK_OK(take_binary(*set.spool, archive, build.binary_sha256));
  }
  STAB_CHECK_OK(own.keep_blocks(id, share.blocks));
  return share;
}

Result<RunEnd> run_blocks(const ShareSetting& set, const std::string& grant, const std::string& scratch) {
  const std::string database = scratch + "/work.db";
  STAB_TRY(const bool bundled, wait_for_file(set, kSpoolBundle));
  if (!bundled) return RunEnd::kStopped;
  STAB_TRY(const Share share, take_share(set, grant, database));
  if (set.stop->asked()) return RunEnd::kStopped;
  STAB_TRY(const std::unique_ptr<Engine> engine, set.open_engine(database));
  Deliverer deliverer(set, engine->store(), share.identity, share.blocks, share.block_places, scratch + "/part");
  STAB_TRY(const RunEnd end, engine->run(1, deliverer, *set.stop));
  // Nothing is lost for a spool that is full or read-only for a while.
  for (bool said = false;;) {
    Status delivered = deliverer.deliver();
    if (delivered) delivered = deliverer.tell_log();
    if (delivered) break;
    if (!std::exchange(said, true)) set.observer->note(delivered.error().message);
    if (set.stop->asked()) return RunEnd::kStopped;
    wait_ms(kRetryMs);
  }
  if (end == RunEnd::kRejected) {
    STAB_TRY(const store::ExperimentRow row, engine->store().experiment(1));
    return bad_input(row.failure.empty() ? "it was rejected" : row.failure);
  }
  return end;
}

}  // namespace

Result<RunEnd> run_share(const ShareSetting& set) {
  const auto file = [&](const char* what) { return slot_file(set.slot, set.epoch, what); };
  const host::Roots roots;
  std::map<std::string, std::string> facts = host_facts(roots);
  facts["machine.name"] = set.machine.empty() ? machine_name(roots, facts) : set.machine;
  STAB_TRY(const bool first, set.spool->claim(file("taken"), facts["machine.name"]));
  if (!first)
    return Error{ErrorCode::kBusy,
                 "epoch " + std::to_string(set.epoch) + " of slot " + std::to_string(set.slot) +
                     " is another worker's; the controller starts each epoch once",
                 {}};
  STAB_CHECK_OK(set.spool->put_note(file("facts"), facts_text(facts)));
  STAB_TRY(const auto grant, wait_for(set, file("grant")));
  if (!grant) return RunEnd::kStopped;
  STAB_TRY(const auto verdict, wait_for(set, file("verdict")));
  if (!verdict) return RunEnd::kStopped;
  if (*verdict != "go") {
    set.observer->note(*verdict);
    return RunEnd::kRejected;
  }
  if (const std::string stays = remove_abandoned_scratch(set.scratch); !stays.empty()) set.observer->note(stays);
  char name[64];
  std::snprintf(name, sizeof name, "/%s%.12s-%03d-%04lld-XXXXXX", kWorkFolders, grant->c_str(), set.slot,
                static_cast<long long>(set.epoch));
  // Programs are run from there.
  STAB_CHECK_OK(check_trusted_folder(set.scratch));
  std::string scratch = set.scratch + name;
  STAB_TRY(const UniqueFd held, make_scratch(scratch));
  if (::fchmod(held.get(), 0711) != 0) return system_error("chmod '" + scratch + "'", errno);
  const Result<RunEnd> end = run_blocks(set, *grant, scratch);
  const Status cleared = remove_tree(scratch);
  if (!cleared) set.observer->note(cleared.error().message);
  if (end && *end == RunEnd::kStopped) return end;
  STAB_CHECK_OK(set.spool->put_note(file("end"), end ? "done" : at_most(end.error().message, kMostReasonBytes)));
  if (!end) {
    set.observer->note(end.error().message);
    return RunEnd::kRejected;
  }
  return end;
}

}  // namespace stab::engine
