// What the service answers whatever it is about: within the protocol's length, in a lane of its own where it takes long.
#include "stabd/daemon/answers/service.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

#include "opened_engine.h"
#include "tests/unit/temporary_directory.h"

namespace stab::daemon {
namespace {

using Json = nlohmann::json;

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest()
      : engine_(opened_engine(directory_.path(), clock_)),
        upkeep_(*engine_, config_, [](const LogEntry&) {}),
        thread_(*engine_, [] {}, [](const EndedRun&, int) {}),
        service_(*engine_, thread_, {&config_, &upkeep_, ::geteuid(), false, [](const LogEntry&) {}}) {}

  static std::string line(const std::string& method, const Json& params) {
    return Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump();
  }
  Json ask(const std::string& method, const Json& params) {
    const ServiceAnswer answer = service_.handle(line(method, params), Peer{::geteuid(), ::getegid(), {}, {}});
    EXPECT_LE(answer.line.size(), kMaxFrameBytes);
    return Json::parse(answer.line);
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  Config config_;
  std::unique_ptr<engine::Engine> engine_;
  Upkeep upkeep_;
  EngineThread thread_;
  Service service_;
};

TEST_F(ServiceTest, NoAnswerIsLongerThanTheProtocolSays) {
  store::NewExperiment row;
  row.name = "long";
  row.submitter_uid = ::geteuid();
  const auto id = engine_->store().add_experiment(row);
  ASSERT_TRUE(id.ok());
  EXPECT_TRUE(ask("status", Json::object()).contains("result"));
  // Each says why it failed.
  for (int i = 0; i < 90; ++i) {
    row.name = "failed-" + std::to_string(i);
    const auto failed = engine_->store().add_experiment(row);
    ASSERT_TRUE(failed.ok());
    ASSERT_TRUE(engine_->store().advance(*failed, store::ExperimentEvent::kFail, std::string(50'000, 'x'), 1).ok());
  }
  const Json answer = ask("status", Json::object());
  ASSERT_TRUE(answer.contains("error")) << answer.dump().substr(0, 200);
  const std::string message = answer["error"]["message"];
  EXPECT_NE(message.find("one has at most 4194304"), std::string::npos) << message;
  EXPECT_NE(message.find("name one experiment"), std::string::npos) << message;
}

// While its store takes nothing, what is submitted and not over says so; what is paused waits for its user.
TEST_F(ServiceTest, WhatWaitsSaysWhatFor) {
  store::NewExperiment row;
  row.name = "waiting";
  row.submitter_uid = ::geteuid();
  const auto first = engine_->store().add_experiment(row), second = engine_->store().add_experiment(row);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(thread_.pause(*second).ok());
  EXPECT_FALSE(ask("status", Json::object())["result"]["experiments"][0].contains("waits_for"));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((directory_.path() + "/lab.db").c_str(), &database), SQLITE_OK);
  const char* refuse = "CREATE TRIGGER refuse BEFORE UPDATE OF state ON experiments BEGIN SELECT RAISE(ABORT, 'no room'); END";
  EXPECT_EQ(sqlite3_exec(database, refuse, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
  thread_.start();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (thread_.waits_for().empty() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Json rows = ask("status", Json::object())["result"]["experiments"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[0].value("waits_for", "").find("no room"), std::string::npos) << rows.dump();
  EXPECT_FALSE(rows[1].contains("waits_for")) << rows.dump();
}

// Whoever asks for reports keeps nobody from submitting.
TEST_F(ServiceTest, ReportsHaveALaneOfTheirOwn) {
  for (const char* method : {"report", "trend"})
    EXPECT_EQ(service_.lane_of(line(method, Json::object())), Lane::kReport) << method;
  for (const char* method : {"submit", "replay", "logs", "bundle", "watch", "extend"})
    EXPECT_EQ(service_.lane_of(line(method, Json::object())), Lane::kWork) << method;
  for (const char* method : {"cancel", "pause"})
    EXPECT_EQ(service_.lane_of(line(method, Json::object())), Lane::kChange) << method;
}

TEST_F(ServiceTest, APathHasNoZeroByte) {
  for (const Json& params : {Json{{"directory", std::string("/a\0b", 4)}, {"path", "p"}, {"plan", ""}},
                             Json{{"directory", "/a"}, {"path", std::string("p\0q", 3)}, {"plan", ""}}}) {
    const Json answer = ask("submit", params);
    ASSERT_TRUE(answer.contains("error")) << answer;
    EXPECT_NE(answer["error"]["message"].get<std::string>().find("have no zero byte"), std::string::npos) << answer;
  }
}

}  // namespace
}  // namespace stab::daemon
