// The logbook: what it keeps of sessions, and streams whose verdicts are whole or not there, whatever ends the process.
#include "store/logbook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fault_vfs.h"
#include "tests/unit/temporary_directory.h"

namespace stab::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const LogbookSession kMonday{"boot-a", "2026-11-23", "lab"}, kTuesday{"boot-a", "2026-11-24", "lab"},
    kRebooted{"boot-b", "2026-11-24", "lab"};
const StreamName kStream{"pull-requests", 0.05, 500};

LogbookFinding finding(double difference, const std::string& workload = "parser") {
  LogbookFinding out;
  out.workload = workload;
  out.response = "cpu_time";
  out.difference = difference;
  out.standard_error = 0.003;
  out.df = 39;
  out.blocks = 40;
  return out;
}

class LogbookTest : public ::testing::Test {
 protected:
  Logbook open(Logbook::Access access = Logbook::Access::kWrite, const char* vfs = nullptr) {
    Result<Logbook> logbook = Logbook::open(path_, access, vfs);
    EXPECT_TRUE(logbook) << logbook.error().message;
    return *std::move(logbook);
  }
  // A gate that calls its pair worse, or does not; what the stream knew before.
  StreamState gate(Logbook& logbook, const std::string& head, bool called, const LogbookSession& session = kMonday,
                   const StreamName& stream = kStream) {
    StreamState seen;
    const Status done =
        logbook.judge(stream, {"base", head}, session, 1000, [&](const StreamState& state) -> Result<StreamVerdict> {
          seen = state;
          return StreamVerdict{called ? 12.0 : -1.0, called, {finding(called ? 0.03 : 0)}};
        });
    EXPECT_TRUE(done) << done.error().message;
    return seen;
  }
  std::string sql(const std::string& statement) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    std::string out;
    sqlite3_exec(
        handle, statement.c_str(),
        [](void* text, int columns, char** values, char**) {
          for (int c = 0; c < columns; ++c)
            *static_cast<std::string*>(text) += std::string(c ? "|" : "") + (values[c] ? values[c] : "NULL");
          *static_cast<std::string*>(text) += "\n";
          return 0;
        },
        &out, nullptr);
    sqlite3_close(handle);
    return out;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/gates.logbook";
};

TEST_F(LogbookTest, KeepsControlsBySession) {
  {
    Logbook logbook = open();
    ASSERT_TRUE(logbook.add_control(kTuesday, "c1", 1, {finding(0.002), finding(0.001, "lexer")}));
    ASSERT_TRUE(logbook.add_control(kMonday, "c0", 2, {finding(0.004)}));
    ASSERT_TRUE(logbook.add_control(kTuesday, "c2", 3, {finding(0.006)}));
    ASSERT_TRUE(logbook.add_control(kRebooted, "c2", 4, {finding(0.008)}));
  }
  Logbook logbook = open(Logbook::Access::kRead);
  const auto controls = logbook.controls();
  ASSERT_TRUE(controls);
  std::vector<double> seen;
  for (const LogbookFinding& one : *controls) seen.push_back(one.difference);
  EXPECT_THAT(seen, ElementsAre(0.002, 0.001, 0.006, 0.004, 0.008));
  EXPECT_EQ((*controls)[0].session, (*controls)[2].session);
  EXPECT_NE((*controls)[0].session, (*controls)[4].session);
  EXPECT_EQ((*controls)[1].workload, "lexer");
  EXPECT_EQ((*controls)[0].blocks, 40);
}

TEST_F(LogbookTest, OfAControlAllRowsOrNone) {
  Logbook logbook = open();
  LogbookFinding none = finding(0.1);
  none.standard_error = 0;
  EXPECT_FALSE(logbook.add_control(kMonday, "c", 1, {finding(0.002), none}));
  EXPECT_TRUE(logbook.controls()->empty());
  EXPECT_EQ(sql("SELECT count(*) FROM sessions"), "0\n");
}

