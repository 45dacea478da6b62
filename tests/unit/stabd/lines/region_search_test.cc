// A small program, compiled by both compilers, and what is said of its addresses. The truth is the compiler's own: a function
// whose body is one line has only that line's code.
#include "stabd/lines/region_search.h"
#include "tests/places.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

namespace stab::lines {
namespace {

namespace fs = std::filesystem;

// Line 4 is inlined into spin's line 8, the only line of its loop; entry has one line, 11.
constexpr char kSource[] = R"(#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x) {
  return (x ^ x >> 13) * 2654435761u;
}
__attribute__((noinline)) unsigned spin(unsigned n) {
  unsigned s = 1;
  for (unsigned i = 0; i < n; ++i) s += mix(s + i);
  return s;
}
int main(int argc, char** argv) { printf("%u\n", spin((unsigned)atoi(argv[argc - 1]))); return 0; }
)";

std::string output_of(const std::string& command) {
  std::string out;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  if (!pipe) return out;
  std::array<char, 4096> buffer;
  for (size_t got; (got = ::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) out.append(buffer.data(), got);
  return out;
}

class RegionSearch : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/stab-lines-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    fs::create_directory(folder_ + "/src");
    std::ofstream(folder_ + "/src/a.c") << kSource;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string build(const std::string& flags, const std::string& name = "a") {
    const std::string binary = folder_ + "/" + name;
    const std::string command = "cd " + folder_ + " && " + GetParam() + " " + flags + " src/a.c -o " + name + " 2>&1";
    const std::string said = output_of(command);
    EXPECT_TRUE(fs::exists(binary)) << command << "\n" << said;
    return binary;
  }
  // Where a symbol is, as nm says.
  std::pair<uint64_t, uint64_t> symbol(const std::string& binary, const std::string& name) {
    const std::string line = output_of("nm -S " + binary + " | grep -w " + name);
    uint64_t at = 0, size = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "%lx %lx", &at, &size), 2) << line;
    return {at, at + size};
  }
  Request request(const std::string& binary) {
    Request out;
    out.scope = {"src/%"};
    out.modules = {{binary, ""}};
    return out;
  }
  std::string folder_;
};

TEST_P(RegionSearch, FindsEachPlaceAndTheWholeCodeOfItsLine) {
  const std::string binary = build("-g -O2");
  const auto [begin, end] = symbol(binary, "spin");
  Request asked = request(binary);
  for (uint64_t at = begin; at < end; ++at) asked.places.push_back({0, at});
  asked.wanted = {{"a.c", 4, ""}, {"src/a.c", 8, ""}, {"b.c", 8, ""}};
  asked.whole_scope = true;
  const Answer said = answer(asked, "/nowhere");
  ASSERT_EQ(said.modules[0].reading, static_cast<uint32_t>(Reading::kLines)) << said.modules[0].why;
  ASSERT_TRUE(decode_answer(encode(said), asked).ok());
  // What is found at an address and the ranges of its line are one truth.
  size_t of_mix = 0, of_loop = 0;
  for (size_t i = 0; i < asked.places.size(); ++i) {
    const uint64_t at = asked.places[i].address;
    const auto within = [&](const Ranges& list) {
      return std::any_of(list.ranges.begin(), list.ranges.end(),
                         [&](const Range& range) { return range.begin <= at && at < range.end; });
    };
    const uint32_t line = said.found[i] == kNoRegion ? 0 : said.regions[said.found[i]].line;
    EXPECT_EQ(within(said.ranges[0]), line == 4) << at;
    EXPECT_EQ(within(said.ranges[1]), line == 8) << at;
    EXPECT_EQ(within(said.scope), line != 0) << at;
    of_mix += line == 4;
    of_loop += line == 8;
  }
  EXPECT_GT(of_mix, 4u);
  EXPECT_GT(of_loop, 2u);
  EXPECT_TRUE(said.ranges[2].ranges.empty());
  EXPECT_TRUE(std::all_of(said.regions.begin(), said.regions.end(), [&](const Region& region) {
    return region.file == folder_ + "/src/a.c" && (region.function == "spin" || region.function == "mix");
  }));
}

TEST_P(RegionSearch, FindsFunctionsWithoutWhatIsInlinedIntoThem) {
  const std::string binary = build("-g -O2");
  const auto [begin, end] = symbol(binary, "spin");
  Request asked = request(binary);
  asked.unit = static_cast<uint32_t>(Unit::kFunction);
  asked.wanted = {{"", 0, "spin"}, {"", 0, "mix"}};
  const Answer said = answer(asked, "/nowhere");
  uint64_t bytes = 0, inlined = 0;
  for (const Range& range : said.ranges[0].ranges) bytes += range.end - range.begin;
  for (const Range& range : said.ranges[1].ranges) {
    inlined += range.end - range.begin;
    EXPECT_GE(range.begin, begin);
    EXPECT_LE(range.end, end);
  }
  EXPECT_GT(inlined, 4u);
  EXPECT_LE(bytes + inlined, end - begin);
  EXPECT_GE(bytes + inlined, (end - begin) * 3 / 4);  // alignment at its end has no line
}

