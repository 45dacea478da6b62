// First the choice, which is pure: who goes, oldest first, and who never does. Then the same on disk, with a database that
// says what is over and what still waits for its builds.
#include "stabd/daemon/upkeep/retention.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "stabd/daemon/upkeep/user_workers.h"
#include "tests/places.h"
#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

using std::chrono::hours;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kHour = 3'600'000'000'000;

std::vector<std::string> names(const std::vector<StoredThing>& things) {
  std::vector<std::string> out;
  for (const StoredThing& thing : things) out.push_back(thing.path);
  return out;
}

using Names = std::vector<std::string>;

// Four things of two users, 10 bytes each, used 1 to 4 hours ago; the oldest is needed.
std::vector<StoredThing> four() {
  return {{"d", {1}, 10, 9 * kHour, false},
          {"c", {2}, 10, 8 * kHour, false},
          {"b", {1}, 10, 7 * kHour, false},
          {"a", {2}, 10, 6 * kHour, true}};
}

TEST(Retention, NothingGoesUnlessItIsLimited) { EXPECT_EQ(names(what_goes(four(), Config(), 10 * kHour)), Names()); }

TEST(Retention, TheOldGoUnlessTheyAreNeeded) {
  Config config;
  config.retention.builds = hours(2);
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b"}));
}

TEST(Retention, TheOldestGoUntilTheRestFits) {
  Config config;
  config.retention.disk_bytes = 25;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b", "c"}));
  config.retention.disk_bytes = 40;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names());
  config.retention.disk_bytes = 1;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b", "c", "d"}));
}

TEST(Retention, AUserAboveTheQuotaLosesOnlyOwnOnes) {
  Config config;
  config.users[1].disk_bytes = 15;
  EXPECT_EQ(names(what_goes(four(), config, 10 * kHour)), Names({"b"}));
}

// A binary of 1.6 GB counts for whoever measured it, and doesn't go from under another who did as well.
TEST(Retention, ArchivedBinariesCountForAllWhoMeasuredThem) {
  std::vector<StoredThing> things = four();
  things[0].uids = {1, 2};
  things[1].uids = {1};
  Config config;
  config.users[1].disk_bytes = 5;
  EXPECT_EQ(names(what_goes(things, config, 10 * kHour)), Names({"b", "c"}));
  config.users[2].disk_bytes = 5;
  EXPECT_EQ(names(what_goes(things, config, 10 * kHour)), Names({"b", "c", "d"}));
}

TEST(Retention, WhatWasNeverFinishedGoes) {
  std::vector<StoredThing> things = four();
  things[0].used_at_ns = 0;
  EXPECT_EQ(names(what_goes(things, Config(), 10 * kHour)), Names({"d"}));
}

// A database with one experiment that is over and one that waits, a build of each, and what nobody has.
class RetentionOnDisk : public testing::Test {
 protected:
  RetentionOnDisk() {
    auto store = store::Store::open(database_, store::Store::Access::kWrite);
    EXPECT_TRUE(store.ok());
    store_.emplace(std::move(*store));
    over_ = add("over", kOver);
    waits_ = add("waits", kWaits);
    EXPECT_TRUE(store_->advance(over_, store::ExperimentEvent::kCancel, "", 5 * kHour).ok());
    for (const char* name : {kOver, kWaits, "ffffffffffffffff"}) {
      directory_.write("d.db.files/builds/" + std::string(name) + "/program", "12345");
      directory_.write("d.db.files/builds/" + std::string(name) + ".done", "");
    }
    directory_.write("d.db.files/archive/" + sha(kOver), "over's");
    directory_.write("d.db.files/archive/" + sha(kWaits), "waits's");
    directory_.write("d.db.files/archive/" + sha("f") + ".new", "a crash");
  }
  store::Id add(const std::string& name, const std::string& hash) {
    store::NewExperiment row;
    row.name = name;
    const auto id = store_->add_experiment(row);
    EXPECT_TRUE(id.ok());
    store::Store::Expansion expansion;
    expansion.subjects = {{0, "p", "p", "p"}};
    expansion.cells = {{0, "", "off", "off", "off", 0, 0, {}}};
    expansion.builds.resize(1);
    EXPECT_TRUE(store_->expand(*id, expansion).ok());
    store::BuildRow build = store_->builds(*id)->front();
    build.state = store::BuildState::kDone;
    build.input_hash = hash + std::string(48, '0');
    build.binary_sha256 = sha(hash);
    EXPECT_TRUE(store_->update_build(build).ok());
    return *id;
  }
  static std::string sha(const std::string& hash) { return hash + std::string(64 - hash.size(), '1'); }
  bool exists(const std::string& name) const { return std::filesystem::exists(directory_.path() + "/d.db.files/" + name); }
  RetentionResult apply(const Config& config, int64_t hours_later = 0) {
    // Long after now: the files are new.
    const int64_t now = std::chrono::system_clock::now().time_since_epoch().count() + (1000 + hours_later) * kHour;
    const auto kept = retain_experiments(config, *store_, now);
    EXPECT_TRUE(kept.ok());
    UserWorkers workers({STAB_LAUNCHER, program_, clock_, cancel_fd_, nullptr, limit_});
    return retain_files(config, *kept, database_, now, workers, counted_);
  }

