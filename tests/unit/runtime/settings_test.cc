#include "runtime/settings.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace stab {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  bool ok = false;
  ParsedSettings parsed;
  std::string message;
};

Outcome parse(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  Outcome out;
  char message[kSettingsMessageBytes];
  out.ok = parse_settings(environment.data(), out.parsed, message);
  out.message = message;
  return out;
}

TEST(Settings, EmptyEnvironmentIsAllOff) {
  const Outcome out = parse({"HOME=/root", "STABLE=1", "STABILIZER_X=2"});
  ASSERT_TRUE(out.ok) << out.message;
  EXPECT_EQ(out.parsed.settings.code, abi::CodeMode::kOff);
  EXPECT_EQ(out.parsed.settings.stack, abi::StackMode::kOff);
  EXPECT_EQ(out.parsed.settings.heap, abi::HeapMode::kOff);
  EXPECT_EQ(out.parsed.settings.epoch_ns, 500'000'000u);
  EXPECT_FALSE(out.parsed.seed_given);
}

TEST(Settings, ReadableForms) {
  const Outcome out = parse({"STAB_CODE=pad", "STAB_STACK=on", "STAB_HEAP=page", "STAB_EPOCH=20ms",
                             "STAB_SEED=0xff", "STAB_REPORT=/tmp/x"});
  ASSERT_TRUE(out.ok) << out.message;
  EXPECT_EQ(out.parsed.settings.code, abi::CodeMode::kPad);
  EXPECT_EQ(out.parsed.settings.stack, abi::StackMode::kOn);
  EXPECT_EQ(out.parsed.settings.heap, abi::HeapMode::kPage);
  EXPECT_EQ(out.parsed.settings.epoch_ns, 20'000'000u);
  EXPECT_EQ(out.parsed.settings.seed, 255u);
  EXPECT_STREQ(out.parsed.report_path, "/tmp/x");
}

