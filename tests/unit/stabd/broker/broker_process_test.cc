// stab-broker as an engine meets it: it starts, counts and ends programs, and when either of the two is killed nothing
// of what ran is left and the machine is as it was.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "base/message_socket.h"
#include "stabd/broker/wire/start_broker.h"
#include "stabd/host/roots.h"
#include "stabd/engine/separation/launched_at_broker.h"
#include "stabd/engine/separation/tree_at_broker.h"
#include "tests/places.h"
#include "tests/unit/temporary_directory.h"

namespace stab::broker {
namespace {

using ::testing::HasSubstr;
using engine::LaunchedAtBroker;
using engine::LaunchOrder;
using engine::TreeAtBroker;
using engine::TreeWanted;
using std::chrono::seconds;
using std::chrono::steady_clock;

const std::string kBroker = STAB_BUILD_ROOT "/libexec/stab/stab-broker";

bool becomes_true(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto give_up = steady_clock::now() + patience;
  while (!condition()) {
    if (steady_clock::now() > give_up) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

// Not a zombie: whoever is to reap it may take his time.
bool lives(pid_t pid) { return host::live_parents(host::Roots()).count(pid) > 0; }

class BrokerProcess : public testing::Test {
 protected:
  BrokerProcess() {
    directory_.write("proc/sys/kernel/watchdog", "1\n");
    directory_.write("proc/sys/kernel/random/boot_id", "boot\n");
    null_.reset(::open("/dev/null", O_RDWR | O_CLOEXEC));
    out_.reset(::memfd_create("out", MFD_CLOEXEC));
  }
  broker::StartOptions options() const {
    broker::StartOptions options;
    options.program = kBroker;
    options.allow_root = true;
    options.state = directory_.path() + "/state";
    options.more = {"--proc", directory_.path() + "/proc"};
    return options;
  }
  std::unique_ptr<broker::Client> start() {
    auto client = broker::start(options());
    EXPECT_TRUE(client.ok()) << client.error().message;
    return client ? *std::move(client) : nullptr;
  }
  static LaunchOrder shell(const std::string& script, TreeAtBroker* tree) {
    LaunchOrder order;
    order.program.exec_path = "/bin/sh";
    order.program.directory = "/";
    order.program.argv = {"sh", "-c", script};
    order.program.env = {"PATH=/usr/bin:/bin"};
    order.tree = tree;
    return order;
  }
  // With a cgroup where there is one, or without.
  static Result<TreeAtBroker> make_tree(broker::Client& client, bool with_cgroup) {
    TreeWanted wanted;
    if (!with_cgroup) wanted.kind = host::TreeKind::kAncestry;
    return TreeAtBroker::create(client, wanted);
  }
  Result<LaunchedAtBroker> launch(broker::Client& client, const LaunchOrder& order) {
    return LaunchedAtBroker::start(client, order, {null_.get(), out_.get(), out_.get(), -1, -1});
  }
  std::string output() const {
    char text[4096];
    const ssize_t got = ::pread(out_.get(), text, sizeof text, 0);
    return std::string(text, static_cast<size_t>(got > 0 ? got : 0));
  }
  void turn_watchdogs_off(broker::Client& client) {
    broker::TurnKnob knob;
    broker::set_text(knob.knob, sizeof knob.knob, "watchdogs");
    broker::set_text(knob.word, sizeof knob.word, "off");
    EXPECT_TRUE(client.ask(knob).ok());
    EXPECT_EQ(directory_.read("proc/sys/kernel/watchdog"), "0");
  }

  TemporaryDirectory directory_;
  UniqueFd null_, out_;
};

TEST_F(BrokerProcess, RunsAProgramAndSaysHowItEnded) {
  const auto client = start();
  ASSERT_NE(client, nullptr);
  auto tree = TreeAtBroker::create(*client);
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  auto launched = launch(*client, shell("echo here; exit 7", &*tree));
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  ASSERT_TRUE(launched->go().ok());
  pollfd ended{launched->pidfd(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, 10'000), 1);
  const auto used = launched->end(&*tree, seconds(10));
  ASSERT_TRUE(used.ok()) << used.error().message;
  EXPECT_EQ(WEXITSTATUS(used->status), 7);
  EXPECT_GT(used->usage.ru_minflt, 0);
  EXPECT_EQ(output(), "here\n");
}

TEST_F(BrokerProcess, HoldsATreeWithinItsLimits) {
  const auto client = start();
  ASSERT_NE(client, nullptr);
  auto tree = TreeAtBroker::create(*client, {.limited = true});
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  if (!tree->why_no_memory_limit().empty()) GTEST_SKIP() << "no controller memory to be had: " << tree->why_no_memory_limit();
  LaunchOrder greedy = shell("head -c 60m /dev/zero | tail -c 60m | wc -c; exit 3", &*tree);
  greedy.limits_of_tree = {32 << 20, 100};
  for (const uint64_t kills : {1, 0}) {
    auto launched = launch(*client, greedy);
    ASSERT_TRUE(launched.ok()) << launched.error().message;
    ASSERT_TRUE(launched->go().ok());
    pollfd ended{launched->pidfd(), POLLIN, 0};
    ASSERT_EQ(::poll(&ended, 1, 30'000), 1);
    const auto used = launched->end(&*tree, seconds(10));
    ASSERT_TRUE(used.ok()) << used.error().message;
    EXPECT_EQ(used->hits.memory_kills > 0, kills > 0) << used->hits.memory_kills;
    EXPECT_EQ(used->hits.outside_kills, 0u);
    greedy.limits_of_tree = {};
  }
}

// A tree that was not made for it is not run in without what was asked.
TEST_F(BrokerProcess, StartsNothingWithoutTheLimitThatIsAsked) {
  const auto client = start();
  ASSERT_NE(client, nullptr);
  auto tree = TreeAtBroker::create(*client);
  ASSERT_TRUE(tree.ok());
  LaunchOrder limited = shell("true", &*tree);
  limited.limits_of_tree = {32 << 20, 0};
  const auto launched = launch(*client, limited);
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(launched.error().message, HasSubstr("can't be limited"));
}

// Children of the broker that are called stab-launcher and have not begun to become a program.
std::vector<pid_t> starters_of(pid_t broker) {
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : host::live_parents(host::Roots())) {
    if (parent != broker) continue;
    const auto name = host::read_small_file("/proc/" + std::to_string(pid) + "/comm");
    if (name && name->rfind("stab-launcher", 0) == 0) found.push_back(pid);
  }
  return found;
}

// What is pinned is made by a launcher that stays; it is spared where what it has made is ended, and replaced where somebody
// has ended it.
TEST_F(BrokerProcess, OneLauncherMakesAllTrials) {
  const auto client = start();
  ASSERT_NE(client, nullptr);
  for (const bool with_cgroup : {true, false}) {
    auto tree = make_tree(*client, with_cgroup);
    ASSERT_TRUE(tree.ok()) << tree.error().message;
    pid_t last = -1;
    for (int trial = 0; trial < 4; ++trial) {
      LaunchOrder order = shell("(setsid sleep 1000 &); exit 3", &*tree);
      order.program.cpu = 0;
      auto launched = launch(*client, order);
      ASSERT_TRUE(launched.ok()) << launched.error().message;
      const std::vector<pid_t> starters = starters_of(client->pid());
      ASSERT_EQ(starters.size(), 2u) << "the one that stays, and the one that waits for its go";
      const pid_t starter = starters[0] == launched->pid() ? starters[1] : starters[0];
      EXPECT_EQ(starter == last, trial > 0 && trial != 3);
      last = starter;
      ASSERT_TRUE(launched->go().ok());
      pollfd ended{launched->pidfd(), POLLIN, 0};
      ASSERT_EQ(::poll(&ended, 1, 10'000), 1);
      const auto used = launched->end(&*tree, seconds(10));
      ASSERT_TRUE(used.ok()) << used.error().message;
      EXPECT_EQ(WEXITSTATUS(used->status), 3);
      EXPECT_TRUE(lives(starter)) << "it was killed with a trial";
      if (trial != 2) continue;
      ::kill(starter, SIGKILL);
      EXPECT_TRUE(becomes_true([&] { return !lives(starter); }, seconds(10)));
    }
    ::kill(last, SIGKILL);
    EXPECT_TRUE(becomes_true([&] { return !lives(last); }, seconds(10)));
  }
}

// Between two trials on their CPU, and away from it while one may run.
TEST_F(BrokerProcess, IsNeverOnATrialsCpuWithIt) {
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  if (!CPU_ISSET(0, &ours) || !CPU_ISSET(1, &ours)) GTEST_SKIP() << "CPUs 0 and 1 are not ours";
  const auto client = start();
  ASSERT_NE(client, nullptr);
  if ((::sched_getscheduler(client->pid()) & ~SCHED_RESET_ON_FORK) != SCHED_FIFO)
    GTEST_SKIP() << "no real-time priority: it stays where it is";
  const auto is_on = [&](int cpu) {
    return becomes_true([&] {
      cpu_set_t set;
      return ::sched_getaffinity(client->pid(), sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 &&
             CPU_ISSET(static_cast<size_t>(cpu), &set);
    }, seconds(10));
  };
  {
    auto tree = TreeAtBroker::create(*client, {.own_cpu = 0});
    ASSERT_TRUE(tree.ok()) << tree.error().message;
    EXPECT_TRUE(is_on(0));
    for (int trial = 0; trial < 2; ++trial) {
      LaunchOrder order = shell("exec sleep 1000", &*tree);
      order.program.cpu = 1;
      auto launched = launch(*client, order);
      ASSERT_TRUE(launched.ok()) << launched.error().message;
      EXPECT_TRUE(is_on(0)) << "before its go";
      ASSERT_TRUE(launched->go().ok());
      EXPECT_EQ(::sched_getscheduler(launched->pid()), SCHED_OTHER) << "the program is in front, as its launcher was";
      ASSERT_TRUE(launched->end(&*tree, seconds(10)).ok());
      EXPECT_TRUE(is_on(1)) << "after its end";
    }
    // A command that is not pinned is no trial.
    auto command = launch(*client, shell("exec sleep 1000", &*tree));
    ASSERT_TRUE(command.ok());
    EXPECT_TRUE(is_on(0));
    ASSERT_TRUE(command->end(&*tree, seconds(10)).ok());
    EXPECT_TRUE(is_on(0));
  }
  EXPECT_TRUE(is_on(0));
}

TEST_F(BrokerProcess, AFailedStepIsTold) {
  const auto client = start();
  ASSERT_NE(client, nullptr);
  auto tree = TreeAtBroker::create(*client);
  ASSERT_TRUE(tree.ok());
  LaunchOrder nowhere = shell("true", &*tree);
  nowhere.program.directory = "/nonexistent";
  const auto launched = launch(*client, nowhere);
  ASSERT_FALSE(launched.ok());
  EXPECT_THAT(launched.error().message, HasSubstr("enter the directory"));
}

TEST_F(BrokerProcess, EndsWhatLeftItsSession) {
  const auto client = start();
  ASSERT_NE(client, nullptr);
  auto tree = make_tree(*client, false);
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  auto launched = launch(*client, shell("(setsid sh -c 'echo $$; exec sleep 1000' &); sleep 0.2", &*tree));
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  ASSERT_TRUE(launched->go().ok());
  ASSERT_TRUE(becomes_true([&] { return !output().empty(); }, seconds(10)));
  const pid_t daemon = std::stoi(output());
  EXPECT_TRUE(lives(daemon));
  const Status ended = tree->kill_all(seconds(10));
  ASSERT_TRUE(ended.ok()) << ended.error().message;
  EXPECT_FALSE(lives(daemon));
}

// A SIGKILL gives an engine no time for anything: what it had started ends all the same, with or without cgroups.
TEST_F(BrokerProcess, NothingOutlivesAKilledEngine) {
  for (const bool with_cgroup : {true, false}) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
    const pid_t engine = ::fork();
    if (engine == 0) {
      const auto client = start();
      turn_watchdogs_off(*client);
      auto tree = make_tree(*client, with_cgroup);
      if (!tree) ::_exit(1);
      auto launched =
          launch(*client, shell("echo $$; (setsid sh -c 'echo $$; exec sleep 1000' &); exec sleep 1000", &*tree));
      if (!launched || !launched->go()) ::_exit(2);
      const pid_t broker = client->pid();
      if (::write(pipe_ends[1], &broker, sizeof broker) != sizeof broker) ::_exit(3);
      ::pause();
    }
    pid_t broker = 0;
    ::close(pipe_ends[1]);
    ASSERT_EQ(::read(pipe_ends[0], &broker, sizeof broker), static_cast<ssize_t>(sizeof broker));
    ::close(pipe_ends[0]);
    const auto both_have_begun = [&] {
      const std::string text = output();
      return std::count(text.begin(), text.end(), '\n') == 2;
    };
    EXPECT_TRUE(becomes_true(both_have_begun, seconds(10))) << output();
    const std::string numbers = output();
    if (HasFailure()) ::kill(engine, SIGKILL);
    ASSERT_FALSE(HasFailure());
    const pid_t program = std::stoi(numbers), daemon = std::stoi(numbers.substr(numbers.find('\n') + 1));
    ASSERT_TRUE(lives(program) && lives(daemon) && lives(broker));
    EXPECT_EQ(directory_.read("proc/sys/kernel/watchdog"), "0");
    ::kill(engine, SIGKILL);
    ::waitpid(engine, nullptr, 0);
    EXPECT_TRUE(becomes_true([&] { return !lives(program) && !lives(daemon) && !lives(broker); }, seconds(30))) << with_cgroup;
    EXPECT_EQ(directory_.read("proc/sys/kernel/watchdog"), "1");
    EXPECT_NE(::access((directory_.path() + "/state/knobs.journal").c_str(), F_OK), 0);
    ASSERT_EQ(::ftruncate(out_.get(), 0), 0);
    ASSERT_EQ(::lseek(out_.get(), 0, SEEK_SET), 0);
  }
}

TEST_F(BrokerProcess, AKilledBrokerTakesTheProgramWithItAndIsMissed) {
  const auto client = start();
  ASSERT_NE(client, nullptr);
  turn_watchdogs_off(*client);
  auto tree = TreeAtBroker::create(*client);
  ASSERT_TRUE(tree.ok());
  auto launched = launch(*client, shell("exec sleep 1000", &*tree));
  ASSERT_TRUE(launched.ok());
  ASSERT_TRUE(launched->go().ok());
  ASSERT_FALSE(client->gone());
  ::kill(client->pid(), SIGKILL);
  pollfd ended{launched->pidfd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 30'000), 1) << "the program outlives its broker";
  const auto used = launched->end(&*tree, seconds(10));
  ASSERT_FALSE(used.ok());
  EXPECT_EQ(used.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(used.error().message, HasSubstr("the broker (process " + std::to_string(client->pid()) + ") has ended"));
  EXPECT_TRUE(client->gone());
  EXPECT_FALSE(client->ask(broker::RestoreKnobs{}).ok());
  // The next one turns back what this one could not.
  const auto next = start();
  ASSERT_NE(next, nullptr);
  EXPECT_THAT(next->found(), HasSubstr("1 settings of the host"));
  EXPECT_EQ(directory_.read("proc/sys/kernel/watchdog"), "1");
}

// A frozen group, whose processes no signal ends until it is thawed: as those that wait for a file system that does not answer.
class Frozen {
 public:
  Frozen() : directory_(host::own_cgroup(host::Roots(), "freezer")) {
    if (directory_.empty()) return;
    directory_ += "/stab-test-frozen-" + std::to_string(::getpid());
    if (::mkdir(directory_.c_str(), 0755) != 0) directory_.clear();
  }
  ~Frozen() {
    if (directory_.empty()) return;
    host::write_small_file(directory_ + "/freezer.state", "THAWED");
    for (int tries = 0; tries < 1000 && ::rmdir(directory_.c_str()) != 0; ++tries) ::poll(nullptr, 0, 10);
  }
  bool is_there() const { return !directory_.empty(); }
  void take(pid_t pid) { EXPECT_TRUE(host::write_small_file(directory_ + "/cgroup.procs", std::to_string(pid))); }
  void freeze() { EXPECT_TRUE(host::write_small_file(directory_ + "/freezer.state", "FROZEN")); }

 private:
  std::string directory_;
};

TEST_F(BrokerProcess, WhatNothingEndsKeepsNobodyElseOut) {
  Frozen group;
  if (!group.is_there()) GTEST_SKIP() << "no freezer of cgroup v1 to be had";
  const auto client = start();
  ASSERT_NE(client, nullptr);
  auto tree = TreeAtBroker::create(*client);
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  const LaunchOrder order = shell("exec sleep 1000", nullptr);
  std::vector<pid_t> started;
  for (std::optional<Error> full; !full;) {
    ASSERT_LT(started.size(), 100u) << "there is no bound";
    auto launched = launch(*client, order);
    if (!launched) {
      full = launched.error();
      EXPECT_THAT(full->message, HasSubstr("too many programs at once"));
      break;
    }
    ASSERT_TRUE(launched->go().ok());
    started.push_back(launched->pid());
    group.take(launched->pid());
    launched->release();
  }
  group.freeze();
  for (const pid_t pid : started) {
    const auto ended = client->ask(broker::End{.pid = pid});
    ASSERT_TRUE(ended.ok());
    ASSERT_EQ(ended->answer.flags, broker::Answer::kAlive);
  }
  EXPECT_FALSE(launch(*client, order).ok()) << "at once";
  const auto late = steady_clock::now() + seconds(30);
  bool has_place = false;
  while (!has_place && steady_clock::now() < late) {
    ::poll(nullptr, 0, 200);
    auto launched = launch(*client, order);
    has_place = launched.ok() && launched->end(nullptr, seconds(10)).ok();
  }
  EXPECT_TRUE(has_place);
}

// Whatever comes over the socket, an answer follows, and the next request is served.
TEST_F(BrokerProcess, GarbageIsRefusedAndNothingElseHappens) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(theirs.get(), 3);
    ::fcntl(3, F_SETFD, 0);
    const std::string state = directory_.path() + "/state";
    ::execl(kBroker.c_str(), "stab-broker", "--peer", "3", "--state", state.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  theirs.reset();
  const auto refused = [&](const std::string& bytes, const std::vector<int>& beside) {
    EXPECT_TRUE(send_message(ours.get(), bytes, beside).ok());
    const auto message = receive_message(ours.get(), sizeof(broker::Answer), seconds(10));
    EXPECT_TRUE(message.ok() && !message->bytes.empty());
    const auto answer = broker::decode_answer(message->bytes, 0);
    EXPECT_TRUE(answer.ok());
    return answer && (answer->flags & broker::Answer::kRefused);
  };
  EXPECT_TRUE(refused("x", {}));
  // Of another version: an answer that any version can read.
  EXPECT_TRUE(send_message(ours.get(), std::string(broker::kMostRequestBytes, '\xff'), {}).ok());
  const auto other = receive_message(ours.get(), broker::kMostMessageBytes, seconds(10));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->bytes.size(), offsetof(broker::Answer, ipc_text));
  EXPECT_THAT(other->bytes, HasSubstr("are of different builds"));
  EXPECT_TRUE(refused(std::string(100'000, 'y'), {}));  // longer than any request
  EXPECT_TRUE(refused(broker::encode(broker::Hello{}), {ours.get(), ours.get()}));
  EXPECT_TRUE(refused(broker::encode(broker::Vouch{}), {}));
  EXPECT_FALSE(refused(broker::encode(broker::Hello{}), {}));
  ours.reset();
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace stab::broker