TEST_P(RegionSearch, ReadsASeparateDebugFileOfTheSameBuildOnly) {
  const std::string binary = build("-g -O2 -Wl,--build-id=sha1");
  const auto [begin, end] = symbol(binary, "spin");
  output_of("cd " + folder_ + " && objcopy --only-keep-debug a a.debug && strip a && objcopy --add-gnu-debuglink=a.debug a 2>&1");
  Request asked = request(binary);
  asked.places = {{0, begin}};
  Answer said = answer(asked, "/nowhere");
  ASSERT_EQ(said.modules[0].reading, static_cast<uint32_t>(Reading::kLines)) << said.modules[0].why;
  EXPECT_EQ(said.modules[0].debug_file, folder_ + "/a.debug");
  EXPECT_NE(said.found[0], kNoRegion);
  // By its build id, below the folder of debug files.
  const std::string id = said.modules[0].build_id;
  ASSERT_EQ(id.size(), 40u);
  fs::create_directories(folder_ + "/debug/.build-id/" + id.substr(0, 2));
  fs::rename(folder_ + "/a.debug", folder_ + "/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  said = answer(asked, folder_ + "/debug");
  EXPECT_NE(said.found[0], kNoRegion) << said.modules[0].why;
  // That of another build would tell other lines.
  build("-g -O1 -Wl,--build-id=sha1", "other");
  output_of("cd " + folder_ + " && objcopy --only-keep-debug other a.debug");
  said = answer(asked, "/nowhere");
  EXPECT_EQ(said.modules[0].reading, static_cast<uint32_t>(Reading::kNoDebug));
  EXPECT_EQ(said.found[0], kNoRegion);
}

TEST_P(RegionSearch, SaysWhyThereAreNoLinesAndWhatToDo) {
  const std::string bare = build("-O2 -Wl,--build-id=sha1", "bare");
  std::ofstream(folder_ + "/text") << "no program";
  Request asked = request(bare);
  asked.modules.push_back({folder_ + "/absent", ""});
  asked.modules.push_back({folder_ + "/text", ""});
  asked.modules.push_back({build("-g -Wl,--build-id=sha1"), "00112233"});
  asked.modules.push_back({"/dev/null", ""});
  asked.places = {{0, 0x1000}, {1, 0x1000}, {2, 0x1000}, {3, 0x1000}, {4, 0}};
  const Answer said = answer(asked, "/nowhere");
  EXPECT_EQ(said.modules[0].reading, static_cast<uint32_t>(Reading::kNoDebug));
  EXPECT_NE(said.modules[0].why.find("build it with -g"), std::string::npos);
  EXPECT_NE(said.modules[0].why.find(said.modules[0].build_id.substr(2)), std::string::npos);
  EXPECT_EQ(said.modules[1].reading, static_cast<uint32_t>(Reading::kUnreadable));
  EXPECT_EQ(said.modules[2].reading, static_cast<uint32_t>(Reading::kUnreadable));
  EXPECT_EQ(said.modules[3].reading, static_cast<uint32_t>(Reading::kOtherBuild));
  EXPECT_EQ(said.modules[4].reading, static_cast<uint32_t>(Reading::kUnreadable));
  for (const uint32_t found : said.found) EXPECT_EQ(found, kNoRegion);
  ASSERT_TRUE(decode_answer(encode(said), asked).ok());
}

// A binary is its submitter's: whatever its bytes are, there is an answer or none, and never one that the wire refuses.
TEST_P(RegionSearch, SurvivesBrokenBinaries) {
  const std::string binary = build("-g -O2");
  std::ifstream file(binary, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < 60; ++i) {
    std::string bad = good;
    for (int flips = 0; flips < 1 + i; ++flips) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      bad[random % bad.size()] = static_cast<char>(random >> 40);
    }
    if (i % 3 == 0) bad.resize(bad.size() * static_cast<size_t>(i + 1) / 64 + 64);
    std::ofstream(folder_ + "/bad", std::ios::binary) << bad;
    // In a process of its own, as ever: LLVM's library may end it.
    Request asked = request(folder_ + "/bad");
    for (uint64_t at = 0x1000; at < 0x1300; at += 7) asked.places.push_back({0, at});
    asked.wanted = {{"a.c", 8, ""}};
    std::ofstream(folder_ + "/question", std::ios::binary) << encode(asked);
    const std::string said = output_of(std::string(STAB_LINES) + " < " + folder_ + "/question 2>/dev/null");
    if (!said.empty()) {
      EXPECT_TRUE(decode_answer(said, asked).ok()) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, RegionSearch, ::testing::Values("gcc", "clang-19"),
                         [](const auto& one) { return std::string(one.param).substr(0, 3); });

}  // namespace
}  // namespace stab::lines
