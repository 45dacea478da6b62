// Catch2 and CTest: their XML, and what they print.
#include "tests/unit/plan/metrics/read_text.h"

namespace stab::metrics {
namespace {

using testing::HasSubstr;

std::string of_catch(const std::string& inside) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Catch2TestRun name=\"suite\">\n" + inside + "\n</Catch2TestRun>\n";
}

std::string result(const std::string& name, const std::string& mean) {
  return "<BenchmarkResults name=\"" + name +
         "\" samples=\"100\" iterations=\"4\">\n<!--All values in nano seconds-->\n<mean value=\"" + mean +
         "\" lowerBound=\"1\" upperBound=\"9\" ci=\"0.95\"/><standardDeviation value=\"3\"/></BenchmarkResults>";
}

TEST(Catch2, XmlHasNanoseconds) {
  const auto found =
      read_ok("catch2", of_catch("<TestCase name=\"t\">" + result("fib &lt;20&gt;", "72.5") +
                                 "<BenchmarkResults name=\"bad\"><failed message=\"no data\"/></BenchmarkResults></TestCase>"));
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "fib <20>", 72.5e-9);
  EXPECT_EQ(found[1].reason, "no data");
}

TEST(Catch2, OneNameInTwoTestCasesIsTwoBenchmarks) {
  const auto found = read_ok("catch2", of_catch("<TestCase name=\"a\">" + result("x", "1") + "</TestCase><TestCase name=\"b\">" +
                                                result("x", "2") + "</TestCase>"));
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[1], "b/x", 2e-9);
  EXPECT_THAT(refusal("catch2", of_catch("<TestCase name=\"a\">" + result("x", "1") + result("x", "2") + "</TestCase>")),
              HasSubstr("are both 'a/x'"));
}

