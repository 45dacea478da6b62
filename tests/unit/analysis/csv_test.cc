// The CSV reader: what it takes, and how it refuses.
#include "analysis/commands/table/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
  using std::string_view_literals::operator""sv;
  for (const std::string_view wide : {"\xff\xfex\0,\0y\0\n\0"sv, "\xfe\xff\0x\0,\0y\0\n"sv})
    EXPECT_THAT(refusal(std::string(wide)), HasSubstr("'data.csv' is UTF-16, as spreadsheets write"));
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

TEST(Csv, TheHeaderTellsTheSeparator) {
  for (const std::string separator : {";", "\t", ","}) {
    std::string text = "y;the group\r\n1.5; b \r\n-2e3;\"a,;\"\r\n";
    std::replace(text.begin(), text.end() - 7, ';', separator[0]);
    const auto columns = read(text, {{"y", commands::CsvKind::kNumber}, {"the group", commands::CsvKind::kLevel}});
    ASSERT_TRUE(columns) << columns.error().text();
    EXPECT_THAT((*columns)[0].numbers, ElementsAre(1.5, -2000)) << separator;
    EXPECT_THAT((*columns)[1].levels, ElementsAre("a,;", "b")) << separator;
  }
  EXPECT_THAT(refusal("y;a,b\n1;2\n"), HasSubstr("its header has commas and semicolons"));
  EXPECT_EQ(refusal("y;\"a,b\"\n1;2\n"), "accepted") << "what is in quotes separates nothing";
}

TEST(Csv, CommasAreDecimalSignsWhereTheyCanBeNothingElse) {
  const std::vector<commands::CsvRequest> y{{"y", commands::CsvKind::kNumber}};
  const auto german = read("y;g\n0,125;a\n-1,5e3;b\n+7;b\n", y);
  ASSERT_TRUE(german) << german.error().text();
  EXPECT_THAT((*german)[0].numbers, ElementsAre(0.125, -1500, 7));
  EXPECT_THAT((*read("y,g\n\"0,5\",a\n\"1,25\",b\n", y))[0].numbers, ElementsAre(0.5, 1.25));
  EXPECT_THAT(refusal("y;g\n1.5;a\n0,5;b\n"),
              HasSubstr("row 2 has '0,5', and row 1 '1.5'; write all numbers with one decimal sign"));
  EXPECT_THAT(refusal("y;g\n12,345;a\n1,234,567;b\n"), HasSubstr("row 1 has '12,345', whose comma may be a decimal sign"));
  EXPECT_THAT(refusal("y;g\n0,5;a\n1,234,567;b\n"), HasSubstr("row 2 has a number with several commas"));
  EXPECT_THAT(refusal("y;g\n1.234,5;a\n"), HasSubstr("'1.234,5' is not a finite number"));
  commands::CsvText told = commands::CsvText::of("y;g\n12,345;a\n");
  told.set_decimal(commands::DecimalSign::kComma);
  EXPECT_THAT((*commands::read_csv(told, y))[0].numbers, ElementsAre(12.345));
  told.set_decimal(commands::DecimalSign::kPoint);
  EXPECT_THAT(commands::read_csv(told, y).error().message, HasSubstr("'12,345' is not a finite number"));
}

// "1.002" is 1002 to those who write decimals with commas; where 998 stands beside it, that is a factor of 1000 among the rows.
TEST(Csv, PointsThatMaySeparateThousandsAreAskedAbout) {
  const std::vector<commands::CsvRequest> y{{"y", commands::CsvKind::kNumber}};
  EXPECT_THAT(refusal("y;g\n998;a\n1.002;b\n"),
              HasSubstr("row 2 has '1.002', and row 1 '998': the point may be a decimal sign or separate thousands; say "
                        "--decimal point"));
  EXPECT_THAT((*read("y;g\n998;a\n1.002;b\n1.5;b\n", y))[0].numbers, ElementsAre(998, 1.002, 1.5)) << "no thousands";
  EXPECT_THAT((*read("y;g\n0.998;a\n1.002;b\n", y))[0].numbers, ElementsAre(0.998, 1.002)) << "three decimals in each";
  EXPECT_THAT((*read("y,g\n998,a\n1.002,b\n", y))[0].numbers, ElementsAre(998, 1.002)) << "commas separate";
  const std::vector<commands::CsvRequest> both{{"n", commands::CsvKind::kNumber}, {"y", commands::CsvKind::kNumber}};
  EXPECT_THAT((*read("n;y\n998;1.002\n999;1.003\n", both))[1].numbers, ElementsAre(1.002, 1.003)) << "each column for itself";
  commands::CsvText told = commands::CsvText::of("y;g\n998;a\n1.002;b\n");
  told.set_decimal(commands::DecimalSign::kPoint);
  EXPECT_THAT((*commands::read_csv(told, y))[0].numbers, ElementsAre(998, 1.002));
}

