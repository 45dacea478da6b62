// One event is one line, in each of the three forms, whatever a user or a program has put into it: text that is no
// UTF-8, line feeds, fields that look like ours.
#include "stabd/daemon/settings/daemon_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

namespace stab::daemon {
namespace {

// What a stranger would like to write: an escape sequence, an end of line, and another field.
const LogEntry kHostile{LogPriority::kWarning, "submit", "a\033[2Jb\nstabd: all is well",
                        {{"experiment", "3"}, {"name", "x uid=0\n\xc2\x9b" "31m \"q\""}}};

TEST(DaemonLog, TextStaysOnItsLine) {
  const std::string line = text_of_entry(kHostile, 1'000'000'000);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\033'), std::string::npos);
  EXPECT_NE(line.find(" submit experiment=3 name=\"x uid=0 ?31m \\\"q\\\"\": a?[2Jb stabd: all is well"), std::string::npos)
      << line;
}

TEST(DaemonLog, JsonIsOneObjectALine) {
  const std::string line = json_of_entry(kHostile, 5);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("at_ns"), 5);
  EXPECT_EQ(json.at("priority"), 4);
  EXPECT_EQ(json.at("kind"), "submit");
  EXPECT_EQ(json.at("experiment"), "3");
  EXPECT_EQ(json.at("text"), "a?[2Jb\nstabd: all is well");
}

TEST(DaemonLog, NotUtf8IsLogged) {
  const LogEntry entry{LogPriority::kInfo, "submit", "\xff\xfe", {}};
  EXPECT_FALSE(json_of_entry(entry, 0).empty());
}

TEST(DaemonLog, JournalHasFields) {
  const std::vector<std::string> fields = journal_fields(kHostile);
  EXPECT_EQ(fields[0], "MESSAGE=submit: a?[2Jb\nstabd: all is well");
  EXPECT_EQ(fields[1], "PRIORITY=4");
  EXPECT_NE(std::find(fields.begin(), fields.end(), "STAB_EXPERIMENT=3"), fields.end());
  EXPECT_NE(std::find(fields.begin(), fields.end(), "STAB_KIND=submit"), fields.end());
}

TEST(DaemonLog, TheJournalIsRecognizedByItsStream) {
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(stderr_is_journal());
  ::setenv("JOURNAL_STREAM", "1:1", 1);
  EXPECT_FALSE(stderr_is_journal()) << "somebody's stderr, not ours";
  struct stat info;
  ASSERT_EQ(::fstat(2, &info), 0);
  ::setenv("JOURNAL_STREAM", (std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino)).c_str(), 1);
  EXPECT_TRUE(stderr_is_journal());
  ::unsetenv("JOURNAL_STREAM");
}

}  // namespace
}  // namespace stab::daemon
