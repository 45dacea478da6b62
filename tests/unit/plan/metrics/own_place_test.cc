// Where tools leave their results: criterion's tree, folders of files, and what may lie there instead.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/plan/metrics/read_text.h"

namespace stab::metrics {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OwnPlaceTest : public testing::Test {
 protected:
  OwnPlaceTest() {
    std::string name = (fs::temp_directory_path() / "own_place_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~OwnPlaceTest() override { fs::remove_all(folder_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  void benchmark(const std::string& path, const std::string& id, const std::string& value, const std::string& estimates) {
    const std::string named = R"({"group_id": "fib", "function_id": null, "value_str": )" +
                              (value.empty() ? "null" : "\"" + value + "\"") + R"(, "full_id": ")" + id + R"("})";
    write(path + "/new/benchmark.json", named);
    write(path + "/base/benchmark.json", named);
    if (!estimates.empty()) write(path + "/new/estimates.json", estimates);
  }
  Result<std::vector<Metric>> read_place(const std::string& format) {
    return read_own_place(*format_named(format), folder_.string());
  }
  std::string why(const std::string& format) {
    const auto found = read_place(format);
    EXPECT_FALSE(found.ok());
    return found ? "" : found.error().message;
  }
  fs::path folder_;
};

TEST_F(OwnPlaceTest, CriterionsTreeHasSlopesElseMeans) {
  benchmark("fib/20", "fib/20", "20", R"({"mean": {"point_estimate": 900.0}, "slope": {"point_estimate": 800.0}})");
  benchmark("fib/8", "fib/8", "8", R"({"mean": {"point_estimate": 90.0}, "slope": null})");
  benchmark("fib/4", "fib/4", "4", "");
  write("fib/4/new/sample.json", R"({"sampling_mode": "Linear", "iters": [1, 2], "times": [10, 40]})");
  write("report/index.html", "<html>");
  const auto found = read_place("criterion");
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->size(), 3u);
  expect_seconds((*found)[0], "fib/20", 800e-9);
  expect_seconds((*found)[1], "fib/4", 15e-9);
  expect_seconds((*found)[2], "fib/8", 90e-9);
  const auto times = read_own_processes(*format_named("criterion"), folder_.string());
  ASSERT_TRUE(times.ok());
  EXPECT_EQ((*times)[0], (ProcessTime{"fib/20", 0, 800 * 1e-9, "fib", {{"value", "20"}}}));
}

TEST_F(OwnPlaceTest, DamagedFilesOfCriterionAreNamed) {
  EXPECT_THAT(why("criterion"), HasSubstr("has no 'new/benchmark.json'"));
  benchmark("fib/20", "fib/20", "20", R"({"mean": {"point_estim)");
  EXPECT_THAT(why("criterion"), testing::AllOf(HasSubstr("fib/20/new': estimates.json: it ends at"), HasSubstr("cut off")));
  benchmark("fib/20", "fib/20", "20", R"({"mean": {"point_estimate": "9"}})");
  EXPECT_THAT(why("criterion"), HasSubstr("no 'point_estimate', expected a number"));
  benchmark("fib/20", "fib/20", "20", R"({"mean": {"point_estimate": -9}})");
  EXPECT_THAT(why("criterion"), HasSubstr("no time"));
  benchmark("fib/20", "fib/20", "20", R"({"mean": {"point_estimate": 9}})");
  benchmark("fib_20", "fib/20", "20", R"({"mean": {"point_estimate": 9}})");
  EXPECT_THAT(why("criterion"), HasSubstr("are both 'fib/20'"));
}

TEST_F(OwnPlaceTest, TheNewestFileOfAFolderCounts) {
  write("Linux/0001_a.json", R"({"benchmarks": [{"name": "old", "stats": {"mean": 1}}]})");
  write("Linux/0002_b.json", R"({"benchmarks": [{"name": "new", "stats": {"mean": 2}}]})");
  write("Linux/notes.txt", "x");
  fs::last_write_time(folder_ / "Linux/0001_a.json", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto found = read_place("pytest-benchmark");
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  expect_seconds((*found)[0], "new", 2);
  write("Linux/0002_b.json", "{");
  EXPECT_THAT(why("pytest-benchmark"), HasSubstr("0002_b.json': it ends at"));
}

TEST_F(OwnPlaceTest, AllFilesOfBenchmarkDotNetCount) {
  const auto file = [](const std::string& type) {
    return R"({"Benchmarks": [{"Type": ")" + type + R"(", "Method": "M", "Statistics": {"Mean": 5}}]})";
  };
  write("A-report-full.json", file("A"));
  write("B-report-full.json", file("B"));
  ASSERT_EQ(read_place("benchmark-dotnet")->size(), 2u);
  write("C-report-full.json", file("A"));
  EXPECT_THAT(why("benchmark-dotnet"), HasSubstr("C-report-full.json': 'A.M' is in another file, too"));
}

// A program that is measured may leave anything there.
TEST_F(OwnPlaceTest, LinksAndPipesAreNotRead) {
  write("elsewhere/a.json", R"({"benchmarks": [{"name": "a", "stats": {"mean": 1}}]})");
  fs::create_directory(folder_ / "place");
  fs::create_symlink(folder_ / "elsewhere/a.json", folder_ / "place/a.json");
  ASSERT_EQ(::mkfifo((folder_ / "place/b.json").c_str(), 0600), 0);
  const auto found = read_own_place(*format_named("pytest-benchmark"), (folder_ / "place").string());
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("has no file '*.json'"));
}

}  // namespace
}  // namespace stab::metrics
