#include "stabd/engine/experiment/kept_names.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "stabd/engine/build/temporary_places.h"
#include "stabd/worker/empty_directory.h"

namespace stab::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

TEST(NamesBelow, AreThoseThatBeginAPath) {
  EXPECT_THAT(names_below(R"(run = ["/tmp/a/prog", "--out=/tmp/b", "x:/tmp//c:/tmp/a"])", "/tmp"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names_below("/home/me/tmp/x /var/tmp/y ~/tmp/z my-tmp/x /tmp /tmp/", "/tmp"), IsEmpty());
  EXPECT_THAT(names_below("/var/tmp/y", "/var/tmp"), ElementsAre("y"));
  EXPECT_THAT(names_below("../tmp/x /tmp/..", "/tmp"), ElementsAre("x", ".."));
}

TEST(KeptNames, AreDirectoriesThatAreThere) {
  std::string folder = "/tmp/stab-kept-names-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string name = fs::path(folder).filename().string();
  std::ofstream(folder + "-file") << "";
  EXPECT_THAT(kept_names("run = [\"" + folder + "/prog\"]", {}, {"own"}).names, ElementsAre("own", name));
  EXPECT_THAT(kept_names("", {folder + "/deep/er"}, {}).names, ElementsAre(name));
  EXPECT_EQ(kept_names(folder, {}, {}).why_shared, "");
  EXPECT_EQ(kept_names(folder + "-file", {}, {}).why_shared,
            "the plan names '/tmp/" + name + "-file', which is no directory there");
  EXPECT_THAT(kept_names(folder + "-missing", {}, {}).why_shared, HasSubstr("which is no directory there"));
  EXPECT_THAT(kept_names("/tmp/../etc", {}, {}).why_shared, HasSubstr("which is no directory there"));
  EXPECT_EQ(kept_names("", {"/var/tmp/x/plan"}, {}).why_shared, "the experiment needs '/var/tmp/x'");
  EXPECT_THAT(kept_names("", {}, {"1", "2", "3", "4", "5", "6", "7", "8", "9"}).why_shared, HasSubstr("9 directories"));
  fs::remove(folder + "-file");
  ASSERT_EQ(::symlink("/etc", (folder + "-file").c_str()), 0);
  EXPECT_THAT(kept_names(folder + "-file", {}, {}).why_shared, HasSubstr("which is no directory there"));
  fs::remove(folder + "-file");
  fs::remove_all(folder);
}

TEST(TemporaryPlacesTest, AreOtherDirectoriesOnceATrialHasTouchedThem) {
  auto places = TemporaryPlaces::create({"kept"}, unsigned(-1), unsigned(-1),
                                        [](const std::string& path) { return worker::empty_directory(path); });
  ASSERT_TRUE(places.ok()) << places.error().message;
  const std::string tmp = "/tmp/" + places->names().tmp + "/private/tmp";
  const auto inode = [&] { return fs::exists(tmp) ? fs::directory_entry(tmp).last_write_time().time_since_epoch().count() : 0; };
  ASSERT_TRUE(fs::is_directory(tmp + "/kept"));
  const auto before = inode();
  ASSERT_TRUE(places->fresh().ok());
  EXPECT_EQ(inode(), before) << "made anew though nobody was there";

  std::ofstream(tmp + "/left") << "x";
  fs::create_directories(tmp + "/deep/er");
  ASSERT_EQ(::symlink("/etc", (tmp + "/link").c_str()), 0);
  ASSERT_TRUE(places->fresh().ok());
  EXPECT_THAT(std::distance(fs::directory_iterator(tmp), fs::directory_iterator()), 1);
  EXPECT_TRUE(fs::is_directory(tmp + "/kept"));
  EXPECT_TRUE(fs::exists("/etc"));

  fs::rename(tmp, tmp + "-away");
  ASSERT_TRUE(places->fresh().ok());
  EXPECT_TRUE(fs::is_directory(tmp + "/kept")) << "its user has moved it away";
  const std::string root = "/tmp/" + places->names().tmp;
  fs::remove_all(root);
  ASSERT_TRUE(places->fresh().ok()) << "what cleans /tmp has taken it";
  EXPECT_TRUE(fs::is_directory(tmp + "/kept"));
  { const TemporaryPlaces ended = *std::move(places); }
  EXPECT_FALSE(fs::exists(root));
}

// An experiment that is stopped at once has no worker any more, and most trials leave nothing.
TEST(TemporaryPlacesTest, EmptyOnesAreRemovedWithoutAWorker) {
  auto places = TemporaryPlaces::create({"kept"}, unsigned(-1), unsigned(-1), [](const std::string&) -> Status {
    return Error{ErrorCode::kUnavailable, "the worker was stopped", {}};
  });
  ASSERT_TRUE(places.ok()) << places.error().message;
  const std::string root = "/tmp/" + places->names().tmp;
  ASSERT_TRUE(fs::is_directory(root + "/private/tmp/kept"));
  { const TemporaryPlaces ended = *std::move(places); }
  EXPECT_FALSE(fs::exists(root));
}

// Whatever cleans /tmp takes one part after the other, and a trial may begin between any two of them.
TEST(TemporaryPlacesTest, AreMissedOnceAnyPartOfThemIsGone) {
  auto places = TemporaryPlaces::create({"kept"}, unsigned(-1), unsigned(-1),
                                        [](const std::string& path) { return worker::empty_directory(path); });
  ASSERT_TRUE(places.ok()) << places.error().message;
  const std::string root = "/tmp/" + places->names().tmp;
  EXPECT_TRUE(places->are_there());
  std::ofstream(root + "/private/tmp/left") << "x";
  EXPECT_TRUE(places->are_there()) << "a trial may leave what it wants to";
  for (const char* part : {"/private/tmp/kept", "/private/tmp", "/private", ""}) {
    fs::remove_all(root + part);
    EXPECT_FALSE(places->are_there()) << part;
    ASSERT_TRUE(places->fresh().ok());
    EXPECT_TRUE(places->are_there()) << part;
  }
  fs::rename(root + "/private", root + "/other");
  fs::create_directories(root + "/private/tmp/kept");
  EXPECT_FALSE(places->are_there()) << "another has its name";
}

// A plan has room for so many names, and each is looked at once: compared with all others they held an engine up for 36 s.
TEST(NamesBelow, AreFoundInAPlanFullOfThem) {
  constexpr size_t kNames = 100'000;
  std::string text;
  for (size_t i = 0; i < kNames; ++i) text += "/tmp/" + std::to_string(i) + " ";
  EXPECT_EQ(names_below(text, "/tmp").size(), kNames);
  EXPECT_THAT(kept_names(text, {}, {}).why_shared, HasSubstr("which is no directory there"));
}

}  // namespace
}  // namespace stab::engine
