// The daemon's engine and the submitter's deputy over a real connection: what one writes the other's spool shows; a deputy that
// dies is followed by one that shows it again; one that sends what no deputy sends is believed nothing.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "stabd/engine/machines/deputy.h"
#include "stabd/engine/machines/deputy_engine.h"
#include "stabd/worker/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

// A "stabctl" that does what a worker does of the spool: facts, one part, its end.
constexpr char kWorker[] = R"(#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --slot) slot=$2;; --epoch) epoch=$2;; --spool) spool=$2;; esac; shift; done
[ -f $spool/hold ] && exec sleep 100
name=$spool/$(printf "slot-%03d.epoch-%04d" $slot $epoch)
seal() { printf "%s" "$1"; printf "\n%s\n" $(printf "%s" "$1" | sha256sum | cut -c1-64); }
seal "machine.name=here" > $spool/.facts.$slot; mv $spool/.facts.$slot $name.facts
printf "a part of slot %s" $slot > $spool/.part.$slot
mv $spool/.part.$slot $name.part-000000.$slot.$(sha256sum < $spool/.part.$slot | cut -c1-64)
seal done > $spool/.end.$slot; mv $spool/.end.$slot $name.end
)";

// The deputy in a thread of ours.
class DeputyThread final : public DeputyProcess {
 public:
  DeputyThread(UniqueFd ours, UniqueFd its, std::string stabctl, std::string scratch)
      : DeputyProcess(std::move(ours)), its_(std::move(its)) {
    thread_ = std::thread([this, stabctl, scratch] {
      const SystemClock clock;
      (void)run_deputy({its_.get(), its_.get(), stabctl, scratch, &clock});
      ::shutdown(its_.get(), SHUT_RDWR);
    });
  }
  ~DeputyThread() override {
    ::shutdown(socket.get(), SHUT_RDWR);
    thread_.join();
  }

 private:
  UniqueFd its_;
  std::thread thread_;
};

// Says these bytes, and reads whatever comes.
class Stranger final : public DeputyProcess {
 public:
  Stranger(UniqueFd ours, UniqueFd its, std::function<void(int)> says) : DeputyProcess(std::move(ours)), its_(std::move(its)) {
    thread_ = std::thread([this, says] {
      says(its_.get());
      char byte[4096];
      while (::read(its_.get(), byte, sizeof byte) > 0) {
      }
    });
  }
  ~Stranger() override {
    ::shutdown(socket.get(), SHUT_RDWR);
    thread_.join();
  }

 private:
  UniqueFd its_;
  std::thread thread_;
};

class DeputyTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    const std::string stabctl = directory_.path() + "/stabctl";
    FILE* file = std::fopen(stabctl.c_str(), "w");
    std::fputs(kWorker, file);
    std::fclose(file);
    std::filesystem::permissions(stabctl, std::filesystem::perms::owner_all);
    auto spool = Spool::open(directory_.path() + "/daemon");
    ASSERT_TRUE(spool.ok());
    spool_.emplace(*std::move(spool));
    ASSERT_TRUE(*spool_->claim(kSpoolExperiment, std::string(64, 'a') + "\n1"));
    ASSERT_TRUE(spool_->put(kSpoolBundle, "bundle").ok());
  }
  std::pair<UniqueFd, UniqueFd> ends() {
    int two[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, two), 0);
    return {UniqueFd(two[0]), UniqueFd(two[1])};
  }
  DeputyEngine::Setting setting() {
    DeputyEngine::Setting setting;
    setting.launch = [this]() -> Result<std::unique_ptr<DeputyProcess>> {
      ++launches_;
      auto [ours, its] = ends();
      return std::unique_ptr<DeputyProcess>(
          std::make_unique<DeputyThread>(std::move(ours), std::move(its), directory_.path() + "/stabctl", directory_.path()));
    };
    setting.name = "abc-4";
    setting.identity = std::string(64, 'a');
    setting.plan_text =
        "[experiment]\nname = \"x\"\nseed = 1\nreplicates = 4\n[[program]]\nname = \"p\"\nrun = [\"true\"]\n[machines]\ncount = "
        "2\n" +
        more_;
    setting.spool = &*spool_;
    setting.clock = &clock_;
    setting.blocks_of = {2, 2};
    setting.answers_within = std::chrono::seconds(20);
    setting.between_starts = std::chrono::milliseconds(0);
    return setting;
  }
  Status grant(DeputyEngine& engine, int slot, int64_t epoch) {
    EXPECT_TRUE(spool_->put_note(slot_file(slot, epoch, "grant"), "identity\n0").ok());
    return engine.start(slot, epoch, "");
  }
  std::string part(int slot, int64_t epoch) const {
    return slot_file(slot, epoch,
                     part_file({0, static_cast<uint32_t>(slot), worker::sha256("a part of slot " + std::to_string(slot))}));
  }
  template <class Condition>
  bool within_seconds(Condition condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  std::string own() const { return directory_.path() + "/stab-spool-" + std::to_string(::geteuid()) + "-abc-4"; }

  TemporaryDirectory directory_;
  SystemClock clock_;
  std::optional<Spool> spool_;
  std::string more_;
  int launches_ = 0;
};

