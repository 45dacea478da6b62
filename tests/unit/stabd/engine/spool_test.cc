// Names, seals and claims of the spool, and blocks dealt to slots.
#include "stabd/engine/machines/spool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "stabd/engine/build/slots.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

TEST(Slots, EachGetsEquallyManyWholeBlocks) {
  for (const int slots : {1, 2, 3, 7}) {
    const std::vector<int> dealt = deal_blocks(42, slots, 30);
    std::map<int, int> count;
    for (const int slot : dealt) ++count[slot];
    ASSERT_EQ(count.size(), static_cast<size_t>(slots));
    for (const auto& [slot, blocks] : count) EXPECT_LE(std::abs(blocks - 30 / slots), 1) << slots;
  }
}

TEST(Slots, MoreBlocksLeaveTheOthersWhereTheyAre) {
  const std::vector<int> few = deal_blocks(7, 4, 18), more = deal_blocks(7, 4, 40);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), more.begin()));
  EXPECT_NE(deal_blocks(8, 4, 40), more);
}

TEST(Slots, AreFrozen) {
  EXPECT_EQ(deal_blocks(1, 3, 9), (std::vector<int>{1, 2, 0, 2, 0, 1, 0, 2, 1}));
}

TEST(SpoolNames, AreReadBackAndNothingElseIs) {
  const std::string sha(64, 'a');
  const auto slot = parse_slot_file(slot_file(3, 12, "heartbeat"));
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->slot, 3);
  EXPECT_EQ(slot->epoch, 12);
  EXPECT_EQ(slot->what, "heartbeat");
  const auto part = parse_part_file(part_file({7, 12, sha}));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->number, 7);
  EXPECT_EQ(part->block, 12u);
  EXPECT_EQ(part->sha256, sha);
  for (const char* wrong : {"slot-3.epoch-0001.x", "slot-003.epoch-1.x", "slot--01.epoch-0001.x", "slot-003.epoch-0000.x",
                            "bundle", "slot-003.epoch-0001", "slot-003epoch-0001.x", "slot-99999999999.epoch-0001.x"})
    EXPECT_FALSE(parse_slot_file(wrong)) << wrong;
  for (const std::string& wrong : {"part-7.12." + sha, "part-000007.12." + sha.substr(1), "part-000007." + sha,
                                   "part-000007.12." + sha + "a", "part-000007.-1." + sha, std::string("facts")})
    EXPECT_FALSE(parse_part_file(wrong)) << wrong;
}

// A grant names binaries, which are run: whoever else can write into a spool decides what we run.
TEST(Spools, AreOursAlone) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/deep/spool";
  const mode_t before = ::umask(0);
  EXPECT_TRUE(Spool::open(path).ok());
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 077, 0u);
  EXPECT_TRUE(Spool::open(path).ok()) << "the one that is there";
  for (const mode_t mode : {0720, 0702}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto opened = Spool::open(path);
    ASSERT_FALSE(opened.ok()) << mode;
    EXPECT_EQ(opened.error().code, ErrorCode::kDenied);
    EXPECT_NE(opened.error().message.find("chmod go-w"), std::string::npos) << opened.error().message;
  }
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  EXPECT_TRUE(Spool::open(path).ok()) << "others may read";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  const auto opened = Spool::open(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("belongs to user 12345"), std::string::npos) << opened.error().message;
}

// Its owner could put another spool there after the look.
TEST(Spools, AreInNobodyElsesFolder) {
  const TemporaryDirectory folder;
  const std::string above = folder.path() + "/theirs", path = above + "/deep/spool";
  ASSERT_TRUE(Spool::open(path).ok());
  ASSERT_EQ(::chmod(above.c_str(), 0777), 0);
  auto opened = Spool::open(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kDenied);
  EXPECT_NE(opened.error().message.find("others can write into '" + above), std::string::npos) << opened.error().message;
  ASSERT_EQ(::chmod(above.c_str(), 01777), 0);
  EXPECT_TRUE(Spool::open(path).ok()) << "as in /tmp nobody else renames what is ours";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  ASSERT_EQ(::chmod(above.c_str(), 0755), 0);
  ASSERT_EQ(::chown(above.c_str(), 12345, 12345), 0);
  opened = Spool::open(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("belongs to user 12345"), std::string::npos) << opened.error().message;
}

