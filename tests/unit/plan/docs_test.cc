// The documentation of the format against the parser: examples parse, and every key that the parser reads is
// named in docs/reference/plan.md, of which the manual page is made (house.man).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "plan/parse.h"
#include "tests/places.h"

namespace stab::plan {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = STAB_SOURCE_DIR;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void expect_parses(const std::string& text, const std::string& name) {
  const Parsed parsed = parse_plan(text, name);
  EXPECT_TRUE(parsed.plan.has_value()) << render(parsed.errors);
  EXPECT_TRUE(parsed.warnings.empty()) << render(parsed.warnings);
}

std::vector<std::string> toml_blocks(const std::string& text) {
  std::vector<std::string> blocks;
  for (size_t at = text.find("```toml\n"); at != std::string::npos; at = text.find("```toml\n", at + 1)) {
    const size_t start = at + 8;
    blocks.push_back(text.substr(start, text.find("```", start) - start));
  }
  return blocks;
}

TEST(PlanDocs, ExamplesParse) {
  const std::vector<std::string> examples = toml_blocks(contents(kRoot / "docs/reference/plan.md"));
  for (const std::string& example : examples) expect_parses(example, "docs/reference/plan.md");
  EXPECT_GE(examples.size(), 1u);
}

// Whole plans in guides parse; blocks without factors or a program are parts of one, or a gate's file.
TEST(PlanDocs, PlansOfGuidesParse) {
  int plans = 0;
  for (const char* folder : {"docs/tutorials", "docs/how-to"})
    for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".md") continue;
      for (const std::string& block : toml_blocks(contents(entry.path()))) {
        if (block.find("[factors]") == std::string::npos || block.find("[[program]]") == std::string::npos) continue;
        expect_parses(block, entry.path().filename());
        ++plans;
      }
    }
  EXPECT_GE(plans, 5);
}

// The keys in calls such as section.text("name", ...) of the parser's own sources.
std::set<std::string> keys_of_the_parser() {
  const std::regex call(
      "\\b(?:section|inner|root|factors)\\.(?:find|text|boolean|integer|number|fraction|duration|bytes|texts|word|"
      "table)\\(\"([a-z0-9_]+)\"|(?:parse_command|parse_hash|parse_cpus|optional_table)\\((?:section|root), \"([a-z0-9_]+)\"");
  std::set<std::string> keys;
  for (const auto& entry : fs::directory_iterator(kRoot / "plan")) {
    if (entry.path().filename().string().rfind("parse", 0) != 0 || entry.path().extension() != ".cc") continue;
    const std::string text = contents(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at)
      keys.insert((*at)[1].matched ? (*at)[1] : (*at)[2]);
  }
  return keys;
}

TEST(PlanDocs, EveryKeyIsDocumented) {
  const std::set<std::string> keys = keys_of_the_parser();
  ASSERT_GE(keys.size(), 60u);
  const std::string text = contents(kRoot / "docs/reference/plan.md");
  for (const std::string& key : keys) EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + key + "\\b"))) << key;
  for (std::string_view key : kLedgerKeys) EXPECT_NE(text.find(key), std::string::npos) << key;
  for (const Knob& knob : kKnobs) EXPECT_NE(text.find(knob.name), std::string::npos) << knob.name;
}

}  // namespace
}  // namespace stab::plan