TEST_F(DeputyTest, WorkersFilesComeIntoTheDaemonsSpool) {
  DeputyEngine engine(setting());
  for (const int slot : {0, 1}) {
    const Status started = grant(engine, slot, 1);
    ASSERT_TRUE(started.ok()) << started.error().message;
    ASSERT_TRUE(within_seconds([&] { return spool_->has(part(slot, 1)) && spool_->has(slot_file(slot, 1, "end")); }));
    EXPECT_EQ(**spool_->note(slot_file(slot, 1, "facts")), "machine.name=here");
  }
  EXPECT_TRUE(within_seconds([&] { return !*engine.lives(0, 1) && !*engine.lives(1, 1); }));
  // The part is on our disk, so that the submitter's spool has it no more.
  EXPECT_TRUE(within_seconds([&] { return !std::filesystem::exists(own() + "/" + part(0, 1)); }));
  // A verdict goes to where the worker looks.
  ASSERT_TRUE(spool_->put_note(slot_file(0, 1, "verdict"), "go").ok());
  EXPECT_TRUE(within_seconds([&] { return std::filesystem::exists(own() + "/" + slot_file(0, 1, "verdict")); }));
  EXPECT_EQ(launches_, 1);
  engine.forget();
}

TEST_F(DeputyTest, WhatADeadDeputyHasLeftIsShownByTheNext) {
  DeputyEngine::Setting first = setting();
  first.newest = {{0, 1}, {1, 1}};
  {
    DeputyEngine engine(first);
    ASSERT_TRUE(grant(engine, 1, 1).ok());
    ASSERT_TRUE(within_seconds([&] { return spool_->has(slot_file(1, 1, "end")); }));
  }
  // A worker that nobody watched: a job that has ended meanwhile.
  Spool users = *Spool::open(own());
  ASSERT_TRUE(users.put(part(0, 1), "a part of slot 0").ok());
  DeputyEngine engine(first);
  EXPECT_FALSE(spool_->has(part(0, 1)));
  EXPECT_TRUE(within_seconds([&] { return !*engine.lives(0, 1); }));
  EXPECT_TRUE(spool_->has(part(0, 1))) << "the last files come before the word that no more will";
  engine.forget();
}

// The last part has come, and the deputy ends before it is told that there is no more to do.
TEST_F(DeputyTest, NothingIsLeftOfWhatIsOverWhenTheDeputyHasEnded) {
  DeputyEngine::Setting set = setting();
  int ours = -1;
  set.launch = [&ours, launch = set.launch]() -> Result<std::unique_ptr<DeputyProcess>> {
    STAB_TRY(std::unique_ptr<DeputyProcess> process, launch());
    ours = process->socket.get();
    return process;
  };
  {
    DeputyEngine engine(set);
    ASSERT_TRUE(grant(engine, 0, 1).ok());
    ASSERT_TRUE(within_seconds([&] { return spool_->has(slot_file(0, 1, "end")); }));
    ASSERT_TRUE(std::filesystem::exists(own()));
    ASSERT_EQ(::shutdown(ours, SHUT_RDWR), 0);
    // Until the engine has seen it: the word is heard by nobody then.
    ASSERT_TRUE(within_seconds([&] { return !engine.has_deputy(); }));
    engine.forget();
    EXPECT_EQ(launches_, 2);
  }
  EXPECT_FALSE(std::filesystem::exists(own()));
}

