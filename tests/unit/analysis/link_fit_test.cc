// Blocks and links fitted together, against R's lm.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "analysis/report/experiment/draws.h"
#include "tests/places.h"

namespace stab::analysis {
namespace {

struct LinkFitCase {
  std::string name;
  report::WorkloadUnits workload;
  std::map<std::string, double> values;
};

std::vector<LinkFitCase> read_link_fits() {
  std::vector<LinkFitCase> out;
  std::ifstream file(std::string(STAB_SOURCE_DIR) + "/tests/reference/analysis/link_fit.txt");
  for (std::string word; file >> word;) {
    if (word == "case") {
      size_t cells = 0;
      file >> out.emplace_back().name >> cells;
      out.back().workload.cells.resize(cells);
    } else if (word == "row") {
      size_t number = 0;
      uint32_t block = 0;
      uint64_t link = 0, layout = 0;
      double value = 0;
      file >> number >> block >> link >> layout >> value;
      report::CellUnits& cell = out.back().workload.cells.at(number);
      cell.code_fixed = link != 0;
      cell.trial_blocks.push_back(block);
      cell.trial_links.push_back(link);
      cell.trial_layouts.push_back(layout);
      cell.trial_values.push_back(value);
    } else {
      std::string key;
      file >> key >> out.back().values[key];
    }
  }
  return out;
}

// Cells that ran the same binaries have a difference that is no binary's: it takes a degree of freedom, too.
TEST(LinkFitTest, IsThatOfR) {
  const std::vector<LinkFitCase> cases = read_link_fits();
  ASSERT_EQ(cases.size(), 8u);
  for (const LinkFitCase& one : cases) {
    const report::LinkFit fit = report::fit_links(one.workload);
    EXPECT_NEAR(fit.run_df, one.values.at("run_df"), 1e-9) << one.name;
    EXPECT_NEAR(fit.run_variance, one.values.at("run_variance"), 1e-9 * one.values.at("run_variance")) << one.name;
  }
}

// So many cells that their columns are not looked at: two builds of six links, 150 cells each, in 60 whole blocks.
TEST(LinkFitTest, CountsTheDifferencesOfManyCells) {
  constexpr size_t kCells = 300, kBlocks = 60, kLinks = 6;
  report::WorkloadUnits workload;
  workload.cells.resize(kCells);
  for (size_t c = 0; c < kCells; ++c)
    for (uint32_t block = 0; block < kBlocks; ++block) {
      report::CellUnits& cell = workload.cells[c];
      const uint64_t link = 1 + (block + c / 2) % kLinks;
      cell.code_fixed = true;
      cell.trial_blocks.push_back(block);
      cell.trial_links.push_back(link);
      cell.trial_layouts.push_back(100 * (c % 2) + link);
      cell.trial_values.push_back(static_cast<double>(c * block % 7));
    }
  EXPECT_EQ(report::fit_links(workload).run_df, kCells * kBlocks - (2 * kLinks + (kCells - 2) + (kBlocks - 1)));
}

// Three runs of each binary, none of which comes back in another block.
TEST(BlockDrawsTest, RunsOfABinaryInItsOwnBlockAreOneDraw) {
  std::vector<report::CellUnits> cells(2);
  const uint64_t links[2][2] = {{3, 5}, {3, 6}};  // by cell and block
  for (size_t c = 0; c < 2; ++c)
    for (uint32_t block = 0; block < 2; ++block)
      for (int run = 0; run < 3; ++run) {
        cells[c].code_fixed = true;
        cells[c].trial_blocks.push_back(block);
        cells[c].trial_links.push_back(links[c][block]);
        cells[c].trial_layouts.push_back(10 * c + block);
        cells[c].trial_values.push_back(static_cast<double>(10 * c + block + run));
      }
  const report::CellCoefficients difference = {{&cells[1], 1.0}, {&cells[0], -1.0}};
  const auto draws = report::block_draws(difference);
  ASSERT_TRUE(draws);
  EXPECT_EQ(draws->values, (std::map<uint64_t, double>{{0, 10}, {1, 10}}));
  EXPECT_FALSE(draws->recurring);
  cells[1].trial_layouts = {10, 10, 10, 10, 10, 10};
  EXPECT_FALSE(report::block_draws(difference)) << "a binary comes back, and the block holds another one, too";
}

}  // namespace
}  // namespace stab::analysis
