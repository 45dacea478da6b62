// Golden rendering of faults: faults/NAME.toml must give exactly faults/NAME.txt. Where a change is meant, run
// this test with STAB_UPDATE_GOLDEN=1 and read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "plan/parse.h"
#include "tests/places.h"

namespace stab::plan {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Nothing exists, so that every existence check speaks.
class NoFiles final : public FileLookup {
 public:
  FileKind look(const std::string&) const override { return FileKind::kAbsent; }
  bool is_in_path(const std::string& name) const override { return name == "p"; }
};

std::vector<fs::path> cases() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(STAB_SOURCE_DIR "/tests/unit/plan/faults"))
    if (entry.path().extension() == ".toml") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Faults, RenderAsTheGoldenFilesSay) {
  const NoFiles files;
  ASSERT_GE(cases().size(), 10u);
  for (const fs::path& path : cases()) {
    const Parsed result =
        parse_plan(text_of(path), path.filename().string(), {.max_errors = 20, .files = &files});
    EXPECT_FALSE(result.plan.has_value()) << path;
    EXPECT_FALSE(result.errors.empty()) << path;
    const std::string text = render(result.errors) + render(result.warnings);
    fs::path golden = path;
    golden.replace_extension(".txt");
    if (std::getenv("STAB_UPDATE_GOLDEN")) std::ofstream(golden, std::ios::binary) << text;
    EXPECT_EQ(text, text_of(golden)) << path;
  }
}

TEST(Faults, EveryErrorHasAPlace) {
  for (const fs::path& path : cases())
    for (const toml::Diagnostic& fault : parse_plan(text_of(path), "p.toml").errors)
      EXPECT_TRUE(fault.spot.known()) << path << ": " << fault.message;
}

}  // namespace
}  // namespace stab::plan
