// What a helper makes of a board that its program may have filled with anything.
#include "runtime/progress/board.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <string>

#include "runtime/helper/dose_report.h"

namespace stab::progress {
namespace {

using ::testing::HasSubstr;

class BoardTest : public ::testing::Test {
 protected:
  void add(const char* name, Kind kind) {
    BoardPoint& point = board_->points[++board_->points_used];
    strncpy(point.name, name, kNameBytes);
    point.kind = static_cast<uint32_t>(kind);
    point.ready = 1;
  }
  const Counts& read() {
    read_board(*board_, *counts_);
    return *counts_;
  }
  std::string report() {
    read();
    std::string text(helper::kReportBytes, '\0');
    text.resize(write_report(abi::Settings{}, Control{}, helper::HelperUse{}, helper::End::kExit, text.data(), counts_.get()));
    return text;
  }

  std::unique_ptr<Board> board_ = std::make_unique<Board>();
  std::unique_ptr<Counts> counts_ = std::make_unique<Counts>();
};

TEST_F(BoardTest, AddsUpRowsAndSharedCells) {
  add("blocks", Kind::kProgress);
  add("blocks", Kind::kBegin);
  board_->rows_used = 3;
  for (int row = 0; row < 3; ++row) board_->rows[row].visits[0] = 10;
  board_->rows[3].visits[0] = 1000;  // was never given
  board_->rows[1].visits[1] = 7;
  board_->shared[1].visits = 5;
  ASSERT_EQ(read().points, 2u);
  EXPECT_EQ(counts_->point[0].visits, 35u);
  EXPECT_EQ(counts_->point[1].visits, 7u);
  EXPECT_EQ(counts_->rows, 3u);
  EXPECT_THAT(report(), HasSubstr(R"("progress":{"points":[{"name":"blocks","kind":"progress","visits":35},)"
                                  R"({"name":"blocks","kind":"begin","visits":7}],"rows":3,"threads_sharing":0,)"
                                  R"("points_dropped":0,"visits_dropped":0})"));
}

TEST_F(BoardTest, OnePointOfTwoNumbersIsOne) {
  add("blocks", Kind::kProgress);
  add("other", Kind::kProgress);
  add("blocks", Kind::kProgress);
  for (uint32_t number = 1; number <= 3; ++number) board_->shared[number].visits = number * 100;
  ASSERT_EQ(read().points, 2u);
  EXPECT_EQ(counts_->point[0].visits, 400u);
  EXPECT_EQ(counts_->point[1].visits, 200u);
}

TEST_F(BoardTest, OffsetsArePlacesOfARow) {
  BoardRow row{};
  for (uint32_t number = 1; number < kPoints; ++number)
    EXPECT_EQ(reinterpret_cast<char*>(&row.visits[number - 1]) - reinterpret_cast<char*>(&row), offset_of(number));
}

TEST_F(BoardTest, NothingVisitedIsNotReported) { EXPECT_EQ(report().find("progress"), std::string::npos); }

TEST_F(BoardTest, WhatIsNoPointIsLeftOut) {
  add("", Kind::kProgress);
  add("no kind", Kind::kNone);
  add("unknown kind", static_cast<Kind>(77));
  add("not ready", Kind::kProgress);
  board_->points[4].ready = 0;
  EXPECT_EQ(read().points, 0u);
}

TEST_F(BoardTest, ABoardFullOfOnesIsBounded) {
  memset(static_cast<void*>(board_.get()), 0xff, sizeof *board_);
  EXPECT_LE(read().points, kMostNamed);
  EXPECT_EQ(counts_->rows, kRows);
  for (uint32_t number = 1; number <= kMostNamed; ++number) {
    board_->points[number].ready = 1;
    board_->points[number].kind = 1 + number % 4;
    board_->points[number].name[0] = static_cast<char>('!' + number);
  }
  const std::string text = report();
  EXPECT_EQ(counts_->points, kMostNamed);
  EXPECT_LT(text.size(), helper::kReportBytes - 100) << "the largest report there can be";
  EXPECT_EQ(text.back(), '\n');
}

TEST_F(BoardTest, NamesComePrintable) {
  add("a\"b\\c\nd\x7f\xc3\xa9", Kind::kArrival);
  read();
  EXPECT_STREQ(counts_->point[0].name, "a?b?c?d???");
}

}  // namespace
}  // namespace stab::progress