TEST(Csv, RowsWithoutAValueAreLeftOutWhereThatIsSaid) {
  const std::vector<commands::CsvRequest> both{{"y", commands::CsvKind::kNumber}, {"g", commands::CsvKind::kLevel}};
  const commands::CsvText csv = commands::CsvText::of("y;g;note\n1;a;\nNA;gone;x\n2;b;NA\n;b;\n3;;\n"
                                                       "1000000000000,4;a;\n;;\n;;\n");
  std::string notes;
  const auto columns = commands::read_csv(csv, both, &notes);
  ASSERT_TRUE(columns) << columns.error().text();
  EXPECT_THAT((*columns)[0].numbers, ElementsAre(1, 2, 1000000000000.4));
  EXPECT_EQ((*columns)[0].rests.size(), 3u);
  EXPECT_THAT((*columns)[1].levels, ElementsAre("a", "b")) << "a level of rows left out alone is none";
  EXPECT_THAT((*columns)[1].codes, ElementsAre(0, 1, 0));
  EXPECT_EQ(notes, "data.csv: columns are separated by semicolons; commas are decimal signs; 3 of 6 rows lack a value and are "
                   "left out (row 2, 4, 5)");
  EXPECT_FALSE(commands::read_csv(csv, both).ok()) << "unasked, what is missing is an error";
  EXPECT_THAT(commands::read_csv(commands::CsvText::of("y,g\nNA,a\n,b\n"), both, &notes).error().message,
              HasSubstr("all of its 2 rows lack a value"));
  ASSERT_TRUE(commands::read_csv(commands::CsvText::of("y,g\n1,a\n"), both, &notes));
  EXPECT_EQ(notes, "");
  const commands::CsvColumn& numbers = (*columns)[0];
  EXPECT_THAT((std::vector<size_t>{numbers.row_of(0), numbers.row_of(1), numbers.row_of(2)}), ElementsAre(1, 3, 6));
  EXPECT_EQ(numbers.lacking, 3u);
}

// In quotes a blank is a part of the level, and nobody sees it.
TEST(Csv, LevelsThatDifferByBlanksAloneAreTold) {
  const std::vector<commands::CsvRequest> g{{"g", commands::CsvKind::kLevel}};
  std::string notes;
  ASSERT_TRUE(commands::read_csv(commands::CsvText::of("g\na\n\"b \"\nb\n"), g, &notes));
  EXPECT_EQ(notes, "data.csv: column 'g' has levels that differ by blanks alone: 'b' and 'b '");
  ASSERT_TRUE(commands::read_csv(commands::CsvText::of("g\na\n b\nb \n"), g, &notes));
  EXPECT_EQ(notes, "");
}

TEST(Csv, NumericColumnsAreToldByTheirFirstValue) {
  const auto columns = commands::csv_numeric_columns(commands::CsvText::of("a;b;c;d\nNA;x;0,5;\n7;y;1,5;\n"));
  ASSERT_TRUE(columns) << columns.error().text();
  EXPECT_THAT(*columns, ElementsAre("a", "c"));
}

TEST(Csv, MissingFileAndFolder) {
  EXPECT_EQ(commands::CsvText::open("/nowhere/data.csv").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(commands::CsvText::open("/").error().message, HasSubstr("is a directory"));
}

}  // namespace
}  // namespace stab::analysis
