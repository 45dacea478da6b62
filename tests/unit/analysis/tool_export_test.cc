// What a recorded experiment can't show: exclusions, throughputs, and names that no format may take for its own syntax.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/commands/imports/tool_formats.h"
#include "analysis/report/rendering/export.h"
#include "analysis/report/report_data/report.h"
#include "analysis/text/valid_text.h"

namespace stab::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two cells of three trials: wall times 1, 2, 4 s and 2, 4, 8 s, throughputs the other way round.
report::Samples two_cells() {
  report::Samples samples;
  samples.experiment = "night (7)";
  samples.workloads = {"a\"b"};
  samples.factors = {{.name = "opt", .levels = {"-O2", "x\\\n\"y<"}, .layout = false, .baseline = 0}};
  samples.responses = {{.name = "wall_time", .unit = "s"}, {.name = "progress:block", .unit = "/s", .higher_is_better = true}};
  samples.unit = report::Unit::kRow;
  for (uint32_t i = 0; i < 6; ++i) {
    report::Trial trial;
    trial.levels = {static_cast<uint16_t>(i / 3)};
    trial.order = i;
    trial.values = {double(1u << (i % 3 + i / 3)), 1 / double(1u << (i % 3 + i / 3))};
    samples.trials.push_back(trial);
  }
  samples.planned = 6;
  return samples;
}

const commands::ToolContext kContext{.experiment = "night",
                                     .cpu = {},
                                     .machine = "m",
                                     .machine_facts = {},
                                     .started = "s",
                                     .finished = "f",
                                     .revision = "1",
                                     .version = "v"};

nlohmann::json exported(const char* format, const report::Samples& samples) {
  const auto output = commands::export_for_tool(format, samples, kContext);
  EXPECT_TRUE(output.ok());
  return output ? nlohmann::json::parse(output->out) : nlohmann::json();
}

TEST(ToolFormats, WhatARuleLeavesOutIsLeftOut) {
  report::Samples samples = two_cells();
  samples.trials[2].excluded = "steal above 1 %";
  const auto results = exported("hyperfine", samples)["results"];
  EXPECT_EQ(results[0]["times"], nlohmann::json({1.0, 2.0}));
  EXPECT_EQ(results[1]["times"], nlohmann::json({2.0, 4.0, 8.0}));
  EXPECT_TRUE(results[0]["user"].is_null());
}

TEST(ToolFormats, CpuTimesAreThoseOfTheTrialsOrSaidToBeBorrowed) {
  commands::ToolContext context = kContext;
  for (uint32_t i = 0; i < 6; ++i) context.cpu[i] = {0.25, 0.5};
  const auto known = commands::export_for_tool("google-benchmark", two_cells(), context);
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(known->out)["benchmarks"][0]["cpu_time"], 0.75e9);
  EXPECT_THAT(known->err, Not(HasSubstr("cpu_time")));
  context.cpu.erase(0);
  EXPECT_THAT(commands::export_for_tool("google-benchmark", two_cells(), context)->err, HasSubstr("cpu_time: repeats real_time"));
}

// OpenMetrics and XML are UTF-8, whatever a benchmark is called.
TEST(ToolFormats, NamesInAnotherEncodingAreStillText) {
  report::Samples samples = two_cells();
  samples.factors[0].levels[1] = "caf\xe9";
  for (const char* format : {"openmetrics", "junit"}) {
    const auto output = commands::export_for_tool(format, samples, kContext);
    ASSERT_TRUE(output.ok());
    EXPECT_EQ(text::valid_text(output->out), output->out) << format;
    EXPECT_THAT(output->out, HasSubstr("caf\xef\xbf\xbd")) << format;
  }
}

// A column of the samples has a name of its own, whatever a benchmark is called, so that `analyze` reads them.
TEST(Csv, ColumnsHaveNamesOfTheirOwn) {
  report::Samples samples = two_cells();
  samples.responses[1].name = "block";
  EXPECT_TRUE(
      report::export_csv(samples).starts_with("workload,opt,block,order,seed,link,layout,excluded,wall_time,response.block\n"));
  samples.responses[0].name = "opt";
  EXPECT_THAT(report::export_csv(samples), HasSubstr(",excluded,response.opt,response.block\n"));
  EXPECT_THAT(report::export_r(*report::analyse(samples)), HasSubstr("d$y <- log(d[[\"response.opt\"]])"));
}