TEST(Catch2, DamagedXmlIsRefusedWithItsPlace) {
  const std::string good = of_catch("<TestCase name=\"a\">" + result("x", "1") + "</TestCase>");
  EXPECT_THAT(refusal("catch2", good.substr(0, good.size() / 2)), HasSubstr("was it cut off?"));
  EXPECT_THAT(refusal("catch2", of_catch(result("x", "fast"))), HasSubstr("line 5: the mean of 'x' is 'fast'"));
  EXPECT_THAT(refusal("catch2", of_catch(result("x", "nan"))), HasSubstr("no time"));
  EXPECT_THAT(refusal("catch2", of_catch("<a></b>")), HasSubstr("line 3, column"));
  EXPECT_THAT(refusal("catch2", "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"), HasSubstr("DOCTYPE"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  EXPECT_THAT(refusal("catch2", of_catch(deep)), HasSubstr("nested deeper than 64"));
}

constexpr char kConsole[] =
    "benchmark name                       samples       iterations    est run time\n"
    "                                     mean          low mean      high mean\n"
    "                                     std dev       low std dev   high std dev\n"
    "-------------------------------------------------------------------------------\n"
    "Fibonacci 20                                   100           416     2.9952 ms \n"
    "                                        72.0 us       71.5 us       72.7 us \n"
    "                                        2.9 us        2.5 us        3.7 us \n"
    "                                                                              \n"
    "a name that is so long that it has a line\n"
    "for itself                                     100            20     3.0 ms \n"
    "                                        1.5 ns        1.4 ns        1.6 ns \n"
    "                                        0.1 ns        0.1 ns        0.1 ns \n";

TEST(Catch2, ConsoleIsReadByItsRows) {
  const auto found = read_ok("catch2", kConsole);
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "Fibonacci 20", 72e-6);
  expect_seconds(found[1], "a name that is so long that it has a line for itself", 1.5e-9);
  const std::string text(kConsole);
  EXPECT_THAT(refusal("catch2", text.substr(0, text.find("72.0"))), HasSubstr("expected the mean of 'Fibonacci 20'"));
  EXPECT_THAT(refusal("catch2", text.substr(0, text.find("2.9952 ms") + 11)), HasSubstr("was it cut off?"));
}

TEST(Ctest, JunitHasTimesOfWhatPassed) {
  const auto found = read_ok("ctest", R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="3">
	<testcase name="quick" classname="quick" time="0.0729932" status="run"><system-out></system-out></testcase>
	<testcase name="bad" classname="bad" time="0.03" status="fail"><failure message=""/></testcase>
	<testcase name="skip" classname="skip" time="0.01" status="notrun"><skipped message="x"/></testcase>
</testsuite>)xml");
  ASSERT_EQ(found.size(), 3u);
  expect_seconds(found[0], "quick", 0.0729932);
  EXPECT_EQ(found[1].reason, "the test failed");
  EXPECT_EQ(found[2].reason, "the test was not run");
  EXPECT_THAT(refusal("ctest", "<testsuite><testcase time=\"1\"/></testsuite>"), HasSubstr("line 1: a testcase has no 'name'"));
  EXPECT_THAT(refusal("ctest", "<testsuite><testcase name=\"a\"/></testsuite>"), HasSubstr("'a' has no 'time'"));
  EXPECT_THAT(refusal("ctest", "<testsuite><testcase name=\"a\" time=\"-1\"/></testsuite>"), HasSubstr("no time"));
  EXPECT_THAT(refusal("ctest", "<testsuite><testcase name=\"a\" time=\"1\"/><testcase name=\"a\" time=\"1\"/></testsuite>"),
              HasSubstr("are both 'a'"));
  EXPECT_THAT(refusal("ctest", "<testsuite><testcase"), HasSubstr("was it cut off?"));
}

constexpr char kLog[] =
    "Start testing: Nov 25 21:27 UTC\n"
    "1/2 Testing: quick\n1/2 Test: quick\nCommand: \"/usr/bin/sleep\"\nOutput:\n---\nTest time =   9.99 sec\n<end of output>\n"
    "Test time =   0.07 sec\n---\nTest Passed.\n\n"
    "2/2 Testing: bad\n2/2 Test: bad\nTest time =   0.03 sec\nTest Failed.\n";

// As pytest writes them: the name alone is that of another class, too.
TEST(Ctest, ATestOfAClassHasItsName) {
  const auto found = read_ok("ctest", R"xml(<testsuites><testsuite name="pytest" tests="3">
<testcase classname="tests.test_sort.TestSmall" name="test_it" time="0.25"/>
<testcase classname="tests.test_sort.TestLarge" name="test_it" time="0.5"/>
<testcase classname="alone" name="alone" time="1"/><testcase classname="" name="bare" time="2"/>
</testsuite></testsuites>)xml");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].name, "tests.test_sort.TestSmall.test_it");
  EXPECT_EQ(found[1].name, "tests.test_sort.TestLarge.test_it");
  EXPECT_EQ(found[2].name, "alone");
  EXPECT_EQ(found[3].name, "bare");
}

TEST(Ctest, ThousandsOfSecondsMayHaveCommas) {
  const auto file = [](const std::string& time) {
    return "<testsuite><testcase classname=\"A\" name=\"t\" time=\"" + time + "\"/></testsuite>";
  };
  for (const auto& [text, seconds] : {std::pair{"1,234.567", 1234.567}, {"12,345,678.5", 12345678.5}, {"999.5", 999.5}}) {
    const auto found = read_ok("ctest", file(text));
    ASSERT_EQ(found.size(), 1u) << text;
    expect_seconds(found[0], "A.t", seconds);
  }
  for (const char* text : {"1,234", "0,25", "1,23.5", "1234,567.5", ",234.5", "1,234,5.6", "1,23a.5", "1.234,5", "-1,234.5"})
    EXPECT_THAT(refusal("ctest", file(text)),
                HasSubstr("the time of testcase 't' is '" + std::string(text) + "', expected a number"));
}

TEST(Ctest, LogHasTheLastTimeOfEachTest) {
  const auto found = read_ok("ctest", kLog);
  ASSERT_EQ(found.size(), 2u);
  expect_seconds(found[0], "quick", 0.07);
  EXPECT_EQ(found[1].reason, "the test failed");
  const std::string text(kLog);
  EXPECT_THAT(refusal("ctest", text.substr(0, text.find("Command"))), HasSubstr("it ends before the 'Test time' of 'quick'"));
  EXPECT_THAT(refusal("ctest", "1/1 Testing: a\nTest time = long\n"), HasSubstr("line 2: expected a number and 'sec'"));
  EXPECT_THAT(refusal("ctest", "nothing here\n"), HasSubstr("it has no benchmark"));
}

}  // namespace
}  // namespace stab::metrics
