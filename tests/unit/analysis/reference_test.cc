// `stabctl stats` against R: every case of the files below in tests/reference/analysis, flags and all.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "analysis/commands/stats/stats_command.h"
#include "analysis/statistics/distributions/studentized.h"
#include "analysis/statistics/two_samples/rank_tests.h"
#include "tests/places.h"

namespace stab::analysis {
namespace {

const std::string kFolder = std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/";

struct Expectation {
  std::string field;
  double tolerance = 0;             // relative; negative: absolute
  std::vector<std::string> values;  // "NA" stands for null
};
struct Case {
  std::string arguments;
  std::vector<Expectation> expected;
};

// ctest names its entries after what is printed here.
void PrintTo(const Case& at, std::ostream* out) {
  for (char c : at.arguments.substr(at.arguments.find_first_not_of(' ')))
    *out << (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_');
}

void load_cases(const std::string& name, std::vector<Case>& cases) {
  std::ifstream file(kFolder + name);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "case:") {
      std::string rest;
      std::getline(words, rest);
      cases.push_back({rest, {}});
      continue;
    }
    Expectation expectation{first, 0, {}};
    words >> expectation.tolerance;
    for (std::string value; words >> value;) expectation.values.push_back(value);
    cases.back().expected.push_back(std::move(expectation));
  }
}

std::vector<Case> load_cases() {
  std::vector<Case> cases;
  for (const char* name : {"cases.txt", "cases_base.txt", "cases_sequence.txt", "cases_changes.txt",
                           "cases_quantiles.txt", "cases_mixed.txt", "cases_repetitions.txt", "cases_dip.txt"})
    load_cases(name, cases);
  return cases;
}

// Values of a JSON document by dotted path ("rows.0.p_value"), as text; arrays of numbers as "name.0", "name.1".
class FlatJson {
 public:
  explicit FlatJson(const std::string& text) : text_(text) {
    value("");
  }
  std::map<std::string, std::string> fields;

 private:
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string quoted() {
    std::string out;
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      out += text_[at_];
    }
    ++at_;
    return out;
  }
  void value(const std::string& path) {
    space();
    const auto join = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (text_[at_] == '{') {
      for (++at_; space(), text_[at_] != '}';) {
        if (text_[at_] == ',') ++at_;
        space();
        const std::string key = quoted();
        space();
        ++at_;  // ':'
        value(join(key));
      }
      ++at_;
      return;
    }
    if (text_[at_] == '[') {
      int index = 0;
      for (++at_; space(), text_[at_] != ']';) {
        if (text_[at_] == ',') ++at_;
        value(join(std::to_string(index++)));
      }
      ++at_;
      return;
    }
    if (text_[at_] == '"') {
      fields[path] = quoted();
      return;
    }
    const size_t end = text_.find_first_of(",]}\n", at_);
    fields[path] = text_.substr(at_, end - at_);
    at_ = end;
  }

  const std::string& text_;
  size_t at_ = 0;
};

std::vector<std::string> split(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word.ends_with(".csv") ? kFolder + "data/" + word : word);
  return out;
}

class Reference : public ::testing::TestWithParam<Case> {};

void check(const std::map<std::string, std::string>& fields, const std::string& field, double tolerance,
           const std::string& wanted) {
  const auto found = fields.find(field);
  ASSERT_NE(found, fields.end()) << "no field " << field;
  if (wanted == "NA") {
    EXPECT_EQ(found->second, "null") << field;
    return;
  }
  const double ours = std::strtod(found->second.c_str(), nullptr), theirs = std::strtod(wanted.c_str(), nullptr);
  const double allowed = tolerance < 0 ? -tolerance : tolerance * std::fabs(theirs) + 1e-300;
  EXPECT_LE(std::fabs(ours - theirs), allowed + (theirs == 0 ? 1e-12 : 0))
      << field << ": ours " << found->second << ", R's " << wanted;
}

TEST_P(Reference, MatchesR) {
  std::vector<std::string> arguments = split(GetParam().arguments);
  arguments.push_back("--json");
  const commands::CommandOutput output = commands::run_stats(arguments);
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const FlatJson json(output.out);
  ASSERT_FALSE(GetParam().expected.empty());
  for (const Expectation& expectation : GetParam().expected) {
    if (expectation.values.size() == 1 && !json.fields.contains(expectation.field + ".0")) {
      check(json.fields, expectation.field, expectation.tolerance, expectation.values[0]);
      continue;
    }
    for (size_t i = 0; i < expectation.values.size(); ++i)
      check(json.fields, expectation.field + "." + std::to_string(i), expectation.tolerance, expectation.values[i]);
  }
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::to_string(info.index) + "_";
  for (char c : info.param.arguments.substr(1, info.param.arguments.find(' ', 1) - 1))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(R, Reference, ::testing::ValuesIn(load_cases()), case_name);

TEST(Reference, CasesAreThere) { EXPECT_GT(load_cases().size(), 160u); }

// Reports' rank p of few values: R's exact test, or every rearrangement counted in R. With 3 against 3 the smallest
// two-sided p is 0.1.
TEST(Reference, RankPOfReportsIsExact) {
  std::ifstream file(kFolder + "ranks.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    double p = 0;
    words >> p;
    std::vector<std::array<std::vector<double>, 2>> values;
    size_t side = 0;
    for (std::string word; words >> word;) {
      if (word == "|") values.emplace_back();
      side = word == "|" ? 0 : word == ";" ? 1 : side;
      if (word != "|" && word != ";") values.back()[side].push_back(std::strtod(word.c_str(), nullptr));
    }
    std::vector<statistics::Stratum2> strata;
    for (const auto& pair : values) strata.push_back({pair[0], pair[1]});
    const auto ours = statistics::van_elteren_p(strata);
    ASSERT_TRUE(ours) << line;
    EXPECT_NEAR(*ours, p, 1e-12 + 1e-10 * p) << line;
    ++lines;
  }
  EXPECT_EQ(lines, 17);
}

TEST(Studentized, UpperTailMatchesR) {
  std::ifstream file(kFolder + "studentized.txt");
  double q = 0, means = 0, df = 0, upper = 0;
  int points = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream(line) >> q >> means >> df >> upper;
    EXPECT_NEAR(statistics::studentized_range_upper(q, means, df), upper, 1e-8) << q << " " << means << " " << df;
    ++points;
  }
  EXPECT_GT(points, 200);
}

}  // namespace
}  // namespace stab::analysis
