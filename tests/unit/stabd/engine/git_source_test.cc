// What git is asked about submodules while a source is fetched: an answer is taken, a question that fails or is stopped is none.
// git is a script here, which answers each question as the test wants it.
#include "stabd/engine/build/git_source.h"

#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "stabd/engine/build/command.h"
#include "tests/places.h"
#include "tests/unit/stabd/engine/own_broker.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GitSource : public testing::Test {
 protected:
  GitSource() : cancel_(::eventfd(0, EFD_CLOEXEC)) {
    auto tree = TreeAtBroker::create(*broker_);
    EXPECT_TRUE(tree.ok());
    tree_.emplace(std::move(*tree));
    laboratory_.clock = &clock_;
    laboratory_.tree = &*tree_;
    laboratory_.cancel_fd = cancel_.get();
    worker_.emplace(Worker::Setting{started_by(*broker_), STAB_PROGRAMS "/stab-worker", {}, -1, -1, {}});
    place_.installation.bin = directory_.path() + "/bin";
    place_.plan_directory = directory_.path();
    place_.worker = &*worker_;
    build_.source.git = "repository";
    directory_.write("clone/.gitmodules", "which the script's answers stand for");
  }

  // `cases`: "PATTERN) COMMANDS ;;" for each question, before those that go well without a word.
  void git_is(const std::string& cases) {
    directory_.write("bin/git",
                     "#!/bin/sh\n"
                     "echo \"$*\" >> " +
                         directory_.path() +
                         "/asked\n"
                         "echo warning: something beside the answer >&2\n"
                         "case \" $* \" in\n" +
                         cases + "\nesac\nexit 0\n",
                     0755);
  }

  bool fetched() {
    const auto done = fetch_git(laboratory_, place_, build_, std::string(40, 'a'), directory_.path() + "/clone", row_);
    EXPECT_TRUE(done.ok()) << done.error().text();
    return done && *done;
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::unique_ptr<broker::Client> broker_ = own_broker(directory_.path() + "/broker");
  std::optional<TreeAtBroker> tree_;
  UniqueFd cancel_;
  Laboratory laboratory_;
  std::optional<Worker> worker_;
  BuildPlace place_;
  plan::Build build_;
  store::BuildRow row_;
};

constexpr char kNamesOne[] = R"(*" .gitmodules "*) printf 'submodule.a b.path\nlib*\0submodule.a b.url\n../x\0' ;;
*" ls-tree "*) printf '160000 commit bbbb\tlib*\0' ;;
)";

TEST_F(GitSource, WarningsAreNoPartOfAnAnswer) {
  git_is(kNamesOne);
  EXPECT_TRUE(fetched()) << row_.log;
  EXPECT_THAT(directory_.read("asked"), HasSubstr("/clone submodule --quiet update -- lib*\n"));
  EXPECT_THAT(row_.log, HasSubstr("warning: something beside"));
}

TEST_F(GitSource, AQuestionThatFailsIsNoAnswer) {
  for (const char* question : {" -z --list", " status ", " stab-ask", " .gitmodules ", " ls-tree ", " remote.origin.url "}) {
    git_is("*\"" + std::string(question) + "\"*) echo fatal: no idea >&2; exit 128 ;;\n" + kNamesOne);
    EXPECT_FALSE(fetched()) << question;
    EXPECT_THAT(row_.log, HasSubstr("fatal: no idea")) << question;
    EXPECT_THAT(row_.log, HasSubstr("git: exit status 128")) << question;
  }
}

