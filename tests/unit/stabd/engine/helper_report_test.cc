// What a helper says of the program while that runs is no part of its report, and what is neither is nothing.
#include "stabd/engine/separation/helper_report.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/helper/epoch_record.h"

namespace stab::engine {
namespace {

bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 3000; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Of one point.
std::string frame(const std::string& name, uint64_t visits) {
  helper::ProgressFrame frame{};
  std::memcpy(frame.magic, helper::kProgressMagic, sizeof frame.magic);
  frame.count = 1;
  frame.visits[0] = visits;
  std::memcpy(frame.points[0], name.data(), name.size());
  return std::string(reinterpret_cast<const char*>(&frame), sizeof frame);
}

// Says this, and ends.
class Sayer {
 public:
  explicit Sayer(const std::vector<std::string>& parts) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    report.emplace(UniqueFd(ends[0]));
    says_ = std::thread([fd = ends[1], parts] {
      for (const std::string& part : parts) EXPECT_EQ(::write(fd, part.data(), part.size()), static_cast<ssize_t>(part.size()));
      ::close(fd);
    });
  }
  ~Sayer() { says_.join(); }
  Result<HelperEnd> finish() {
    return report->finish(std::chrono::seconds(30), [] { return 0; });
  }
  std::optional<HelperReport> report;

 private:
  std::thread says_;
};

TEST(HelperReport, TellsWhatTheProgramHasDoneSoFar) {
  Sayer helper({frame("block", 5), frame("bl\x1b" "ck", 9), frame("late", 7).substr(0, 100)});
  std::optional<std::vector<PointVisits>> latest;
  EXPECT_TRUE(comes_true([&] {
    if (auto said = helper.report->progress()) latest = std::move(said);
    return latest && latest->front().visits == 9;
  }));
  EXPECT_EQ(latest, (std::vector<PointVisits>{{"bl?ck", 9}}));
  EXPECT_EQ(helper.report->progress(), std::nullopt) << "half a frame is none";
}

TEST(HelperReport, WhatItHasSaidBeforeIsNoPartOfItsReport) {
  for (const bool looked : {false, true}) {
    Sayer helper({frame("block", 5), frame("block", 9), "{\"a\": 1}\n"});
    if (looked) {
      EXPECT_TRUE(comes_true([&] { return helper.report->progress().has_value(); }));
    }
    const Result<HelperEnd> end = helper.finish();
    ASSERT_TRUE(end) << end.error().text();
    EXPECT_EQ(end->report, "{\"a\": 1}\n") << (looked ? "after a look" : "without one");
    EXPECT_EQ(end->epochs, "");
  }
}

TEST(HelperReport, WhatIsNoFrameIsNotTakenForOne) {
  Sayer helper({std::string(60000, 'x')});
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(helper.report->progress(), std::nullopt);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(helper.finish());
}

}  // namespace
}  // namespace stab::engine