// The daemon says that all is over and goes, while the deputy has something to say that nobody hears any more.
TEST_F(DeputyTest, NothingIsLeftOfWhatIsOverWhenTheDaemonGoesAtOnce) {
  DeputyEngine::Setting set = setting();
  auto [ours, its] = ends();
  FileSender daemon(ours.get());
  ASSERT_TRUE(daemon.send_bytes(kDeputyPlan, sealed(set.name + "\n" + set.identity + "\n" + set.plan_text)).ok());
  std::thread deputy([this, fd = its.get()] {
    (void)run_deputy({fd, fd, directory_.path() + "/stabctl", directory_.path(), &clock_});
  });
  // The whole of it: what it can't write to its end would end it before it hears the rest.
  ASSERT_TRUE(within_seconds([&] {
    char text[4096];
    const ssize_t got = ::recv(ours.get(), text, sizeof text, MSG_PEEK | MSG_DONTWAIT);
    const std::string_view said(text, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    const size_t line = said.find('\n'), size = said.find(' ');
    return line != said.npos && said.size() >= line + 1 + std::strtoul(std::string(said.substr(size)).c_str(), nullptr, 10);
  })) << "it says that it is ready";
  ASSERT_TRUE(std::filesystem::exists(own()));
  ASSERT_EQ(::shutdown(ours.get(), SHUT_RD), 0);
  // Both in one message, or the deputy may end at its answer to the first before the second is sent.
  int line[2];
  ASSERT_EQ(::pipe(line), 0);
  const UniqueFd out(line[0]), in(line[1]);
  FileSender both(in.get());
  ASSERT_TRUE(both.send_bytes(slot_file(0, 1, "start"), sealed("")).ok());
  ASSERT_TRUE(both.send_bytes(kDeputyOver, sealed("")).ok());
  char text[4096];
  const ssize_t size = ::read(out.get(), text, sizeof text);
  ASSERT_EQ(::send(ours.get(), text, static_cast<size_t>(size), 0), size);
  ::shutdown(ours.get(), SHUT_WR);
  deputy.join();
  EXPECT_FALSE(std::filesystem::exists(own()));
}

TEST_F(DeputyTest, AStopEndsTheWorkerAndItsEndIsTold) {
  Spool users = *Spool::open(own());
  std::filesystem::permissions(own(), std::filesystem::perms::owner_all);
  ASSERT_TRUE(users.put("hold", "").ok());
  DeputyEngine engine(setting());
  ASSERT_TRUE(grant(engine, 0, 1).ok());
  EXPECT_TRUE(*engine.lives(0, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_TRUE(*engine.lives(0, 1));
  engine.stop(0, 1);
  EXPECT_TRUE(within_seconds([&] { return !*engine.lives(0, 1); }));
}

TEST_F(DeputyTest, ASpoolThatCantBeUsedIsTheReasonOfTheFailure) {
  more_ = "spool = \"/proc/nowhere\"\n";
  DeputyEngine engine(setting());
  const Status started = grant(engine, 0, 1);
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message.find("/proc/nowhere"), std::string::npos) << started.error().message;
  for (int i = 0; i < 10; ++i) (void)engine.lives(0, 1);
  const auto lives = engine.lives(0, 1);
  ASSERT_FALSE(lives.ok());
  EXPECT_NE(lives.error().message.find("/proc/nowhere"), std::string::npos);
}

TEST_F(DeputyTest, AnothersDirectoryUnderTheKnownNameIsNotUsed) {
  std::filesystem::create_directory(own());
  std::filesystem::permissions(own(), std::filesystem::perms::all);  // others could put files there
  DeputyEngine engine(setting());
  ASSERT_TRUE(grant(engine, 0, 1).ok());
  EXPECT_TRUE(within_seconds([&] { return spool_->has(part(0, 1)); }));
  EXPECT_TRUE(std::filesystem::is_empty(own()));
  engine.forget();
}

// The reason becomes the experiment's, which every answer about it has.
TEST_F(DeputyTest, AReasonIsShort) {
  for (const size_t bytes : {size_t{500'000}, size_t{2'000'000}}) {
    DeputyEngine::Setting one = setting();
    one.launch = [this, bytes]() -> Result<std::unique_ptr<DeputyProcess>> {
      auto [ours, its] = ends();
      return std::unique_ptr<DeputyProcess>(std::make_unique<Stranger>(std::move(ours), std::move(its), [bytes](int fd) {
        FileSender sender(fd);
        (void)sender.send_bytes(kDeputyReady, sealed(std::string(bytes, 'x')));
      }));
    };
    DeputyEngine engine(one);
    const Status started = grant(engine, 0, 1);
    ASSERT_FALSE(started.ok());
    EXPECT_LT(started.error().message.size(), 5000u);
    EXPECT_EQ(started.error().message.find("xxx") != std::string::npos, bytes < kMostNoteBytes) << started.error().message;
    engine.forget();
  }
}

// What a process of the submitter's could say in a deputy's place.
TEST_F(DeputyTest, AStrangerIsBelievedNothing) {
  const auto says = [this](std::function<void(FileSender&, int)> what) {
    DeputyEngine::Setting one = setting();
    one.most_file_bytes = 1000;
    one.launch = [this, what]() -> Result<std::unique_ptr<DeputyProcess>> {
      ++launches_;
      auto [ours, its] = ends();
      return std::unique_ptr<DeputyProcess>(std::make_unique<Stranger>(std::move(ours), std::move(its), [what](int fd) {
        FileSender sender(fd);
        (void)sender.send_bytes(kDeputyReady, sealed(""));
        (void)sender.send_bytes(slot_file(0, 1, "started"), sealed(""));
        what(sender, fd);
      }));
    };
    DeputyEngine engine(one);
    // It may be found out before it is asked for anything.
    (void)grant(engine, 0, 1);
    const int before = launches_;
    const bool ended = within_seconds([&] {
      (void)engine.lives(0, 1);
      return launches_ > before;
    });
    EXPECT_TRUE(ended) << "it was not ended";
  };
  const std::vector<std::string> before = *spool_->names();
  says([](FileSender& sender, int) { (void)sender.send_bytes(kSpoolBundle, "another one"); });
  says([](FileSender& sender, int) { (void)sender.send_bytes(slot_file(2, 1, "facts"), sealed("")); });
  says([](FileSender& sender, int) { (void)sender.send_bytes(slot_file(0, 2, "facts"), sealed("")); });
  says([](FileSender& sender, int) { (void)sender.send_bytes(slot_file(0, 1, "verdict"), sealed("go")); });
  says([](FileSender& sender, int) { (void)sender.send_bytes(slot_file(0, 1, "facts"), std::string(2000, 'x')); });
  says([](FileSender&, int fd) { (void)!::write(fd, "no file at all, whatever it may be\n", 35); });
  std::vector<std::string> after = *spool_->names();
  std::erase(after, slot_file(0, 1, "grant"));
  EXPECT_EQ(after, before);
  // Nor can it fill the disk with parts.
  says([](FileSender& sender, int) {
    for (int i = 0; i < 100; ++i)
      (void)sender.send_bytes(slot_file(0, 1, part_file({i, 0, worker::sha256(std::to_string(i))})), std::to_string(i));
  });
  after = *spool_->names();
  EXPECT_LE(
      std::count_if(after.begin(), after.end(), [](const std::string& name) { return name.find(".part-") != std::string::npos; }),
      20);
}

}  // namespace
}  // namespace stab::engine
