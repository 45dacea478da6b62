// Layout scripts: what is taken, what is refused and where, and that levels are balanced as they are said to be.
#include "runtime/code/layout_script.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stab::code {
namespace {

struct Read {
  ScriptVerdict verdict;
  std::string text;
  std::unique_ptr<LayoutScript> script = std::make_unique<LayoutScript>();
};

Read read(const std::string& text) {
  Read out{{}, text};
  out.verdict = parse_script(out.text.data(), out.text.size(), *out.script);
  return out;
}

// A program of five functions: f, two called g, one without a name, and one that never moves.
class LayoutScriptTest : public ::testing::Test {
 protected:
  LayoutScriptTest() {
    header_.text_start = 0x401000;
    header_.text_hash = 0xabc;
    header_.function_count = 5;
    for (uint32_t i = 0; i < 5; ++i) functions_[i].start = 64 * i;
    functions_[4].immovable = abi::Immovable::kForeign;
    code_.header = &header_;
    code_.functions = functions_;
  }
  ScriptVerdict bind(Read& script) {
    const auto name_of = [](const void*, uint32_t function) -> const char* {
      static constexpr const char* kNames[] = {"f", "g", "g", nullptr, "stays"};
      return kNames[function];
    };
    return bind_script(code_, name_of, nullptr, *script.script);
  }
  ScriptFault bound(const std::string& lines) {
    Read script = read("stab-script 1 any\n" + lines);
    EXPECT_EQ(script.verdict.fault, ScriptFault::kNone) << lines;
    return bind(script).fault;
  }

