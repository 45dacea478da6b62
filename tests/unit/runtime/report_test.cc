#include "runtime/helper/dose_report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stab::helper {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string report(const abi::Settings& settings, const Control& control, End end) {
  std::string text(kReportBytes, '\0');
  text.resize(write_report(settings, control, HelperUse{}, end, text.data()));
  return text;
}

// tests/probes/hostile_test.py is a program that says it has entered images, and writes there.
TEST(Control, ExecutedLiesWhereTheImpostorWrites) {
  EXPECT_EQ(reinterpret_cast<char*>(&control().executed) - stab_control_pages.bytes, 3776);
}

// Read by runtime/code/images_gdb.py.
TEST(Control, LibrariesLieWhereGdbLooks) {
  EXPECT_EQ(reinterpret_cast<char*>(&control().libraries) - stab_control_pages.bytes, 4448);
  EXPECT_EQ(sizeof(code::MovedLibrary), 48u);
}

TEST(DoseReport, SaysWhatTheRunGot) {
  abi::Settings settings;
  settings.code = abi::CodeMode::kShuffle;
  settings.seed = 42;
  Control control;
  control.code.layouts_built = 12;
  control.code.layouts_executed = 11;
  control.code.not_moved[static_cast<int>(abi::Immovable::kForeign)] = 7;
  control.heap.mallocs = 99;
  control.heap.layouts = 12;
  degrade(control, Degradation::kRingFull);
  const std::string text = report(settings, control, End::kDied);
  EXPECT_THAT(text, HasSubstr(R"("end":"died","settings":{"code":"shuffle","stack":"off","heap":"off","seed":"0x2a",)"));
  EXPECT_THAT(text, HasSubstr(R"("layouts_built":12,"layouts_executed":11,)"));
  EXPECT_THAT(text, HasSubstr(R"("not_moved":{"foreign":7})"));
  EXPECT_THAT(text, HasSubstr(R"("mallocs":99)"));
  EXPECT_THAT(text, HasSubstr(R"("layouts":12,"turns":0})"));
  EXPECT_THAT(text, HasSubstr(std::string(R"("degradations":[")") + kDegradationWords[static_cast<int>(Degradation::kRingFull)] +
                              R"("]})"));
  EXPECT_EQ(text.back(), '\n');
}

TEST(DoseReport, FitsWithEveryDegradationAndLargestNumbers) {
  abi::Settings settings;
  settings.seed = ~uint64_t{0};
  auto control = std::make_unique<Control>();
  control->degradations = ~uint64_t{0};
  for (uint32_t& count : control->code.not_moved) count = ~uint32_t{0};
  for (uint64_t* counter : {&control->heap.mallocs, &control->heap.bytes, &control->code.build_ns}) *counter = ~uint64_t{0};
  const std::string text = report(settings, *control, End::kExit);
  EXPECT_LT(text.size(), kReportBytes - 100);
  EXPECT_THAT(text, HasSubstr("]}\n"));
}

std::string report_of_libraries(const std::vector<MovedFile>& files) {
  HelperUse use;
  use.moved_files = files.data();
  use.moved_file_count = static_cast<uint32_t>(files.size());
  std::string text(kReportBytes, '\0');
  text.resize(write_report(abi::Settings(), Control(), use, End::kExit, text.data()));
  return text;
}

TEST(DoseReport, SaysWhereLibrariesThatMovedLay) {
  const std::string text =
      report_of_libraries({{"/lib/libone.so.1", 0xabc, 7, 4096, 8192, 12288, 3}, {"", 1, 2, 3, 4, 5, 6}});
  EXPECT_THAT(text, EndsWith(R"("libraries":[{"path":"/lib/libone.so.1","text_hash":"0xabc","drawn_by":"0x7",)"
                             R"("text_address":4096,"ring_address":8192,"slot_bytes":12288,"first_image":3},)"
                             R"({"path":"","text_hash":"0x1","drawn_by":"0x2","text_address":3,"ring_address":4,)"
                             R"("slot_bytes":5,"first_image":6}],"libraries_untold":0})"
                             "\n"));
}

TEST(DoseReport, LeavesOutLibrariesThatItHasNoRoomFor) {
  MovedFile one{};
  std::fill_n(one.path, sizeof one.path - 1, 'x');
  const std::string text = report_of_libraries(std::vector<MovedFile>(60, one));
  EXPECT_LT(text.size(), kReportBytes);
  const auto begin = text.begin() + static_cast<long>(text.find("\"libraries\":"));
  const auto told = static_cast<size_t>(std::count(begin, text.end(), '{'));
  EXPECT_GT(told, 30u);
  EXPECT_LT(told, 60u);
  EXPECT_THAT(text, EndsWith("],\"libraries_untold\":" + std::to_string(60 - told) + "}\n"));
}

TEST(DoseReport, SaysWhoseMallocItWas) {
  abi::Settings settings;
  const auto served_by = [&settings](std::optional<Degradation> what) {
    auto control = std::make_unique<Control>();
    if (what) degrade(*control, *what);
    const std::string text = report(settings, *control, End::kExit);
    const size_t at = text.find("\"served_by\":\"");
    return at == std::string::npos ? std::string() : text.substr(at + 13, text.find('"', at + 13) - at - 13);
  };
  EXPECT_EQ(served_by(Degradation::kHeapOfProgram), "") << "heap is off: nobody looks";
  settings.heap = abi::HeapMode::kPage;
  EXPECT_EQ(served_by({}), "stab");
  EXPECT_EQ(served_by(Degradation::kHeapOfProgram), "program");
  EXPECT_EQ(served_by(Degradation::kHeapOfLibrary), "library");
  EXPECT_EQ(served_by(Degradation::kNamesHidden), "libc");
  EXPECT_EQ(served_by(Degradation::kDynamicWeak), "libc");
}

TEST(DoseReport, EveryDegradationHasWords) {
  for (const char* words : kDegradationWords) {
    ASSERT_NE(words, nullptr);
    EXPECT_GT(std::string(words).size(), 10u);
    EXPECT_EQ(std::string(words).find_first_of("\"\\\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace stab::helper
