// The engine's end of its worker: what becomes of a request when the worker ends, hangs, is stopped, or is no worker at all.
#include "stabd/engine/separation/worker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "stabd/engine/build/builds.h"
#include "stabd/engine/trial/cached_files.h"
#include "stabd/host/roots.h"
#include "stabd/engine/separation/tree_at_broker.h"
#include "tests/places.h"
#include "tests/unit/stabd/engine/own_broker.h"
#include "tests/unit/temporary_directory.h"
#include "stabd/worker/sha256.h"

namespace stab::engine {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kReal[] = STAB_BUILD_ROOT "/libexec/stab/stab-worker";

Worker::Setting setting(const std::string& program) { return {started_here(STAB_LAUNCHER), program, {}, -1, -1, {}}; }

std::string status_line(pid_t pid, const std::string& key) {
  const std::string status = host::read_small_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const size_t at = status.find("\n" + key + ":");
  return at == std::string::npos ? "" : status.substr(at + 1, status.find('\n', at + 1) - at - 1);
}

TEST(Worker, OneAnswersManyRequests) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", "text");
  Worker worker(setting(kReal));
  const auto hash = worker.ask(worker::Hash{path, 100});
  ASSERT_TRUE(hash.ok()) << hash.error().text();
  EXPECT_EQ(hash->sha256, worker::sha256("text"));
  const pid_t first = worker.pid();
  const auto opened = worker.ask_for_fd(worker::Open{{path + "-absent", path}});
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  char text[5] = {};
  EXPECT_EQ(::read(opened->second.get(), text, 4), 4);
  EXPECT_STREQ(text, "text");
  EXPECT_EQ(worker.ask(worker::Hash{path + "-absent", 100}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(worker.pid(), first);
  EXPECT_TRUE(worker.take_events().empty());
}

// Who may have no more processes is not told to look at who may run a program.
TEST(Worker, WhyItIsNotStartedHasItsOwnCure) {
  const auto said = [](int error) {
    Worker::Setting refused = setting(kReal);
    refused.start = [error](auto&&...) -> Result<std::unique_ptr<OwnProcess>> { return system_error("start a process", error); };
    Worker worker(std::move(refused));
    return worker.ask(worker::Hash{"/x", 100}).error().message;
  };
  EXPECT_THAT(said(EAGAIN), AllOf(HasSubstr("raise 'ulimit -u' or pids.max"), Not(HasSubstr("must be able to run it"))));
  EXPECT_THAT(said(EACCES), HasSubstr("start a process: Permission denied; every user who submits must be able to run it"));
}

TEST(Worker, ItHasNoRightsAndLimits) {
  Worker worker(setting(kReal));
  ASSERT_TRUE(worker.ask(worker::Look{"/"}).ok());
  EXPECT_EQ(status_line(worker.pid(), "NoNewPrivs"), "NoNewPrivs:\t1");
  const std::string limits = host::read_small_file("/proc/" + std::to_string(worker.pid()) + "/limits").value_or("");
  EXPECT_THAT(limits, HasSubstr("Max core file size        0                    0"));
  EXPECT_THAT(limits, HasSubstr("Max open files            256                  256"));
}

// Real, effective and saved; no capability; and what it may not read it says so.
TEST(Worker, ItIsItsSubmitterWhollyAndReadsNothingElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: there is nobody else to become";
  constexpr uid_t kUser = 64101, kStranger = 64102;
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0755);
  // Where only root may go there is no program to run; so it is run from where everybody may.
  const std::string program = directory.path() + "/stab-worker";
  std::filesystem::copy_file(kReal, program);
  const std::string secret = directory.write("closed/secret", "text");
  ::chmod((directory.path() + "/closed").c_str(), 0700);
  ASSERT_EQ(::chown((directory.path() + "/closed").c_str(), kStranger, kStranger), 0);
  Worker::Setting as_user = setting(program);
  as_user.submitter = host::Submitter{kUser, kUser, {}};
  Worker worker(as_user);
  const auto seen = worker.ask(worker::Look{secret});
  ASSERT_TRUE(seen.ok()) << seen.error().text();
  EXPECT_EQ(seen->type, static_cast<uint32_t>(worker::FileType::kAbsent));
  EXPECT_EQ(status_line(worker.pid(), "Uid"), "Uid:\t64101\t64101\t64101\t64101");
  EXPECT_EQ(status_line(worker.pid(), "Gid"), "Gid:\t64101\t64101\t64101\t64101");
  EXPECT_EQ(status_line(worker.pid(), "Groups"), "Groups:\t ");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    EXPECT_EQ(status_line(worker.pid(), set), std::string(set) + ":\t0000000000000000");

  // A process that stands in the other one's directory, and one of root's.
  const pid_t inside = ::fork();
  if (inside == 0) {
    if (::chdir((directory.path() + "/closed").c_str()) != 0 || ::setresuid(kStranger, kStranger, kStranger) != 0) ::_exit(1);
    for (;;) ::pause();
  }
  for (int tries = 0; tries < 500 && status_line(inside, "Uid") != "Uid:\t64102\t64102\t64102\t64102"; ++tries) ::usleep(10'000);
  const std::string through = "/proc/" + std::to_string(inside) + "/cwd/secret";
  for (const std::string& path : {secret, through, std::string("/proc/1/maps"), std::string("/proc/1/environ")}) {
    EXPECT_FALSE(worker.ask(worker::Hash{path, 1 << 20}).ok()) << path;
    EXPECT_FALSE(worker.ask_for_fd(worker::Open{{path}}).ok()) << path;
    EXPECT_FALSE(worker.ask(worker::Fill{directory.path(), "", {{{path}, path, "stolen"}}, {1 << 20, 10}}).ok()) << path;
  }
  EXPECT_FALSE(worker.ask_for_fd(worker::Open{{"/dev/kmsg"}}).ok());
  ::kill(inside, SIGKILL);
  ::waitpid(inside, nullptr, 0);
}

TEST(Worker, OneThatEndsFailsOnlyWhatWasAsked) {
  Worker worker(setting(STAB_FAKE_WORKER));
  ASSERT_TRUE(worker.ask(worker::Look{"fine"}).ok());
  const auto ended = worker.ask(worker::Look{"end"});
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(ended.error().message, HasSubstr("the worker ended while it was to look at a file"));
  EXPECT_TRUE(worker.ask(worker::Look{"fine"}).ok()) << "another one was started";
  EXPECT_THAT(worker.take_events(), ElementsAre(ended.error().message, ended.error().message)) << "it was tried twice";
  EXPECT_TRUE(worker.take_events().empty());
}

TEST(Worker, OneThatIsKilledIsStartedAgain) {
  Worker worker(setting(kReal));
  ASSERT_TRUE(worker.start().ok());
  const pid_t first = worker.pid();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  EXPECT_TRUE(worker.ask(worker::Look{"/"}).ok()) << "asked again";
  EXPECT_NE(worker.pid(), first);
  EXPECT_EQ(worker.take_events().size(), 1u);
}

// How long a worker may be stopped, as long as always or shorter than its limit: what only takes its time is not taken for
// stopped, however often that is looked at meanwhile.
class LateWorker : public testing::TestWithParam<milliseconds> {};

TEST_P(LateWorker, IsKilledAtItsLimit) {
  Worker::Setting late_soon = setting(STAB_FAKE_WORKER);
  late_soon.limit = milliseconds(1000);
  late_soon.stop_patience = GetParam();
  Worker worker(late_soon);
  ASSERT_TRUE(worker.start().ok());
  const pid_t pid = worker.pid();
  const auto late = worker.ask(worker::Look{"hang"});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::kSystem);
  EXPECT_THAT(late.error().message,
              HasSubstr("took more than 1 s to look at a file, and was killed; what it reads is too slow"));
  EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_TRUE(worker.ask(worker::Look{"fine"}).ok());
}

INSTANTIATE_TEST_SUITE_P(StopPatience, LateWorker, testing::Values(milliseconds(10'000), milliseconds(40)));

// A request may take minutes; one that is stopped is not waited for as long.
TEST(Worker, OneThatIsStoppedIsKilledAndAnotherOneAsked) {
  Worker::Setting patient = setting(kReal);
  patient.stop_patience = milliseconds(200);
  Worker worker(patient);
  ASSERT_TRUE(worker.start().ok());
  const pid_t first = worker.pid();
  ASSERT_EQ(::kill(first, SIGSTOP), 0);
  EXPECT_TRUE(worker.ask(worker::Look{"/"}).ok());
  EXPECT_NE(worker.pid(), first);
  EXPECT_NE(::kill(first, 0), 0);
  EXPECT_THAT(worker.take_events(), ElementsAre(HasSubstr("the worker was stopped while it was to look at a file")));
}

TEST(Worker, CancelInterruptsARequest) {
  const UniqueFd cancel(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Worker::Setting cancelled = setting(STAB_FAKE_WORKER);
  cancelled.cancel_fd = cancel.get();
  Worker worker(cancelled);
  std::thread later([&] {
    ::usleep(200'000);
    const uint64_t one = 1;
    EXPECT_EQ(::write(cancel.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  });
  const auto asked = worker.ask(worker::Look{"hang"});
  later.join();
  ASSERT_FALSE(asked.ok());
  EXPECT_EQ(asked.error().code, ErrorCode::kBusy);
}

TEST(Worker, AnswersThatNoWorkerGivesAreNone) {
  for (const char* wrong : {"garbage", "long", "many", "serial"}) {
    Worker worker(setting(STAB_FAKE_WORKER));
    const auto asked = worker.ask(worker::Look{wrong});
    ASSERT_FALSE(asked.ok()) << wrong;
    EXPECT_EQ(asked.error().code, ErrorCode::kSystem);
    EXPECT_THAT(asked.error().message, HasSubstr("gave an answer that Stab's worker never gives")) << wrong;
    EXPECT_TRUE(worker.ask(worker::Look{"fine"}).ok()) << wrong;
  }
  Worker worker(setting(STAB_FAKE_WORKER));
  const auto terminal = worker.ask(worker::Look{"terminal"});
  EXPECT_EQ(terminal.error().message, "?[2J cleared");
  EXPECT_EQ(terminal.error().code, ErrorCode::kSystem) << "a worker has no say in what is lost";
  const auto found = find_in_path(worker, "/usr/bin:/bin", "sh");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("not asked for"));
}

TEST(Worker, WhatCantBeStartedSaysSo) {
  Worker worker(setting("/nonexistent/stab-worker"));
  EXPECT_THAT(worker.start().error().message, HasSubstr("start '/nonexistent/stab-worker'"));
}

// Without any group to hold trials, everything below the broker is a trial's, but for this.
TEST(Worker, TheEndOfATrialLeavesIt) {
  const TemporaryDirectory directory;
  const auto broker = own_broker(directory.path() + "/broker");
  const auto tree = broker->ask(broker::MakeTree{.wanted = static_cast<uint32_t>(host::TreeKind::kAncestry)});
  ASSERT_TRUE(tree.ok());
  const uint32_t number = tree->answer.tree;
  Worker::Setting of_broker = setting(kReal);
  of_broker.start = started_by(*broker);
  Worker worker(of_broker);
  ASSERT_TRUE(worker.start().ok());
  const pid_t pid = worker.pid();
  const auto state = broker->ask(broker::TreeState{.tree = number});
  ASSERT_TRUE(state.ok());
  EXPECT_FALSE(state->answer.flags & broker::Answer::kAlive);
  EXPECT_TRUE(end_at_broker(*broker, {.tree = number}, milliseconds(1000)).ok());
  EXPECT_TRUE(worker.ask(worker::Look{"/"}).ok());
  EXPECT_EQ(worker.pid(), pid);
}

// A library on a file system that doesn't answer keeps an experiment once, and not once for each file.
TEST(CachedFiles, NoMoreAreReadAnewOnceOneTakesTooLong) {
  Worker::Setting late_soon = setting(STAB_FAKE_WORKER);
  late_soon.limit = milliseconds(200);
  Worker worker(late_soon);
  const auto files = [](const std::vector<std::string>& paths) {
    SeenFiles out;
    for (const std::string& path : paths) out[path].bytes = 1;
    return out;
  };
  EXPECT_TRUE(read_files_anew(worker, files({"a", "denied", "e"}))) << "what can't be read keeps the others from nothing";
  EXPECT_TRUE(worker.take_events().empty());
  EXPECT_FALSE(read_files_anew(worker, files({"a", "b-hang", "c-hang", "d-hang"})));
  EXPECT_EQ(worker.take_events().size(), 1u);
  EXPECT_FALSE(read_files_anew(worker, files({"a", "end", "z-hang"}))) << "it ended, and the second one, too";
  EXPECT_EQ(worker.take_events().size(), 2u);
}

TEST(CachedFiles, NoMoreAreLookedAtOnceOneTakesTooLong) {
  Worker::Setting late_soon = setting(STAB_FAKE_WORKER);
  late_soon.limit = milliseconds(200);
  Worker worker(late_soon);
  SeenFiles seen;
  seen["known-hang"].bytes = 7;
  look_at_files(worker, {"known-hang", "a", "denied", "b", "c-hang", "d", "e-hang"}, seen);
  EXPECT_EQ(worker.take_events().size(), 1u);
  std::vector<std::string> paths;
  for (const auto& [path, file] : seen) paths.push_back(path);
  EXPECT_THAT(paths, ElementsAre("a", "b", "known-hang"));
  EXPECT_EQ(seen["known-hang"].bytes, 7u) << "what is known is not looked at again";
}

}  // namespace
}  // namespace stab::engine