  abi::CodeHeader header_{};
  abi::CodeFunction functions_[5] = {};
  Metadata code_;
};

TEST_F(LayoutScriptTest, SaysWhatIsPlacedAndCounted) {
  Read out = read("# why\n\nstab-script 1 0xABC\r\nplace f mod 64 0 48 16\t# three\n  count 0x401040\nrest still");
  ASSERT_EQ(out.verdict.fault, ScriptFault::kNone);
  EXPECT_FALSE(out.script->any_binary);
  EXPECT_EQ(out.script->text_hash, 0xabcu);
  EXPECT_TRUE(out.script->rest_still);
  EXPECT_EQ(out.script->rest_line, 6u);
  ASSERT_EQ(out.script->placed_count, 1u);
  EXPECT_EQ(out.script->placed[0].modulus, 64u);
  EXPECT_EQ(out.script->placed[0].level_count, 3u);
  EXPECT_EQ(out.script->placed[0].levels[1], 48u);
  EXPECT_EQ(out.script->placed[0].name.line, 4u);
  ASSERT_EQ(bind(out).fault, ScriptFault::kNone);
  EXPECT_EQ(out.script->placed[0].function, 0u);
  EXPECT_EQ(out.script->counted[0].function, 1u);
  char name[kPointNameBytes];
  write_point_name(out.script->counted[0], name);
  EXPECT_STREQ(name, "function:0x401040");
}

TEST_F(LayoutScriptTest, LinesAboutALibraryAreItsAlone) {
  const std::string text = "stab-script 1 0xabc\nrest still\nplace f mod 64 0 16\nplace liba.so!g mod 64 32\n"
                           "place libb.so!f mod 64 0 16\nplace libb.so!0x401040 mod 4096 64\ncount f\n";
  Read out = read(text);
  ASSERT_EQ(out.verdict.fault, ScriptFault::kNone);
  EXPECT_EQ(out.script->placed_count, 1u);
  EXPECT_EQ(out.script->library_count, 3u);
  EXPECT_EQ(out.script->library_line, 4u);
  LayoutScript own;
  ASSERT_EQ(parse_script(text.data(), text.size(), own, "libb.so").fault, ScriptFault::kNone);
  ASSERT_EQ(own.placed_count, 2u);
  EXPECT_EQ(own.counted_count, 0u);
  EXPECT_TRUE(own.any_binary) << "the hash is the executable's";
  EXPECT_TRUE(own.rest_still);
  EXPECT_EQ(std::string(own.placed[0].name.text, own.placed[0].name.bytes), "f");
  EXPECT_EQ(own.placed[0].name.line, 5u);
  EXPECT_EQ(own.placed[1].number, 3u) << "among all places";
  const auto nameless = [](const void*, uint32_t function) -> const char* { return function == 0 ? "f" : nullptr; };
  ASSERT_EQ(bind_script(code_, nameless, nullptr, own).fault, ScriptFault::kNone);
  EXPECT_EQ(own.placed[1].function, 1u);
  // Functions of one index in two files are drawn apart.
  bool differ = false;
  const PlacedFunction& others = out.script->placed[0];
  for (uint64_t seed = 0; seed < 64; ++seed) differ |= level_of(own.placed[0], seed, 0) != level_of(others, seed, 0);
  EXPECT_TRUE(differ);
  ASSERT_EQ(parse_script(text.data(), text.size(), own, "libc.so").fault, ScriptFault::kNone);
  EXPECT_EQ(own.placed_count, 0u);
  EXPECT_EQ(read("stab-script 1 any\nplace !f mod 64 0\n").verdict.fault, ScriptFault::kBadName);
  EXPECT_EQ(read("stab-script 1 any\nplace liba.so! mod 64 0\n").verdict.fault, ScriptFault::kBadName);
  EXPECT_EQ(read("stab-script 1 any\ncount liba.so!f\n").verdict.fault, ScriptFault::kNotCounted);
  Read alone = read("stab-script 1 any\nplace liba.so!f mod 64 0\n");
  const ScriptVerdict elsewhere = suits_mode(*alone.script, abi::CodeMode::kShuffle);
  EXPECT_EQ(elsewhere.fault, ScriptFault::kNotDesign);
  EXPECT_EQ(elsewhere.line, 2u);
  EXPECT_TRUE(needs_images(*alone.script));
}

TEST_F(LayoutScriptTest, SaysWhatIsMatched) {
  Read out = read("stab-script 1 any\nmatch 712 0xfeed\ncount f\n");
  ASSERT_EQ(out.verdict.fault, ScriptFault::kNone);
  EXPECT_EQ(out.script->match_line, 2u);
  EXPECT_EQ(out.script->match_rows, 712u);
  EXPECT_EQ(out.script->match_hash, 0xfeedu);
  EXPECT_EQ(suits_mode(*out.script, abi::CodeMode::kOnce).fault, ScriptFault::kNone);
  EXPECT_EQ(suits_mode(*out.script, abi::CodeMode::kPad).fault, ScriptFault::kMatchAlone);
  EXPECT_EQ(suits_mode(*out.script, abi::CodeMode::kPad).line, 2u);
  EXPECT_EQ(suits_mode(*out.script, abi::CodeMode::kOff).fault, ScriptFault::kNoImage) << "it counts";
  Read pads = read("stab-script 1 any\nmatch pads\n");
  ASSERT_EQ(pads.verdict.fault, ScriptFault::kNone);
  EXPECT_FALSE(pads.script->has_match_table);
  Read nothing = read("stab-script 1 any\nmatch 0 0x1\n");
  ASSERT_EQ(nothing.verdict.fault, ScriptFault::kNone);
  EXPECT_TRUE(nothing.script->has_match_table) << "all that moves may be in libraries";
  EXPECT_EQ(nothing.script->match_rows, 0u);
  EXPECT_EQ(suits_mode(*nothing.script, abi::CodeMode::kPad).fault, ScriptFault::kMatchAlone);
  for (const abi::CodeMode mode : {abi::CodeMode::kOff, abi::CodeMode::kCopy, abi::CodeMode::kShuffle, abi::CodeMode::kDesign})
    EXPECT_EQ(suits_mode(*pads.script, mode).fault, ScriptFault::kNone);
  for (const char* bad : {"match", "match -1 0x1", "match 1048577 0x1", "match 5", "match 5 7", "match pads 3", "match 5 0x1 6"})
    EXPECT_EQ(read(std::string("stab-script 1 any\n") + bad).verdict.fault, ScriptFault::kBadMatch) << bad;
  EXPECT_EQ(read("stab-script 1 any\nmatch pads\nmatch 5 0x1\n").verdict.fault, ScriptFault::kTwice);
}

TEST_F(LayoutScriptTest, FaultsAreSaidWithTheirLine) {
  const std::string long_name(kMostCountedName + 1, 'n');
  std::string many = "stab-script 1 any\n", many_counted = many;
  for (uint32_t i = 0; i <= kMostPlaced; ++i) many += "place f" + std::to_string(i) + " mod 64 0\n";
  for (uint32_t i = 0; i <= kMostCounted; ++i) many_counted += "count f" + std::to_string(i) + "\n";
  const struct {
    std::string text;
    ScriptFault fault;
    uint32_t line;
  } cases[] = {
      {"", ScriptFault::kNoHeader, 0},
      {"# only this\n", ScriptFault::kNoHeader, 0},
      {"count f\n", ScriptFault::kNoHeader, 1},
      {"stab-script 2 any\n", ScriptFault::kNoHeader, 1},
      {"stab-script 1\n", ScriptFault::kNoHeader, 1},
      {"stab-script 1 abc\n", ScriptFault::kNoHeader, 1},
      {"stab-script 1 0x\n", ScriptFault::kNoHeader, 1},
      {"stab-script 1 0x11112222333344445\n", ScriptFault::kNoHeader, 1},
      {"stab-script 1 any thing\n", ScriptFault::kNoHeader, 1},
      {"stab-script 1 any\nfreeze f\n", ScriptFault::kUnknownLine, 2},
      {"stab-script 1 any\ncount\n", ScriptFault::kUnknownLine, 2},
      {"stab-script 1 any\ncount f g\n", ScriptFault::kUnknownLine, 2},
      {"stab-script 1 any\nrest moves\n", ScriptFault::kUnknownLine, 2},
      {"stab-script 1 any\nrest still\n\nrest still\n", ScriptFault::kTwice, 4},
      {"stab-script 1 any\nplace f\n", ScriptFault::kBadModulus, 2},
      {"stab-script 1 any\nplace f mod 16 0\n", ScriptFault::kBadModulus, 2},
      {"stab-script 1 any\nplace f mod 96 0\n", ScriptFault::kBadModulus, 2},
      {"stab-script 1 any\nplace f mod 8192 0\n", ScriptFault::kBadModulus, 2},
      {"stab-script 1 any\nplace f mod 64\n", ScriptFault::kTooManyLevels, 2},
      {"stab-script 1 any\nplace f mod 64 64\n", ScriptFault::kBadLevel, 2},
      {"stab-script 1 any\nplace f mod 64 8\n", ScriptFault::kBadLevel, 2},
      {"stab-script 1 any\nplace f mod 64 -16\n", ScriptFault::kBadLevel, 2},
      {"stab-script 1 any\nplace f mod 64 0 16 0\n", ScriptFault::kBadLevel, 2},
      {"stab-script 1 any\nplace f mod 512 0 16 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256\n",
       ScriptFault::kTooManyLevels, 2},
      {"stab-script 1 any\ncount a\"b\n", ScriptFault::kBadName, 2},
      {"stab-script 1 any\ncount a\x7f\n", ScriptFault::kBadName, 2},
      {"stab-script 1 any\ncount " + long_name + "\n", ScriptFault::kBadName, 2},
      {many, ScriptFault::kTooMany, kMostPlaced + 2},
      {many_counted, ScriptFault::kTooMany, kMostCounted + 2},
      {std::string("stab-script 1 any\n\0\n", 20), ScriptFault::kTooLong, 2},
      {std::string(kMostScriptBytes + 1, '\n'), ScriptFault::kTooLong, 0},
  };
  for (const auto& c : cases) {
    const ScriptVerdict verdict = read(c.text).verdict;
    EXPECT_EQ(verdict.fault, c.fault) << c.text.substr(0, 200);
    EXPECT_EQ(verdict.line, c.line) << c.text.substr(0, 200);
  }
  for (size_t i = 1; i < static_cast<size_t>(ScriptFault::kCount); ++i) EXPECT_NE(std::string(kScriptFaultWords[i]), "");
}

TEST_F(LayoutScriptTest, FunctionsAreTheOnesThatAreMeant) {
  EXPECT_EQ(bound("count f\n"), ScriptFault::kNone);
  EXPECT_EQ(bound("count ff\n"), ScriptFault::kNotThere);
  EXPECT_EQ(bound("count 0x401001\n"), ScriptFault::kNotThere);
  EXPECT_EQ(bound("count 0x1\n"), ScriptFault::kNotThere);
  EXPECT_EQ(bound("count g\n"), ScriptFault::kAmbiguous);
  EXPECT_EQ(bound("place 0x401040 mod 64 0\nplace 0x401080 mod 64 0\nplace 0x4010c0 mod 64 0\n"), ScriptFault::kNone);
  EXPECT_EQ(bound("place stays mod 64 0\n"), ScriptFault::kStays);
  EXPECT_EQ(bound("count stays\n"), ScriptFault::kStays);
  EXPECT_EQ(bound("place f mod 64 0\nplace 0x401000 mod 64 16\n"), ScriptFault::kTwice);
  EXPECT_EQ(bound("count f\ncount f\n"), ScriptFault::kTwice);
  EXPECT_EQ(bound("count f\nplace f mod 64 0\n"), ScriptFault::kNone);
  Read other = read("stab-script 1 0xabd\n");
  EXPECT_EQ(bind(other).fault, ScriptFault::kOtherBinary);
}

TEST_F(LayoutScriptTest, PlacesAreForTheLevelDesignAlone) {
  const Read places = read("stab-script 1 any\ncount g\nplace f mod 64 0\n"), counts = read("stab-script 1 any\ncount f\n"),
             stills = read("stab-script 1 any\n\nrest still\n");
  EXPECT_EQ(suits_mode(*places.script, abi::CodeMode::kDesign).fault, ScriptFault::kNone);
  EXPECT_EQ(suits_mode(*places.script, abi::CodeMode::kShuffle).fault, ScriptFault::kNotDesign);
  EXPECT_EQ(suits_mode(*places.script, abi::CodeMode::kShuffle).line, 3u);
  EXPECT_EQ(suits_mode(*stills.script, abi::CodeMode::kOnce).line, 3u);
  EXPECT_EQ(suits_mode(*counts.script, abi::CodeMode::kCopy).fault, ScriptFault::kNone);
  EXPECT_EQ(suits_mode(*counts.script, abi::CodeMode::kOff).fault, ScriptFault::kNoImage);
}

PlacedFunction placed(uint32_t function, const std::vector<uint16_t>& levels) {
  PlacedFunction out;
  out.function = function;
  out.modulus = 64;
  for (const uint16_t level : levels) out.levels[out.level_count++] = level;
  return out;
}

TEST(Levels, EachRunOfImagesHasEveryLevelOnce) {
  const PlacedFunction four = placed(17, {0, 16, 32, 48});
  std::set<std::vector<uint32_t>> orders;
  for (uint32_t block = 0; block < 500; ++block) {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < 4; ++i) order.push_back(level_of(four, 3, block * 4 + i));
    EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), 4u);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 24u);  // all that there are
}