  static constexpr const char* kOver = "aaaaaaaaaaaaaaaa";
  static constexpr const char* kWaits = "bbbbbbbbbbbbbbbb";
  TemporaryDirectory directory_;
  std::string database_ = directory_.path() + "/d.db";
  std::optional<store::Store> store_;
  store::Id over_ = 0, waits_ = 0;
  SystemClock system_;
  const Clock* clock_ = &system_;
  std::string program_ = STAB_BUILD_ROOT "/libexec/stab/stab-worker";
  std::chrono::milliseconds limit_ = std::chrono::minutes(2);
  int cancel_fd_ = -1;
  std::map<std::string, uint64_t> counted_;
};

TEST_F(RetentionOnDisk, ByDefaultOnlyRubbishGoes) {
  const RetentionResult result = apply(Config());
  EXPECT_EQ(result.said.size(), 1u);
  EXPECT_FALSE(exists("archive/" + sha("f") + ".new"));
  EXPECT_TRUE(exists("builds/ffffffffffffffff/program"));
  EXPECT_EQ(store_->experiments()->size(), 2u);
  uint64_t bytes = 0;
  for (const auto& [uid, used] : result.bytes_by_user) bytes += used;
  EXPECT_GT(bytes, 0u);
}

// A path of a kernel's has 4096 bytes; what lies deeper takes room as well.
TEST_F(RetentionOnDisk, NobodyHidesBytesInTheDepth) {
  UniqueFd at(::open((directory_.path() + "/d.db.files/builds/" + kOver).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const uint64_t before = apply(Config()).bytes_by_user[::geteuid()];
  const std::string name(250, 'd');
  for (int depth = 0; depth < 40; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at.reset(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  const UniqueFd file(::openat(at.get(), "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  const std::string text(1 << 20, 'x');
  ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_GE(apply(Config()).bytes_by_user[::geteuid()], before + text.size() - 4096);
  Config config;
  config.retention.builds = hours(1);
  apply(config);
  EXPECT_FALSE(exists(std::string("builds/") + kOver));
}

TEST_F(RetentionOnDisk, AnArchivedBinaryCountsForItsSubmitter) {
  const std::string binary = "d.db.files/archive/" + sha(kOver);
  const uint64_t before = apply(Config()).bytes_by_user[0];
  directory_.write(binary, std::string(1 << 20, 'x'));
  EXPECT_GE(apply(Config()).bytes_by_user[0], before + (1 << 20) - 4096);
}

TEST_F(RetentionOnDisk, OldBuildsGoButNotOfWhatWaits) {
  Config config;
  config.retention.builds = hours(1);
  apply(config);
  EXPECT_FALSE(exists(std::string("builds/") + kOver));
  EXPECT_FALSE(exists(std::string("builds/") + kOver + ".done"));
  EXPECT_FALSE(exists("archive/" + sha(kOver)));
  EXPECT_TRUE(exists(std::string("builds/") + kWaits + "/program"));
  EXPECT_TRUE(exists("archive/" + sha(kWaits)));
}

TEST_F(RetentionOnDisk, FinishedExperimentsGoOnlyIfSaid) {
  Config config;
  config.retention.experiments = hours(1);
  apply(config);
  EXPECT_EQ(store_->experiments()->size(), 2u);
  EXPECT_TRUE(exists("archive/" + sha(kOver)));
  apply(config, 1);
  ASSERT_EQ(store_->experiments()->size(), 1u);
  EXPECT_EQ(store_->experiments()->front().id, waits_);
  EXPECT_FALSE(exists("archive/" + sha(kOver))) << "nobody can repeat its trials any more";
}

// What is unknown must not look as if it were nothing: a quota would let its user go on.
TEST_F(RetentionOnDisk, BuildsThatCantBeMeasuredCountAsTheyDidLast) {
  const RetentionResult before = apply(Config());
  EXPECT_TRUE(before.wrong.empty());
  program_ = "/nonexistent/stab-worker";
  Config config;
  config.retention.builds = hours(1);
  const RetentionResult unknown = apply(config);
  EXPECT_EQ(unknown.wrong.size(), 5u) << "three that can't be measured, two of which can't be removed";
  EXPECT_THAT(unknown.wrong, Each(HasSubstr("start '/nonexistent/stab-worker'")));
  EXPECT_THAT(unknown.wrong[0], HasSubstr("as it did last"));
  EXPECT_TRUE(exists(std::string("builds/") + kOver + ".done")) << "it is as whole as it was";
  EXPECT_EQ(counted_.size(), 3u);
  const uint64_t builds = 3 * counted_.begin()->second;
  EXPECT_GT(builds, 0u);
  EXPECT_GE(unknown.bytes_by_user.at(::geteuid()), builds);
}

TEST_F(RetentionOnDisk, AUserWhoseWorkerHangsCostsTheTimeOfOneRequest) {
  apply(Config());
  const std::map<std::string, uint64_t> before = counted_;
  for (const char* name : {kOver, kWaits, "ffffffffffffffff"})
    directory_.write("d.db.files/builds/" + std::string(name) + "/hang", "");
  program_ = STAB_FAKE_WORKER;
  limit_ = std::chrono::milliseconds(2000);
  const auto began = clock_->monotonic_raw();
  const RetentionResult result = apply(Config());
  EXPECT_LT(clock_->monotonic_raw() - began, 3 * limit_) << "it is asked once";
  EXPECT_EQ(result.wrong.size(), 3u);
  EXPECT_THAT(result.wrong, Each(HasSubstr("took more than 2 s to measure a directory")));
  EXPECT_EQ(counted_, before);
}

// Each time that it is asked another minute is over.
class MinuteClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic_raw() const override { return now_ += std::chrono::seconds(61); }
  std::chrono::nanoseconds realtime() const override { return now_; }

 private:
  mutable std::chrono::nanoseconds now_{0};
};

TEST_F(RetentionOnDisk, AUserWhoseFilesTakeTooLongTogetherIsDoneTheNextTime) {
  const MinuteClock clock;
  clock_ = &clock;
  const RetentionResult result = apply(Config());
  EXPECT_THAT(result.wrong, ElementsAre(HasSubstr("their files have taken more than 120 s, and others wait")));
  EXPECT_EQ(std::count_if(counted_.begin(), counted_.end(), [](const auto& one) { return one.second > 4096; }), 2);
}

TEST_F(RetentionOnDisk, ADirectoryThatWasNeverGivenGoesWithoutAWorker) {
  std::filesystem::create_directory(directory_.path() + "/d.db.files/builds/cccccccccccccccc");
  program_ = "/nonexistent/stab-worker";
  apply(Config());
  EXPECT_FALSE(exists("builds/cccccccccccccccc"));
}

TEST_F(RetentionOnDisk, NobodySaysThatTheyHaveMoreThanTheDisk) {
  program_ = STAB_FAKE_WORKER;
  struct statvfs disk;
  ASSERT_EQ(::statvfs(directory_.path().c_str(), &disk), 0);
  const uint64_t most = static_cast<uint64_t>(disk.f_blocks) * disk.f_frsize;
  uint64_t builds = 0;
  apply(Config());
  for (const auto& [path, bytes] : counted_) builds += bytes;
  EXPECT_EQ(builds, most);
}

TEST_F(RetentionOnDisk, AStopEndsItWithoutAWordAndRemovesNothing) {
  for (const char* name : {kOver, kWaits, "ffffffffffffffff"})
    directory_.write("d.db.files/builds/" + std::string(name) + "/hang", "");
  const UniqueFd cancel(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  cancel_fd_ = cancel.get();
  program_ = STAB_FAKE_WORKER;
  Config config;
  config.retention.builds = hours(1);
  const RetentionResult result = apply(config);
  EXPECT_TRUE(result.wrong.empty());
  EXPECT_TRUE(result.said.empty());
  EXPECT_TRUE(exists(std::string("builds/") + kOver + "/program"));
}

// A directory whose owner has closed it hides what is in it; it isn't kept for that.
TEST_F(RetentionOnDisk, WhatCantBeLookedIntoGoesUnlessItIsNeeded) {
  if (::geteuid() == 0) GTEST_SKIP() << "root looks into everything; see AnothersBuildsAreLookedIntoAsThatOne";
  for (const char* name : {kOver, kWaits}) {
    const std::string closed = directory_.path() + "/d.db.files/builds/" + name + "/closed";
    directory_.write("d.db.files/builds/" + std::string(name) + "/closed/file", "text");
    ASSERT_EQ(::chmod(closed.c_str(), 0), 0);
  }
  const RetentionResult result = apply(Config());
  EXPECT_EQ(result.wrong.size(), 2u);
  EXPECT_THAT(result.wrong, Each(HasSubstr("is kept only while it is needed")));
  EXPECT_FALSE(exists(std::string("builds/") + kOver));
  EXPECT_TRUE(exists(std::string("builds/") + kWaits));
  ::chmod((directory_.path() + "/d.db.files/builds/" + kWaits + "/closed").c_str(), 0700);
}

TEST_F(RetentionOnDisk, AnothersBuildsAreLookedIntoAsThatOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: there is nobody else to become";
  constexpr uid_t kSubmitter = 64101, kOther = 64102;
  // Where only root may go there is no program to run; so it is run from where everybody may.
  const TemporaryDirectory open;
  ::chmod(open.path().c_str(), 0755);
  std::filesystem::copy_file(program_, open.path() + "/stab-worker");
  program_ = open.path() + "/stab-worker";
  const std::string nobodys = directory_.path() + "/d.db.files/builds/ffffffffffffffff",
                    over = directory_.path() + "/d.db.files/builds/" + kOver;
  directory_.write("d.db.files/builds/ffffffffffffffff/mine/file", std::string(1 << 20, 'x'));
  for (const char* end : {"/mine/file", "/mine", "/program", ""})
    ASSERT_EQ(::chown((nobodys + end).c_str(), kSubmitter, kSubmitter), 0);
  ::chmod(nobodys.c_str(), 0700);
  ASSERT_EQ(::chown(over.c_str(), kOther, kOther), 0) << "the store says that it is root's";
  Config config;
  config.retention.builds = hours(1);

  ::chmod(directory_.path().c_str(), 0700);
  const RetentionResult closed = apply(Config());
  EXPECT_EQ(closed.wrong.size(), 2u);
  EXPECT_THAT(closed.wrong, testing::UnorderedElementsAre(HasSubstr("of user 64101 can't be measured, and counts as "),
                                                          HasSubstr("belongs to user 64102, whose build it isn't: it stays")));
  EXPECT_GT(counted_.at(directory_.path() + "/d.db.files/builds/" + kWaits), 0u) << "others are measured all the same";

  for (const char* part : {"", "/d.db.files", "/d.db.files/builds"}) ::chmod((directory_.path() + part).c_str(), 0755);
  EXPECT_GE(apply(Config()).bytes_by_user[kSubmitter], uint64_t{1} << 20);
  const RetentionResult gone = apply(config);
  EXPECT_THAT(gone.wrong, ElementsAre(HasSubstr("whose build it isn't")));
  EXPECT_FALSE(exists("builds/ffffffffffffffff"));
  EXPECT_TRUE(exists(std::string("builds/") + kOver + "/program"));
}

// Experiments that are over, and what a look at some hour deletes. Hours count from the clock's own beginning.
class ExperimentsByAge : public testing::Test {
 protected:
  ExperimentsByAge() {
    auto store = store::Store::open(directory_.path() + "/d.db", store::Store::Access::kWrite);
    EXPECT_TRUE(store.ok());
    store_.emplace(std::move(*store));
    config_.retention.experiments = hours(100);
  }
  void add(const std::string& name, int64_t submitted, int64_t ended) {
    store::NewExperiment row;
    row.name = name;
    row.submitted_at_ns = submitted * kHour;
    const auto id = store_->add_experiment(row);
    ASSERT_TRUE(id.ok());
    ASSERT_TRUE(store_->advance(*id, store::ExperimentEvent::kCancel, "", ended * kHour).ok());
  }
  // What is left.
  Names look(int64_t hour) {
    const auto kept = retain_experiments(config_, *store_, hour * kHour);
    EXPECT_TRUE(kept.ok());
    if (kept.ok()) said_ = kept->said;
    Names left;
    const auto all = store_->summaries();
    for (const store::ExperimentSummary& row : *all) left.insert(left.begin(), row.name);
    std::sort(left.begin(), left.end());
    return left;
  }
  TemporaryDirectory directory_;
  std::optional<store::Store> store_;
  Config config_;
  std::vector<std::string> said_;
};

TEST_F(ExperimentsByAge, OneGoesWhereTwoLooksADayApartFindItOldEnough) {
  add("old", 1000, 1001);
  add("new", 1050, 1051);
  EXPECT_EQ(look(1100), Names({"new", "old"}));
  EXPECT_TRUE(said_.empty());
  EXPECT_EQ(look(1102), Names({"new", "old"}));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("'old': it is over for long enough: deleted by the first look after ")));
  EXPECT_EQ(look(1125), Names({"new", "old"}));
  EXPECT_TRUE(said_.empty()) << "it was said";
  EXPECT_EQ(look(1126), Names({"new"}));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("'old' is over for long enough: deleted")));
}

TEST_F(ExperimentsByAge, AShorterAgeIsTheWaitAsWell) {
  config_.retention.experiments = hours(2);
  add("a", 1000, 1001);
  EXPECT_EQ(look(1010), Names({"a"}));
  EXPECT_EQ(look(1011), Names({"a"}));
  EXPECT_EQ(look(1012), Names());
}

// The clock is 200 hours ahead for a while, twice.
TEST_F(ExperimentsByAge, AClockThatIsSetForwardForAWhileDeletesNone) {
  add("a", 1000, 1001);
  EXPECT_EQ(look(1210), Names({"a"}));
  EXPECT_EQ(look(1212), Names({"a"}));
  EXPECT_EQ(look(1013), Names({"a"}));
  EXPECT_EQ(look(1240), Names({"a"}));
  EXPECT_EQ(look(1041), Names({"a"}));
  // Until it is so old.
  EXPECT_EQ(look(1102), Names({"a"}));
  EXPECT_EQ(look(1127), Names());
}

// It ended while the clock stood at its beginning, which the network has set right since.
TEST_F(ExperimentsByAge, AClockThatIsSetBackForAWhileMakesNoneOld) {
  add("before", 1000, 1001);
  add("meanwhile", 2, 3);
  EXPECT_EQ(look(1005), Names({"before", "meanwhile"}));
  EXPECT_TRUE(said_.empty());
  EXPECT_EQ(look(1040), Names({"before", "meanwhile"}));
  EXPECT_TRUE(said_.empty());
  EXPECT_EQ(look(1101), Names({"before", "meanwhile"}));
  EXPECT_EQ(said_.size(), 2u);
  EXPECT_EQ(look(1125), Names());
}

// One that was submitted while the clock was ahead says nothing of those behind it.
TEST_F(ExperimentsByAge, AClockThatWasAheadKeepsNoneForEver) {
  add("ahead", 90000, 90001);
  add("after", 1000, 1001);
  EXPECT_EQ(look(1101), Names({"after", "ahead"}));
  EXPECT_EQ(look(1125), Names({"ahead"}));
}

}  // namespace
}  // namespace stab::daemon