TEST_F(LogbookTest, CountsHypothesesAndThoseThatWereCalled) {
  Logbook logbook = open();
  EXPECT_EQ(gate(logbook, "a", false).number, 1);
  EXPECT_EQ(gate(logbook, "b", true).called_before, 0);
  const StreamState third = gate(logbook, "c", false);
  EXPECT_EQ(third.number, 3);
  EXPECT_EQ(third.called_before, 1);
  // Its own call is none before it.
  const StreamState again = gate(logbook, "b", false, kTuesday);
  EXPECT_EQ(again.number, 2);
  EXPECT_EQ(again.called_before, 0);
  EXPECT_TRUE(again.called);
  ASSERT_EQ(again.earlier.size(), 1u);
  EXPECT_EQ(again.earlier[0].difference, 0.03);
  EXPECT_NE(again.earlier[0].session, again.session);
  // It stays called, and another stream knows nothing of it.
  EXPECT_TRUE(gate(logbook, "b", false, kRebooted).called);
  EXPECT_EQ(gate(logbook, "d", false, kMonday, {"release", 0.05, 500}).number, 1);
  EXPECT_EQ(sql("SELECT group_concat(number) FROM hypotheses WHERE stream = 1"), "1,2,3\n");
}

TEST_F(LogbookTest, TellsAllGatesWithWhatBecameOfTheirPair) {
  Logbook logbook = open();
  EXPECT_TRUE(logbook.gates()->empty());
  gate(logbook, "a", false);
  gate(logbook, "b", false);
  gate(logbook, "a", true, kRebooted);
  gate(logbook, "a", false, kMonday, {"release", 0.05, 500});
  const auto gates = logbook.gates();
  ASSERT_TRUE(gates) << gates.error().message;
  const auto sessions = logbook.sessions();
  ASSERT_TRUE(sessions) << sessions.error().message;
  ASSERT_EQ(gates->size(), 4u);
  std::string told;
  for (const LoggedGate& one : *gates) {
    const LogbookSession& session = sessions->at(one.found.session);
    told += one.stream + " " + one.base + ".." + one.head + " " + session.boot + " " + session.day + " " + session.machine +
            (one.called ? " worse\n" : "\n");
    EXPECT_EQ(one.log_e, one.called ? 12 : -1);
    EXPECT_EQ(one.found.workload, "parser");
    EXPECT_EQ(one.found.standard_error, 0.003);
  }
  EXPECT_EQ(told,
            "pull-requests base..a boot-a 2026-11-23 lab worse\n"
            "pull-requests base..b boot-a 2026-11-23 lab\n"
            "pull-requests base..a boot-b 2026-11-24 lab worse\n"
            "release base..a boot-a 2026-11-23 lab\n");
  EXPECT_EQ((*gates)[2].found.difference, 0.03);
  sql("UPDATE gates SET df = 1 WHERE id = 2");
  EXPECT_THAT(logbook.gates().error().message, HasSubstr("is damaged: what session 1 says of 'parser'"));
}

TEST_F(LogbookTest, AGateThatFoundNothingIsNoHypothesis) {
  Logbook logbook = open();
  ASSERT_TRUE(logbook.judge(kStream, {"base", "a"}, kMonday, 1,
                            [](const StreamState&) -> Result<StreamVerdict> { return StreamVerdict{}; }));
  const Status failed = logbook.judge(kStream, {"base", "a"}, kMonday, 1,
                                      [](const StreamState&) -> Result<StreamVerdict> { return bad_input("no answer"); });
  EXPECT_EQ(failed.error().message, "no answer");
  EXPECT_EQ(gate(logbook, "b", false).number, 1);
}

TEST_F(LogbookTest, AStreamKeepsItsRate) {
  Logbook logbook = open();
  gate(logbook, "a", false);
  const Status other = logbook.judge({"pull-requests", 0.1, 500}, {"base", "b"}, kMonday, 1,
                                     [](const StreamState&) -> Result<StreamVerdict> { return StreamVerdict{}; });
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("began with fdr = 0.05"));
  EXPECT_THAT(other.error().message, HasSubstr("give the stream another name"));
}

TEST_F(LogbookTest, TwoGatesThatEndTogetherAreJudgedOneAfterTheOther) {
  Logbook first = open(), second = open();
  const Status done = first.judge(kStream, {"base", "a"}, kMonday, 1, [&](const StreamState&) -> Result<StreamVerdict> {
    const Status busy = second.judge(kStream, {"base", "b"}, kMonday, 1, [](const StreamState&) -> Result<StreamVerdict> {
      return StreamVerdict{0, false, {finding(0)}};
    });
    EXPECT_EQ(busy.error().code, ErrorCode::kBusy);
    return StreamVerdict{12, true, {finding(0.03)}};
  });
  ASSERT_TRUE(done);
  const StreamState later = gate(second, "b", false);
  EXPECT_EQ(later.number, 2);
  EXPECT_EQ(later.called_before, 1);
}