TEST(Spools, StayWhatWasLookedAt) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/spool", away = folder.path() + "/away";
  auto spool = Spool::open(path);
  ASSERT_TRUE(spool.ok());
  ASSERT_TRUE(spool->put_note("grant", "mine").ok());
  std::filesystem::rename(path, away);
  std::filesystem::create_directory(path);
  std::ofstream(path + "/grant") << sealed("another's");
  EXPECT_EQ(*spool->note("grant"), "mine");
  ASSERT_TRUE(spool->put_note("next", "mine").ok());
  EXPECT_TRUE(std::filesystem::exists(away + "/next"));
  EXPECT_FALSE(spool->has("another"));
}

TEST(Spools, WaitForNoPipeAndFollowNoLink) {
  const TemporaryDirectory folder;
  auto spool = Spool::open(folder.path() + "/spool");
  ASSERT_TRUE(spool.ok());
  ASSERT_EQ(::mkfifo(spool->path_of("pipe").c_str(), 0600), 0);
  const auto pipe = spool->note("pipe");
  ASSERT_TRUE(pipe.ok());
  EXPECT_FALSE(pipe->has_value());
  ASSERT_EQ(::symlink("/etc/passwd", spool->path_of("link").c_str()), 0);
  EXPECT_FALSE(spool->note("link").ok());
}

TEST(SpoolNotes, AreWholeOrNotThere) {
  const std::string note = sealed("first\nsecond");
  EXPECT_EQ(unsealed(note), "first\nsecond");
  EXPECT_EQ(unsealed(sealed("")), "");
  for (size_t length = 0; length < note.size(); ++length) EXPECT_FALSE(unsealed(note.substr(0, length))) << length;
  std::string other = note;
  other[2] = 'x';
  EXPECT_FALSE(unsealed(other));
}

TEST(SpoolNotes, ThatNobodyWouldReadAreNotPut) {
  const TemporaryDirectory directory;
  auto spool = Spool::open(directory.path() + "/spool");
  ASSERT_TRUE(spool.ok());
  const std::string longest(kMostNoteBytes - (sealed("").size()), 'x');
  ASSERT_TRUE(spool->put_note("longest", longest).ok());
  EXPECT_EQ(*spool->note("longest"), longest);
  const Status put = spool->put_note("longer", longest + "x");
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().code, ErrorCode::kBadInput);
  EXPECT_EQ(put.error().message, "note 'longer' would have 1048577 bytes, and a note has at most 1048576");
  EXPECT_EQ(*spool->names(), std::vector<std::string>{"longest"});
}

TEST(SpoolTest, PutsWholeFilesAndLetsOneClaim) {
  const TemporaryDirectory directory;
  auto spool = Spool::open(directory.path() + "/new/spool");
  ASSERT_TRUE(spool.ok()) << spool.error().message;
  std::vector<std::string> heard;
  spool->listen([&](const std::string& name, const std::string&) { heard.push_back(name); });
  ASSERT_TRUE(spool->put_note("b", "text").ok());
  ASSERT_TRUE(spool->put("a", "bytes").ok());
  EXPECT_TRUE(*spool->claim("c", "me"));
  EXPECT_FALSE(*spool->claim("c", "you"));
  EXPECT_EQ(**spool->note("c"), "me");
  EXPECT_EQ(**spool->note("b"), "text");
  EXPECT_FALSE(spool->note("a")->has_value());
  EXPECT_FALSE(spool->note("none")->has_value());
  EXPECT_EQ(*spool->names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(heard, (std::vector<std::string>{"b", "a", "c"}));
  ASSERT_TRUE(spool->set_aside("a").ok());
  EXPECT_TRUE(spool->set_aside("a").ok());
  EXPECT_TRUE(spool->remove("b").ok());
  EXPECT_EQ(*spool->names(), std::vector<std::string>{"c"});
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/new/spool/aside/a"));
}

TEST(SpoolTest, ThatCantBeWrittenSaysSoAndLeavesNothing) {
  const TemporaryDirectory directory;
  auto spool = Spool::open(directory.path() + "/spool");
  ASSERT_TRUE(spool.ok());
  std::filesystem::remove_all(directory.path() + "/spool");
  const Status put = spool->put("a", "bytes");
  ASSERT_FALSE(put.ok());
  EXPECT_NE(put.error().message.find("needs room and write access"), std::string::npos) << put.error().message;
  EXPECT_FALSE(Spool::open("/proc/none").ok());
}

}  // namespace
}  // namespace stab::engine
