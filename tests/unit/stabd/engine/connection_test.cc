// What another machine says over a connection: sizes are bounded, and believed only as far as bytes come.
#include "stabd/engine/machines/connection.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "stabd/engine/machines/process_engine.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

const std::string kNoBytesHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

Status receive(const std::string& bytes, uint64_t most, std::string& name) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  UniqueFd from(ends[0]), to(ends[1]);
  EXPECT_EQ(::write(to.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  to.reset();
  return receive_files(from.get(), most, [&](const std::string& came, const std::string&) {
    name = came;
    return Status();
  });
}

long most_memory_kib() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

TEST(Connection, AnnouncedBytesTakeNoMemory) {
  const long before = most_memory_kib();
  std::string name;
  const std::string head = "large " + std::to_string(kMostFileBytes) + " " + kNoBytesHash + "\n";
  const Status cut = receive(head + "and no more", kMostFileBytes, name);
  EXPECT_TRUE(cut.ok()) << cut.error().message;
  EXPECT_EQ(name, "") << "what was cut off nobody has";
  EXPECT_LT(most_memory_kib() - before, 256 << 10);
}

TEST(Connection, MoreThanIsTakenIsRefusedInWords) {
  std::string name;
  const Status refused = receive("part 1001 " + kNoBytesHash + "\n", 1000, name);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(refused.error().message,
            "'part' from the other end has 1001 bytes, and at most 1000 are taken; a block of fewer cells, or one that records "
            "no epochs and samples, makes smaller parts");
  EXPECT_TRUE(receive("empty 0 " + kNoBytesHash + "\n", 0, name).ok());
  EXPECT_EQ(name, "empty");
}

// A worker of slot 0, epoch 1, that is a shell script.
class ProcessEngineTest : public testing::Test {
 protected:
  ProcessEngineTest() : spool_(*Spool::open(directory_.path() + "/spool")) {}
  void start(const std::string& script) {
    const std::string worker = directory_.write("stabctl", "#!/bin/sh\n" + script + "\nexec sleep 20\n", 0755);
    engine_ = std::make_unique<ProcessEngine>(ProcessEngine::Setting{{}, worker, false, &spool_});
    ASSERT_TRUE(engine_->start(0, 1, "").ok());
  }
  // Printed by a shell: an empty file.
  static std::string empty_file(const std::string& what) {
    return "printf '" + slot_file(0, 1, what) + " 0 " + kNoBytesHash + "\\n'\n";
  }
  // Of the epoch, as the engine has put it there; empty: none has come within 20 s.
  std::string end_note() {
    for (int i = 0; i < 1000; ++i) {
      if (const auto note = spool_.note(slot_file(0, 1, "end")); note && *note) return **note;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return "";
  }

  TemporaryDirectory directory_;
  Spool spool_;
  std::unique_ptr<ProcessEngine> engine_;
};

// It would only be found to be silent, and be started again and again.
TEST_F(ProcessEngineTest, AWorkerThatSendsTooMuchIsRefusedWithThatReason) {
  start("printf 'slot-000.epoch-0001.facts 70000000 " + kNoBytesHash + "\\n'");
  const std::string end = end_note();
  EXPECT_NE(end.find("has 70000000 bytes, and at most 67108864 are taken"), std::string::npos) << end;
}

// The spool doesn't take it: the worker has done nothing wrong.
TEST_F(ProcessEngineTest, WhatWeCannotKeepIsNoFaultOfTheWorkers) {
  std::filesystem::create_directory(directory_.path() + "/spool/" + slot_file(0, 1, "facts"));
  start(empty_file("facts") + "while printf x; do sleep 0.05; done\nexit");
  bool lives = true;
  for (int i = 0; i < 1000 && lives; ++i) {
    lives = *engine_->lives(0, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(lives) << "nobody reads what it says";
  EXPECT_FALSE(spool_.has(slot_file(0, 1, "end")));
}

// Whoever is of its user on its machine can take its place, and would fill the controller's disk.
TEST_F(ProcessEngineTest, AWorkerSendsNotesAndAsManyPartsAsItHasBlocks) {
  ASSERT_TRUE(spool_.put_note(slot_file(0, 1, "grant"), "identity\n3 5").ok());
  constexpr int kMost = 2 * 2 + 16;
  std::string script = empty_file("facts") + empty_file("grant") + empty_file("verdict") + empty_file("anything");
  for (int i = 0; i <= kMost + 5; ++i) script += empty_file(part_file({i, 3, kNoBytesHash}));
  start(script);
  const std::string end = end_note();
  EXPECT_NE(end.find("more parts than its blocks have"), std::string::npos) << end;
  const std::vector<std::string> names = *spool_.names();
  const auto parts = std::count_if(names.begin(), names.end(),
                                   [](const auto& name) { return parse_part_file(parse_slot_file(name)->what).has_value(); });
  EXPECT_EQ(parts, kMost);
  EXPECT_TRUE(spool_.has(slot_file(0, 1, "facts")));
  EXPECT_FALSE(spool_.has(slot_file(0, 1, "anything")));
  EXPECT_FALSE(spool_.has(slot_file(0, 1, "verdict")));
  EXPECT_EQ(*spool_.note(slot_file(0, 1, "grant")), "identity\n3 5") << "what the controller wrote is another's now";
}

TEST_F(ProcessEngineTest, ANoteIsShort) {
  start("head -c 1048577 /dev/zero > $0.note; printf '" + slot_file(0, 1, "facts") +
        " 1048577 %s\\n' $(sha256sum < $0.note | cut -c 1-64); cat $0.note");
  const std::string end = end_note();
  EXPECT_NE(end.find("a note of more than 1 MiB"), std::string::npos) << end;
  EXPECT_FALSE(spool_.has(slot_file(0, 1, "facts")));
}

}  // namespace
}  // namespace stab::engine
