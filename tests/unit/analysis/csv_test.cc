// The CSV reader: what it takes, and how it refuses.
#include "analysis/commands/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<commands::CsvColumn>> read(std::string text, std::vector<commands::CsvRequest> requests) {
  const commands::CsvText csv = commands::CsvText::of(std::move(text));
  return commands::read_csv(csv, requests);
}

std::string refusal(std::string text, std::vector<commands::CsvRequest> requests = {{"y", commands::CsvKind::kNumber}}) {
  const auto columns = read(std::move(text), std::move(requests));
  return columns ? "accepted" : columns.error().text();
}

TEST(Csv, NumbersAndLevels) {
  const auto columns = read("y,g\n1.5,b\n-2e3,a\n+7,b\n", {{"y", commands::CsvKind::kNumber}, {"g", commands::CsvKind::kLevel}});
  ASSERT_TRUE(columns) << columns.error().text();
  EXPECT_THAT((*columns)[0].numbers, ElementsAre(1.5, -2000, 7));
  EXPECT_THAT((*columns)[1].levels, ElementsAre("a", "b"));
  EXPECT_THAT((*columns)[1].codes, ElementsAre(1, 0, 1));
}

TEST(Csv, QuotesLineEndsSpacesAndByteOrderMark) {
  const auto columns = read("\xef\xbb\xbf y , \"the group\"\r\n 1 ,\"a, \"\"b\"\" c\"\r\n\r\n2,x\r\n3 , \"x\" \r\n",
                            {{"y", commands::CsvKind::kNumber}, {"the group", commands::CsvKind::kLevel}});
  ASSERT_TRUE(columns) << columns.error().text();
  EXPECT_THAT((*columns)[0].numbers, ElementsAre(1, 2, 3));
  EXPECT_THAT((*columns)[1].levels, ElementsAre("a, \"b\" c", "x"));
}

TEST(Csv, NumericLevelsSortByValue) {
  const auto columns = read("dose\n10\n2\n0.5\n2\n", {{"dose", commands::CsvKind::kLevel}});
  ASSERT_TRUE(columns);
  EXPECT_THAT((*columns)[0].levels, ElementsAre("0.5", "2", "10"));
  EXPECT_THAT((*columns)[0].codes, ElementsAre(2, 1, 0, 1));
}

// Levels that agree in their first 8 bytes, or in length.
TEST(Csv, SimilarLevelsStayApart) {
  const auto columns =
      read("g\nabcdefgh\nabcdefghi\nabcdefghj\na\nb\naa\nab\na\nabcdefghi\n", {{"g", commands::CsvKind::kLevel}});
  ASSERT_TRUE(columns);
  EXPECT_EQ((*columns)[0].levels.size(), 7u);
  EXPECT_EQ((*columns)[0].codes[3], (*columns)[0].codes[7]);
  EXPECT_EQ((*columns)[0].codes[1], (*columns)[0].codes[8]);
}

TEST(Csv, LastLineNeedsNoEnd) {
  const auto columns = read("g,y\na,1\nb,2", {{"y", commands::CsvKind::kNumber}, {"g", commands::CsvKind::kLevel}});
  ASSERT_TRUE(columns);
  EXPECT_THAT((*columns)[0].numbers, ElementsAre(1, 2));
}

TEST(Csv, RefusalsNameRowAndCure) {
  EXPECT_EQ(refusal(""), "'data.csv' is empty; the first line must name the columns");
  EXPECT_EQ(refusal("y\n"), "'data.csv' has a header but no rows");
  EXPECT_THAT(refusal("x,y\n1,2\n3,abc\n"), HasSubstr("data.csv:3:3: row 2, column 'y': 'abc' is not a finite number; "));
  EXPECT_THAT(refusal("y\n1\nNaN\n"), HasSubstr("row 2, column 'y': 'NaN'"));
  EXPECT_THAT(refusal("y\n1\ninf\n"), HasSubstr("'inf' is not a finite number"));
  EXPECT_THAT(refusal("y\n1\n1e999\n"), HasSubstr("'1e999' is not a finite number"));
  EXPECT_THAT(refusal("x,y\n1,\n"), HasSubstr("row 1, column 'y': it is empty"));
  EXPECT_THAT(refusal("x,y\n1,2\n3\n"), HasSubstr("row 2 has 1 fields, the header 2"));
  EXPECT_THAT(refusal("x,y\n1,2,3\n"), HasSubstr("row 1 has more fields than the header's 2"));
  EXPECT_THAT(refusal("y,y\n1,2\n"), HasSubstr("column 'y' is there twice"));
  EXPECT_THAT(refusal("y\n\"1\n"), HasSubstr("a quote is not closed"));
  EXPECT_THAT(refusal("y\n\"1\"2\n"), HasSubstr("a quote is not closed, or text follows it"));
  EXPECT_THAT(refusal("tyme,g\n1,2\n", {{"time", commands::CsvKind::kNumber}}), HasSubstr("did you mean 'tyme'?"));
  EXPECT_THAT(refusal("g,y\n\033[31m,1\n", {{"g", commands::CsvKind::kLevel}}),
              HasSubstr("has the level '?[31m' with a control character"));
  EXPECT_THAT(refusal("g,y\n\"a\nb\",1\n", {{"g", commands::CsvKind::kLevel}}), HasSubstr("line end"));
  EXPECT_EQ(refusal("note,y\n\"a\nb\",1\n"), "accepted") << "columns that nobody asked for may hold line ends";
  EXPECT_THAT(refusal("g,y\n,1\n", {{"g", commands::CsvKind::kLevel}}),
              HasSubstr("it is empty; remove the row or name the level"));
}

TEST(Csv, MissingFileAndFolder) {
  EXPECT_EQ(commands::CsvText::open("/nowhere/data.csv").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(commands::CsvText::open("/").error().message, HasSubstr("is a folder"));
}

}  // namespace
}  // namespace stab::analysis