TEST(ToolFormats, ThroughputsGoWhereTheyAreBetterHigher) {
  const auto bencher = exported("bencher", two_cells());
  EXPECT_NEAR(bencher["a\"b/opt:-O2"]["latency"]["value"].get<double>(), 2e9, 1);
  EXPECT_NEAR(bencher["a\"b/progress:block/opt:-O2"]["throughput"]["value"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(exported("lnt", two_cells())["tests"][2]["score"].size(), 3u);
  const auto costs = commands::export_for_tool("github-action-benchmark", two_cells(), kContext);
  EXPECT_EQ(nlohmann::json::parse(costs->out).size(), 2u);
  EXPECT_THAT(costs->err, HasSubstr("'progress:block'"));
  report::Samples rates = two_cells();
  std::swap(rates.responses[0], rates.responses[1]);
  for (report::Trial& trial : rates.trials) std::swap(trial.values[0], trial.values[1]);
  rates.responses.resize(1);
  for (report::Trial& trial : rates.trials) trial.values.resize(1);
  EXPECT_EQ(exported("github-action-benchmark", rates).size(), 2u);
  EXPECT_THAT(commands::export_for_tool("hyperfine", rates, kContext).error().message, HasSubstr("no time of a whole run"));
}

// R runs what stands behind a backtick that ends a name, and a comment ends with its line.
TEST(ToolFormats, NamesAreNoCodeOfR) {
  report::Samples samples = two_cells();
  samples.experiment = "night\nsystem('touch OWNED')";
  samples.factors[0].name = "block` + system('touch OWNED') + `a\\b";
  samples.factors.push_back({.name = "half", .levels = {"x", "y"}});
  for (report::Trial& trial : samples.trials) trial.levels.push_back(trial.order % 2);
  const auto report = report::analyse(samples);
  ASSERT_TRUE(report) << report.error().message;
  const std::string script = report::export_r(*report);
  EXPECT_THAT(script, HasSubstr(R"(lm(y ~ `block\` + system('touch OWNED') + \`a\\b` * `half`, one))"));
  EXPECT_THAT(script, HasSubstr("# The analysis of night system('touch OWNED') in R"));
  EXPECT_THAT(script, HasSubstr(R"(factors <- c("block` + system('touch OWNED') + `a\\b", "half"))"));
  EXPECT_THAT(script, Not(HasSubstr("sprintf(\"`%s`\", f)"))) << "names are quoted by the script, too";
  EXPECT_THAT(script, HasSubstr(R"(levels = c("-O2", "x\\\n\"y<")")) << "as the CSV has it";
}

TEST(ToolFormats, NamesAreNoSyntax) {
  const std::string metrics = commands::export_for_tool("openmetrics", two_cells(), kContext)->out;
  EXPECT_THAT(metrics, HasSubstr(R"(workload="a\"b",response="wall_time",factor_opt="x\\\n\"y<",bound="estimate")"));
  report::Samples alike = two_cells();
  alike.factors[0].name = "a-b";
  alike.factors.push_back({.name = "a_b", .levels = {"x", "y"}});
  for (report::Trial& trial : alike.trials) trial.levels.push_back(trial.order % 2);
  const std::string told_apart = commands::export_for_tool("openmetrics", alike, kContext)->out;
  EXPECT_THAT(told_apart, HasSubstr("factor_a_2db="));
  EXPECT_THAT(told_apart, HasSubstr("factor_a_5fb=\"x\""));
  alike.factors[1].name = "c-d";
  EXPECT_THAT(commands::export_for_tool("openmetrics", alike, kContext)->out, HasSubstr(",factor_c_d=\"x\""))
      << "nothing to tell apart";
  const std::string junit = commands::export_for_tool("junit", two_cells(), kContext)->out;
  EXPECT_THAT(junit, HasSubstr("classname=\"stab.night.a&quot;b\""));
  EXPECT_THAT(junit, Not(HasSubstr("y<")));
  EXPECT_THAT(junit, HasSubstr("tests=\"2\""));
}

// What CI systems show as the duration of a test: what a run of the level took in the mean. Counts have none.
TEST(ToolFormats, JunitHasTheTimesThatWereMeasured) {
  report::Samples samples = two_cells();
  const std::string junit = commands::export_for_tool("junit", samples, kContext)->out;
  double sum = 0;
  size_t runs = 0;
  for (const report::Trial& trial : samples.trials)
    if (trial.levels.back() == 1 && trial.values[0]) sum += *trial.values[0], ++runs;
  char time[64];
  std::snprintf(time, sizeof time, " time=\"%.9f\"", sum / static_cast<double>(runs));
  EXPECT_THAT(junit, HasSubstr(time));
  samples.responses[0].unit = samples.responses[1].unit = "instructions";
  EXPECT_THAT(commands::export_for_tool("junit", samples, kContext)->out, Not(HasSubstr("time=")));
}

}  // namespace
}  // namespace stab::analysis