// A clone without its submodules must not pass for the source because somebody stopped the questions.
TEST_F(GitSource, AQuestionThatIsStoppedIsNoAnswer) {
  for (const char* question : {" -z --list", " status ", " stab-ask", " .gitmodules ", " ls-tree ", " remote.origin.url "}) {
    const std::string reached = directory_.path() + "/reached";
    git_is("*\"" + std::string(question) + "\"*) touch " + reached + "; sleep 100 ;;\n" + kNamesOne);
    std::thread stop([&] {
      while (::access(reached.c_str(), F_OK) != 0) ::usleep(1000);
      const uint64_t one = 1;
      EXPECT_EQ(::write(cancel_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    });
    EXPECT_FALSE(fetched()) << question;
    stop.join();
    EXPECT_THAT(row_.log, HasSubstr("git: cancelled")) << question;
    uint64_t taken = 0;
    EXPECT_EQ(::read(cancel_.get(), &taken, sizeof taken), static_cast<ssize_t>(sizeof taken));
    std::filesystem::remove(reached);
  }
}

// git's checkout says "unable to read" and ends with 0.
TEST_F(GitSource, WhatIsNotWrittenIsNoSource) {
  git_is(R"(*" status "*) printf ' D a b\0 D c\0' ;;)");
  EXPECT_FALSE(fetched());
  EXPECT_THAT(row_.log, HasSubstr("git has not written 'a b' and 1 other file as the commit has it"));
  // What git takes for changed may be as a checkout writes it; " stab-ask " says which is not.
  git_is(R"(*" status "*) printf ' M a b\0 M c\0' ;;)");
  EXPECT_TRUE(fetched()) << row_.log;
  git_is(R"(*" status "*) printf ' M a b\0 M c\0' ;; *" stab-ask a b c"*) printf 'c\0' ;;)");
  row_.log.clear();
  EXPECT_FALSE(fetched());
  EXPECT_THAT(row_.log, HasSubstr("git has not written 'c' as the commit has it"));
}

TEST_F(GitSource, AsManySubmodulesAsNoProjectHas) {
  git_is("*\" .gitmodules \"*) i=0; while [ $i -le 1000 ]; do printf \"submodule.$i.path\\n$i\\0\"; i=$((i + 1)); done ;;");
  EXPECT_FALSE(fetched());
  EXPECT_THAT(row_.log, HasSubstr("more than 1000 submodules"));
  // Who typed a command of one line has no plan to write it into.
  EXPECT_THAT(row_.log, HasSubstr("submodules = false in the source of a plan ('stabctl compare --save FILE' writes one)"));
  EXPECT_THAT(directory_.read("asked"), Not(HasSubstr("ls-tree")));
}

TEST_F(GitSource, WhatGoesOnForHalfAnHourIsStopped) {
  git_is(kNamesOne);
  row_.duration_ns = std::chrono::nanoseconds(std::chrono::minutes(30)).count();
  EXPECT_FALSE(fetched());
  EXPECT_THAT(row_.log, HasSubstr("not there after 30 minutes"));
}

class Command : public GitSource {
 protected:
  Result<CommandOutput> shell(const std::string& script, Stdout out) {
    host::LaunchRequest request;
    request.exec_path = "/bin/sh";
    request.directory = directory_.path();
    request.argv = {"sh", "-c", script};
    request.env = {"PATH=/usr/bin:/bin"};
    return run_command(laboratory_, request, std::chrono::seconds(20), out);
  }
};

TEST_F(Command, AnAnswerIsApartFromTheLogAndWhole) {
  const auto apart = shell("echo answer; echo words >&2", Stdout::kApart);
  ASSERT_TRUE(apart.ok()) << apart.error().text();
  EXPECT_EQ(apart->answer, "answer\n");
  EXPECT_EQ(apart->log, "words\n");
  const auto together = shell("echo answer; echo words >&2", Stdout::kInLog);
  ASSERT_TRUE(together.ok());
  EXPECT_EQ(together->answer, "");
  EXPECT_EQ(together->log, "answer\nwords\n");
  const auto large = shell("head -c 4194304 /dev/zero", Stdout::kApart);
  ASSERT_TRUE(large.ok());
  EXPECT_TRUE(large->ok);
  EXPECT_EQ(large->answer.size(), size_t{4} << 20);
  const auto larger = shell("head -c 4194305 /dev/zero", Stdout::kApart);
  ASSERT_TRUE(larger.ok());
  EXPECT_FALSE(larger->ok);
  EXPECT_EQ(larger->failure, "it answers with more than 4 MiB");
}

}  // namespace
}  // namespace stab::engine
