// What the broker refuses of an engine that was taken over: processes, trees, commands, counters and directories that
// are not what they should be.
#include "stabd/broker/warden.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "stabd/broker/counters.h"
#include "tests/unit/temporary_directory.h"

namespace stab::broker {
namespace {

using ::testing::HasSubstr;

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

UniqueFd memory(const std::string& bytes, int seals = kSeals) {
  UniqueFd fd(::memfd_create("command", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

template <class Change>
Launch with(Change change) {
  Launch request;
  change(request);
  return request;
}

class BrokerWarden : public testing::Test {
 protected:
  BrokerWarden() {
    auto opened = Users::open({::geteuid(), ::geteuid() == 0, {}, ""});
    users_ = std::make_unique<Users>(*std::move(opened));
    WardenOptions options;
    options.roots = {at("/proc"), at("/sys"), at("/dev")};
    options.launcher = "/nonexistent/launcher";
    options.knob_journal = at("/knobs.journal");
    warden_ = std::make_unique<Warden>(options, *users_);
  }
  std::string at(const std::string& name) const { return directory_.path() + name; }

  Warden::Done ask(const Request& request, std::vector<UniqueFd> descriptors = {}) {
    return warden_->answer(request, std::move(descriptors));
  }
  // Its words if it refuses.
  std::string why(const Request& request, std::vector<UniqueFd> descriptors = {}) {
    const Answer answer = ask(request, std::move(descriptors)).answer;
    return answer.flags & Answer::kRefused ? answer.text : "";
  }
  std::string why_not(const Launch& request, UniqueFd command) {
    std::vector<UniqueFd> beside;
    beside.push_back(std::move(command));
    for (int i = 0; i < 3; ++i) beside.emplace_back(::open("/dev/null", O_RDWR | O_CLOEXEC));
    return why(request, std::move(beside));
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Users> users_;
  std::unique_ptr<Warden> warden_;
};

TEST_F(BrokerWarden, NamesNobodyElsesProcess) {
  for (const pid_t pid : {1, static_cast<int>(::getpid()), static_cast<int>(::getppid())}) {
    EXPECT_THAT(why(End{.pid = pid}), HasSubstr("process " + std::to_string(pid) + " was not started here"));
    OpenCounters counters;
    counters.pid = pid;
    counters.count = 1;
    EXPECT_THAT(why(counters), HasSubstr("was not started here"));
  }
  EXPECT_THAT(why(End{.tree = 7}), HasSubstr("process tree 7 was not started here"));
  EXPECT_THAT(why(TreeState{.tree = 7}), HasSubstr("was not started here"));
  EXPECT_THAT(why(DropTree{.tree = 7}), HasSubstr("was not started here"));
}

TEST_F(BrokerWarden, ACommandIsSealedMemoryOfItsForm) {
  const std::string good("\x04\0\0\0/x/y\0\x04\0\0\0/x/y\0\0\0\0\0\0\x01\0\0\0/\0", 29);
  EXPECT_THAT(why_not(Launch{}, memory(good)), HasSubstr("/nonexistent/launcher"));  // as far as it goes here
  EXPECT_THAT(why_not(Launch{}, memory(good, F_SEAL_SHRINK | F_SEAL_GROW)), HasSubstr("not in sealed memory"));
  UniqueFd file(::open(directory_.write("file", good).c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(why_not(Launch{}, std::move(file)), HasSubstr("not in sealed memory"));
  EXPECT_THAT(why_not(with([](Launch& request) { request.argc = 1; }), memory(good)), HasSubstr("is not one"));
  EXPECT_THAT(why_not(Launch{}, memory(good + "x")), HasSubstr("is not one"));
  EXPECT_THAT(why_not(Launch{}, memory(std::string("\xff\xff\xff\xff/x/y\0", 9))), HasSubstr("is not one"));
  EXPECT_THAT(why_not(Launch{}, memory("")), HasSubstr("is not one"));
  UniqueFd large(::memfd_create("large", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(large.get(), static_cast<off_t>(kMostCommandBytes) + 1), 0);
  ASSERT_EQ(::fcntl(large.get(), F_ADD_SEALS, kSeals), 0);
  EXPECT_THAT(why_not(Launch{}, std::move(large)), HasSubstr("at most 8 MiB"));
}

TEST_F(BrokerWarden, StartsNothingAsAStranger) {
  if (::geteuid() == 0) return;  // decided by Users, whose test has root's rules
  EXPECT_THAT(why_not(with([](Launch& request) { request.uid = ::geteuid() + 1; }), memory("")),
              HasSubstr("can't start programs as user"));
}

TEST_F(BrokerWarden, ALaunchNamesATreeThatIsThere) {
  EXPECT_THAT(why_not(with([](Launch& request) { request.tree = 3; }), memory("")), HasSubstr("process tree 3"));
}

TEST_F(BrokerWarden, HasRoomForAFewTrees) {
  std::vector<uint32_t> made;
  for (int i = 0; i < 24; ++i) {
    const Answer answer = ask(MakeTree{.wanted = static_cast<uint32_t>(host::TreeKind::kAncestry)}).answer;
    ASSERT_EQ(answer.flags, 0u) << answer.text;
    made.push_back(answer.tree);
  }
  EXPECT_THAT(why(MakeTree{}), HasSubstr("too many process trees"));
  EXPECT_EQ(why(DropTree{.tree = made[0]}), "");
  EXPECT_THAT(why(DropTree{.tree = made[0]}), HasSubstr("was ended before"));
  EXPECT_EQ(why(MakeTree{}), "");
}

TEST_F(BrokerWarden, NothingIsIsolatedUnasked) {
  EXPECT_THAT(why(MakeTree{.flags = MakeTree::kIsolated}), HasSubstr("no cpu is isolated"));
}

TEST_F(BrokerWarden, CountsButTracesNothing) {
  const std::string sys = at("/sys");
  for (const uint32_t type : {PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW})
    EXPECT_TRUE(may_be_counted({.type = type}, sys));
  EXPECT_TRUE(may_be_counted({.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK}, sys));
  EXPECT_FALSE(may_be_counted({.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT}, sys));
  EXPECT_FALSE(may_be_counted({.type = PERF_TYPE_TRACEPOINT, .config = 1}, sys));
  EXPECT_FALSE(may_be_counted({.type = PERF_TYPE_BREAKPOINT}, sys));
  directory_.write("sys/bus/event_source/devices/cpu_core/type", "10\n");
  directory_.write("sys/bus/event_source/devices/kprobe/type", "11\n");
  EXPECT_TRUE(may_be_counted({.type = 10}, sys));
  EXPECT_FALSE(may_be_counted({.type = 11}, sys));
  OpenCounters request;
  request.count = 1;
  request.counters[0].type = PERF_TYPE_TRACEPOINT;
  const Warden::Done done = ask(request);
  EXPECT_EQ(done.answer.error_numbers[0], EACCES);
  EXPECT_TRUE(done.descriptors.empty());
}

TEST_F(BrokerWarden, SaysWhetherItCouldCountAndHandsNothingOut) {
  OpenCounters request;
  request.count = 1;
  request.counters[0] = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK};
  EXPECT_TRUE(ask(request).descriptors.empty());
}

TEST_F(BrokerWarden, GivesOnlyWhatTheEngineOwns) {
  const auto opened = [](const std::string& path) {
    std::vector<UniqueFd> beside;
    beside.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return beside;
  };
  EXPECT_THAT(why(Give{.uid = ::geteuid()}, opened(directory_.write("file", "x"))), HasSubstr("no directory of user"));
  EXPECT_EQ(::geteuid() == 0 ? "no directory" : why(Give{.uid = ::geteuid()}, opened("/")).substr(6, 12), "no directory");
  const auto mine = ask(Give{.uid = ::geteuid()}, opened(directory_.path()));
  if (::geteuid() == 0) return;  // decided by Users
  EXPECT_EQ(mine.answer.flags, 0u) << mine.answer.text;
  EXPECT_EQ(mine.answer.uid, ::geteuid());
}

TEST_F(BrokerWarden, GivesADirectoryAwayAndNothingTwice) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIP: only root can give directories to others";
  directory_.write("vouched", "stab-vouched 1\n64101 64101 .\n");
  auto users = Users::open({0, false, 64100, at("/vouched")});
  ASSERT_TRUE(users.ok());
  Warden warden({{at("/proc"), at("/sys"), at("/dev")}, "/nonexistent", "/nonexistent", at("/knobs.journal")}, *users);
  const auto give = [&](uid_t uid) {
    std::vector<UniqueFd> beside;
    beside.emplace_back(::open(at("/given").c_str(), O_RDONLY | O_CLOEXEC));
    return std::string(warden.answer(Give{.uid = uid}, std::move(beside)).answer.text);
  };
  ASSERT_EQ(::mkdir(at("/given").c_str(), 0700), 0);
  EXPECT_THAT(give(64101), HasSubstr("no directory of user 64100"));  // root's
  ASSERT_EQ(::chown(at("/given").c_str(), 64100, 64100), 0);
  EXPECT_THAT(give(64102), HasSubstr("never submitted"));
  EXPECT_THAT(give(0), HasSubstr("as root"));
  EXPECT_EQ(give(64101), "");
  struct stat info;
  ASSERT_EQ(::stat(at("/given").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 64101u);
  EXPECT_THAT(give(64101), HasSubstr("no directory of user 64100"));  // it is not the engine's any more
}

TEST_F(BrokerWarden, TurnsWhatItsTableSaysAndTurnsItBack) {
  directory_.write("proc/sys/kernel/watchdog", "1\n");
  directory_.write("proc/sys/kernel/random/boot_id", "boot\n");
  TurnKnob request;
  set_text(request.knob, sizeof request.knob, "watchdogs");
  set_text(request.word, sizeof request.word, "off");
  EXPECT_EQ(ask(request).answer.flags, 0u);
  EXPECT_EQ(directory_.read("proc/sys/kernel/watchdog"), "0");
  set_text(request.word, sizeof request.word, "sideways");
  EXPECT_THAT(why(request), HasSubstr("'sideways': expected off or on"));
  set_text(request.knob, sizeof request.knob, "core_pattern");
  EXPECT_THAT(why(request), HasSubstr("no knob 'core_pattern'"));
  set_text(request.knob, sizeof request.knob, "turbo");
  set_text(request.word, sizeof request.word, "off");
  const Answer absent = ask(request).answer;
  EXPECT_EQ(absent.flags, Answer::kNotSet);
  EXPECT_THAT(absent.text, HasSubstr("so no knob turbo"));
  EXPECT_EQ(why(RestoreKnobs{}), "");
  EXPECT_EQ(directory_.read("proc/sys/kernel/watchdog"), "1");
}

TEST_F(BrokerWarden, HandsOutTheKernelLogForReadingOnly) {
  EXPECT_THAT(why(OpenKernelLog{}), HasSubstr("/dev/kmsg"));
  directory_.write("dev/kmsg", "a line\n");
  const Warden::Done done = ask(OpenKernelLog{});
  ASSERT_EQ(done.descriptors.size(), 1u);
  EXPECT_EQ(::fcntl(done.descriptors[0].get(), F_GETFL) & O_ACCMODE, O_RDONLY);
}

}  // namespace
}  // namespace stab::broker