// A chi-square of 9 degrees of freedom is below 33.7 with probability 0.9999.
TEST(Levels, FunctionsAreIndependentOfEachOther) {
  const PlacedFunction a = placed(1, {0, 16, 32, 48}), b = placed(2, {0, 16, 32, 48});
  std::map<std::pair<uint32_t, uint32_t>, double> together;
  constexpr uint32_t kImages = 8000;
  for (uint32_t image = 0; image < kImages; ++image) ++together[{level_of(a, 9, image), level_of(b, 9, image)}];
  constexpr double kExpected = kImages / 16.0;
  double chi_square = 0;
  for (const auto& [levels, count] : together) chi_square += (count - kExpected) * (count - kExpected) / kExpected;
  EXPECT_EQ(together.size(), 16u);
  EXPECT_LT(chi_square, 33.7);
}

TEST(Levels, AreAFunctionOfSeedFunctionAndImage) {
  const PlacedFunction a = placed(1, {0, 16, 32, 48}), b = placed(2, {0, 16, 32, 48}), one = placed(1, {32});
  int differ_by_seed = 0, differ_by_function = 0;
  for (uint32_t image = 0; image < 100; ++image) {
    EXPECT_EQ(level_of(a, 1, image), level_of(a, 1, image));
    EXPECT_EQ(level_of(one, 1, image), 32u);
    differ_by_seed += level_of(a, 1, image) != level_of(a, 2, image);
    differ_by_function += level_of(a, 1, image) != level_of(b, 1, image);
  }
  EXPECT_GT(differ_by_seed, 50);
  EXPECT_GT(differ_by_function, 50);
}

}  // namespace
}  // namespace stab::code