TEST(Settings, AnEpochMayBeSoManyVisits) {
  for (const auto& [entry, visits] : std::vector<std::pair<const char*, uint64_t>>{
           {"STAB_EPOCH=0visits", 0}, {"STAB_EPOCH=999999999999visits", 999'999'999'999u}}) {
    const Outcome out = parse({entry});
    ASSERT_TRUE(out.ok) << out.message;
    EXPECT_EQ(out.parsed.settings.epoch_ns, 0u);
    EXPECT_EQ(out.parsed.settings.epoch_visits, visits);
  }
  const Outcome later = parse({"STAB_EPOCH=7visits", "STAB_EPOCH=20ms"});
  EXPECT_EQ(later.parsed.settings.epoch_ns, 20'000'000u) << "the last one wins";
  EXPECT_EQ(later.parsed.settings.epoch_visits, 0u);
}

TEST(Settings, FixedFormOfVisitsRoundTrips) {
  for (const uint64_t visits : {uint64_t{0}, uint64_t{1}, abi::kMaxEpochVisits}) {
    abi::Settings wanted;
    wanted.epoch_ns = 0;
    wanted.epoch_visits = visits;
    char text[5 + abi::kSettingsLength + 1] = "STAB=";
    abi::encode_settings(wanted, text + 5);
    EXPECT_EQ(std::string(text).size(), 5 + abi::kSettingsLength) << "as long as with a time";
    const Outcome out = parse({text});
    ASSERT_TRUE(out.ok) << out.message;
    EXPECT_EQ(out.parsed.settings.epoch_ns, 0u);
    EXPECT_EQ(out.parsed.settings.epoch_visits, visits);
  }
}

TEST(Settings, TheRangeOfPadsIsAPowerOfTwo) {
  EXPECT_EQ(parse({}).parsed.settings.stack_range_bytes, 4096u);
  for (const auto& [entry, bytes] : std::vector<std::pair<const char*, uint32_t>>{
           {"STAB_STACK_RANGE=16", 16}, {"STAB_STACK_RANGE=256", 256}, {"STAB_STACK_RANGE=4096", 4096}}) {
    const Outcome out = parse({entry});
    EXPECT_TRUE(out.ok) << out.message;
    EXPECT_EQ(out.parsed.settings.stack_range_bytes, bytes);
  }
  for (const char* value : {"", "0", "8", "48", "8192", "4KiB", "-16", "0x10"}) {
    const std::string entry = std::string("STAB_STACK_RANGE=") + value;
    const Outcome out = parse({entry.c_str()});
    EXPECT_FALSE(out.ok) << entry;
    EXPECT_EQ(out.message, entry + ": expected a power of two from 16 to 4096, in bytes");
  }
}

TEST(Settings, PerfMapIsOneOrZero) {
  EXPECT_TRUE(parse({"STAB_PERF_MAP=1"}).parsed.settings.perf_map);
  EXPECT_FALSE(parse({"STAB_PERF_MAP=0"}).parsed.settings.perf_map);
  EXPECT_THAT(parse({"STAB_PERF_MAP=yes"}).message, HasSubstr("STAB_PERF_MAP=yes: expected 1 or 0"));
}

TEST(Settings, LongLoopsIsOneOrZero) {
  EXPECT_FALSE(parse({}).parsed.settings.long_loops);
  EXPECT_TRUE(parse({"STAB_LONG_LOOPS=1"}).parsed.settings.long_loops);
  EXPECT_FALSE(parse({"STAB_LONG_LOOPS=0"}).parsed.settings.long_loops);
  EXPECT_THAT(parse({"STAB_LONG_LOOPS=on"}).message, HasSubstr("STAB_LONG_LOOPS=on: expected 1 or 0"));
}

TEST(Settings, FixedFormRoundTrips) {
  abi::Settings wanted;
  wanted.code = abi::CodeMode::kShuffle;
  wanted.stack = abi::StackMode::kZero;
  wanted.heap = abi::HeapMode::kShuffle;
  wanted.seed = 0x123456789abcdef0u;
  wanted.epoch_ns = 1'000'000;
  wanted.helper_cpu = 1;
  wanted.helper_socket = 7;
  wanted.stack_range_bytes = 512;
  char text[5 + abi::kSettingsLength + 1] = "STAB=";
  abi::encode_settings(wanted, text + 5);
  const Outcome out = parse({text});
  ASSERT_TRUE(out.ok) << out.message;
  EXPECT_EQ(out.parsed.settings.code, wanted.code);
  EXPECT_EQ(out.parsed.settings.seed, wanted.seed);
  EXPECT_EQ(out.parsed.settings.helper_socket, 7);
  EXPECT_EQ(out.parsed.settings.report, -1);
  EXPECT_EQ(out.parsed.settings.stack_range_bytes, 512u);
  EXPECT_TRUE(out.parsed.seed_given);
}

TEST(Settings, RefusesWhatItCannotObey) {
  const struct {
    std::vector<const char*> environment;
    const char* message;
  } cases[] = {
      {{"STAB_CODE=shufle"}, "STAB_CODE=shufle: expected off, copy, once, shuffle, pad, design or direct"},
      {{"STAB_STACK="}, "STAB_STACK=: expected off, zero, on or recursive"},
      {{"STAB_HEAP=pages"}, "expected off, base, page or shuffle"},
      {{"STAB_EPOCH=5"}, "expected a whole number with us, ms or s"},
      {{"STAB_EPOCH=1us"}, "from 100us to 3600s"},
      {{"STAB_EPOCH=99999999999999999999ms"}, "expected a whole number"},
      {{"STAB_SEED=-1"}, "expected a number below 2^64"},
      {{"STAB_SEED=18446744073709551616"}, "expected a number below 2^64"},
      {{"STAB_REPORT="}, "expected a path"},
      {{"STAB_LAYOUT="}, "expected the path of a layout script"},
      {{"STAB_LAYOUT=x.script"}, "STAB_LAYOUT=x.script: needs a STAB_CODE that is not off"},
      {{"STAB_CODE=design"}, "STAB_CODE=design: needs STAB_LAYOUT"},
      {{"STAB=04,d--,0000000000000001,0000500000000,----,----,----,4096", "STAB_LAYOUT=x"}, "set together with STAB="},
      {{"STAB_COED=copy"}, "STAB_COED=copy: unknown setting"},
      {{"STAB=04,sop"}, "fixed-width form"},
      {{"STAB=01,---,0000000000000001,0000500000000,----,----,----"}, "version 4"},
      {{"STAB=01,---,0000000000000001,0000500000000,----,----,----,4096"}, "version 4"},
      {{"STAB=02,---,0000000000000001,0000500000000,----,----,----,4096"}, "version 4"},
      {{"STAB=03,---,0000000000000001,0000500000000,----,----,----,4096"}, "version 4"},
      {{"STAB=04,---,0000000000000001,v00000000000x,----,----,----,4096"}, "fixed-width form"},
      {{"STAB=04,---,0000000000000001,0000000000000,----,----,----,4096"}, "fixed-width form"},
      {{"STAB_EPOCH=0ms"}, "from 100us to 3600s, or with visits"},
      {{"STAB_EPOCH=visits"}, "expected a whole number"},
      {{"STAB_EPOCH=1000000000000visits"}, "with visits, such as 1000visits"},
      {{"STAB=04,---,0000000000000001,0000500000000,----,----,----,0048"}, "fixed-width form"},
      {{"STAB=04,---,0000000000000001,0000500000000,----,----,----,4096", "STAB_CODE=off"}, "set together with STAB="},
  };
  for (const auto& c : cases) {
    const Outcome out = parse(c.environment);
    EXPECT_FALSE(out.ok) << c.environment[0];
    EXPECT_THAT(out.message, HasSubstr(c.message));
  }
}

TEST(Settings, ALayoutScriptGoesWithWhatMoves) {
  const Outcome design = parse({"STAB_CODE=design", "STAB_LAYOUT=x.script"});
  ASSERT_TRUE(design.ok) << design.message;
  EXPECT_EQ(design.parsed.settings.code, abi::CodeMode::kDesign);
  EXPECT_STREQ(design.parsed.script_path, "x.script");
  EXPECT_TRUE(parse({"STAB_LAYOUT=x.script", "STAB_CODE=copy"}).ok);
  // A launcher's program gets its script from its helper.
  EXPECT_TRUE(parse({"STAB=04,d--,0000000000000001,0000500000000,----,0003,----,4096"}).ok);
}

TEST(Settings, DriverVariablesSayNothingAboutARun) {
  EXPECT_TRUE(parse({"STAB_LINK_SEED=4"}).ok);
  EXPECT_TRUE(parse({"STAB_LINK_SEED=4", "STAB=04,---,0000000000000001,0000500000000,----,----,----,4096"}).ok);
}

TEST(Settings, LongValuesAreCutInTheMessage) {
  const std::string entry = "STAB_CODE=" + std::string(1000, 'x');
  const Outcome out = parse({entry.c_str()});
  EXPECT_FALSE(out.ok);
  EXPECT_LT(out.message.size(), kSettingsMessageBytes);
}

}  // namespace
}  // namespace stab