TEST_F(LogbookTest, RefusesOthersFiles) {
  std::ofstream(path_) << "no database, and long enough to be read as the header of one: no database, and long enough";
  EXPECT_FALSE(Logbook::open(path_, Logbook::Access::kWrite));
  std::filesystem::remove(path_);
  sql("CREATE TABLE other(x)");
  const auto other = Logbook::open(path_, Logbook::Access::kWrite);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("is no logbook; choose another path"));
  std::filesystem::remove(path_);
  open();
  sql("PRAGMA user_version = 2");
  EXPECT_THAT(Logbook::open(path_, Logbook::Access::kRead).error().message, HasSubstr("use the newer version of Stab"));
  EXPECT_FALSE(Logbook::open(directory_.path() + "/none", Logbook::Access::kRead));
}

// Killed at any write: a gate that was told of is there whole, and one that wasn't is there whole or not at all.
TEST_F(LogbookTest, DeathAtAnyWriteLeavesNoHalf) {
  install_fault_vfs();
  bool reached_the_end = false;
  int points = 0;
  constexpr int kGates = 3;
  for (int at = 1; !reached_the_end; ++at) {
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + "-journal");
    int pipe_fds[2];
    ASSERT_EQ(::pipe(pipe_fds), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Result<Logbook> logbook = Logbook::open(path_, Logbook::Access::kWrite, kFaultVfs);
      if (!logbook) ::_exit(1);
      fault_control().arm(Fault::kDie, at);
      for (int i = 0; i < kGates; ++i) {
        const Status done =
            logbook->judge(kStream, {"base", std::to_string(i)}, kMonday, 1, [&](const StreamState&) -> Result<StreamVerdict> {
              return StreamVerdict{12, true, {finding(0.03), finding(0.02, "lexer")}};
            });
        if (!done || ::write(pipe_fds[1], "g", 1) != 1) ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(pipe_fds[1]);
    int told = 0;
    char byte;
    while (::read(pipe_fds[0], &byte, 1) == 1) ++told;
    ::close(pipe_fds[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kDeathStatus)) << status;
    reached_the_end = WEXITSTATUS(status) == 0;
    Logbook logbook = open();
    const int64_t next = gate(logbook, "next", false).number;
    EXPECT_GE(next, told + 1) << "at " << at;
    EXPECT_LE(next, told + 2) << "at " << at;
    EXPECT_EQ(sql("SELECT count(*) FROM gates"), std::to_string(2 * (next - 1) + 1) + "\n") << "at " << at;
    EXPECT_EQ(sql("PRAGMA integrity_check; SELECT count(*) FROM pragma_foreign_key_check"), "ok\n0\n");
    ++points;
  }
  EXPECT_GE(points, 10);
}

// Disks change bytes, and other programs write: a number that is none would make all gates unsure, or end each of them.
TEST_F(LogbookTest, NumbersThatNoControlHasAreNamed) {
  for (const char* damage : {"difference = 9e999", "difference = -9e999", "standard_error = 9e999", "standard_error = 1e-300",
                             "df = 9e999", "df = 1.5"}) {
    {
      Logbook logbook = open();
      ASSERT_TRUE(logbook.add_control(kMonday, "c1", 1, {finding(0.002)}));
    }
    sql(std::string("UPDATE controls SET ") + damage);
    Logbook logbook = open();
    const auto controls = logbook.controls();
    ASSERT_FALSE(controls) << damage;
    EXPECT_EQ(controls.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(controls.error().message,
                HasSubstr("the logbook '" + path_ + "' is damaged: what session 1 says of 'parser' (cpu_time)"));
    const Status judged = logbook.judge(kStream, {"base", "head"}, kMonday, 1000,
                                        [](const StreamState&) -> Result<StreamVerdict> { return StreamVerdict{}; });
    ASSERT_FALSE(judged) << damage;
    EXPECT_EQ(judged.error().code, ErrorCode::kCorrupt);
    std::filesystem::remove(path_);
  }
}

// Before a gate runs for nothing.
TEST_F(LogbookTest, AStreamOfOtherNumbersIsToldBeforehand) {
  Logbook logbook = open();
  EXPECT_TRUE(logbook.check_stream(kStream)) << "it has not begun";
  gate(logbook, "head", false);
  EXPECT_TRUE(logbook.check_stream(kStream));
  const Status other = logbook.check_stream({"pull-requests", 0.1, 500});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("began with fdr = 0.05 and tests = 500"));
  EXPECT_TRUE(logbook.check_stream({"others", 0.1, 500}));
}

}  // namespace
}  // namespace stab::store
