// What goes in and comes out: windows as CSV, the report as text and JSON, and the records that COZ's viewer reads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/causal_report/causal.h"
#include "analysis/commands/selftest/causal_report.h"
#include "analysis/commands/stats/causal_csv.h"
#include "analysis/commands/stats/stats_command.h"
#include "analysis/text/json_writer.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

MadeProgram some_program() {
  MadeProgram program;
  program.slopes = {0.4, 0.1, 0};
  program.alive = {1, 0.5, 1};
  program.trials = 5, program.blocks = 8, program.nulls = 4, program.slowdowns = true;
  return program;
}

std::string json_of(const causal_report::CausalReport& report) {
  text::JsonWriter json;
  json.begin_object();
  causal_report::write_causal(json, report);
  json.end();
  return json.take();
}

TEST(CausalFiles, CsvHoldsAllThatTheReportNeeds) {
  causal_report::CausalData data = made_windows(some_program(), 1);
  for (causal_report::CausalWindow& window : data.windows) {
    window.layout = window.layout >> 32 << 32;
    window.foreign_share = std::round(window.foreign_share * 1e6) / 1e6;
  }
  const auto read = commands::causal_data_of(commands::CsvText::of(windows_csv(data)));
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->windows.size(), data.windows.size());
  EXPECT_EQ(read->lines.size(), 3u);
  EXPECT_EQ(read->lines[0].file, "made.c");
  EXPECT_EQ(read->lines[0].line, 10u);
  const auto direct = nlohmann::json::parse(json_of(*causal_report::analyse_causal(data)));
  const auto through = nlohmann::json::parse(json_of(*causal_report::analyse_causal(*read)));
  EXPECT_EQ(direct["curves"], through["curves"]);
  EXPECT_EQ(direct["nulls"], through["nulls"]);
  EXPECT_EQ(direct["split_baselines"], through["split_baselines"]);
}

TEST(CausalFiles, CsvRefusesWhatItCanNotMean) {
  const std::string good =
      "trial,block,kind,line,speedup,wall_ns,visits:work\n"
      "1,0,baseline,-,0,1000,10\n"
      "1,0,speedup,a.c:3,0.5,1000,12\n";
  ASSERT_TRUE(commands::causal_data_of(commands::CsvText::of(good)));
  const auto refusal = [&](const std::string& from, const std::string& to) -> std::string {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    const auto read = commands::causal_data_of(commands::CsvText::of(bad));
    return read ? "taken" : read.error().message;
  };
  EXPECT_NE(refusal("speedup,wall_ns", "sped,wall_ns").find("no column 'speedup'"), std::string::npos);
  EXPECT_NE(refusal("wall_ns,", "wal_ns,").find("'wall_ns'"), std::string::npos);
  EXPECT_NE(refusal("visits:work", "visit:work").find("points are"), std::string::npos);
  EXPECT_NE(refusal("visits:work", "visits:").find("without a name"), std::string::npos);
  EXPECT_NE(refusal("1,0,baseline", "1,0,base").find("'kind' is 'base'"), std::string::npos);
  EXPECT_NE(refusal("baseline,-,0", "baseline,-,0.1").find("baseline"), std::string::npos);
  EXPECT_NE(refusal("speedup,a.c:3,0.5", "speedup,-,0.5").find("speeds nothing up"), std::string::npos);
  EXPECT_NE(refusal("speedup,a.c:3,0.5", "speedup,a.c:3,1.5").find("between 0 and 1"), std::string::npos);
  EXPECT_NE(refusal("1000,12", "1000,1.5").find("data row 2: 'visits:work'"), std::string::npos);
  EXPECT_NE(refusal("0.5,1000", "0.5,-1").find("'wall_ns'"), std::string::npos);
  EXPECT_NE(refusal("1,0,speedup", "1,-1,speedup").find("'block'"), std::string::npos);
}

TEST(CausalFiles, TextNamesLinesVerdictsAndControls) {
  const causal_report::CausalReport report = *causal_report::analyse_causal(made_windows(some_program(), 2));
  const std::string text = causal_report::render_causal_text(report, 120, false);
  for (const char* part :
       {"Causal profile of made", "Throughput at 'blocks'", "-25 % of the line", "-50 % of the line", "made.c:10", "worth it",
        "made.c:20 †", "runs in a part of the run only", "Where nothing should change", "holds", "false alarms"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  // The line that is worth the most comes first.
  EXPECT_LT(text.find("made.c:10"), text.find("made.c:20"));
  EXPECT_NE(causal_report::render_causal_markdown(report).find("| made.c:10"), std::string::npos);
}

TEST(CausalFiles, JsonHasTheNumbersOfTheReport) {
  const causal_report::CausalReport report = *causal_report::analyse_causal(made_windows(some_program(), 3));
  const auto json = nlohmann::json::parse(json_of(report));
  ASSERT_EQ(json["curves"].size(), report.curves.size());
  const auto& curve = json["curves"][0];
  EXPECT_EQ(curve["line"], "made.c:10");
  EXPECT_EQ(curve["verdict"], std::string(name(report.curves[0].verdict)));
  EXPECT_EQ(curve["arms"][1]["speedup_interval"]["estimate"], report.curves[0].arms[1].effect.speedup.estimate);
  EXPECT_EQ(curve["arms"][1]["p_holm"], report.curves[0].arms[1].p_holm);
  EXPECT_EQ(curve["slope"]["interval"]["conf_low"], report.curves[0].slope->slope.low);
  EXPECT_EQ(json["nulls"][0]["holds"], report.nulls[0].holds);
  EXPECT_EQ(json["points"][0]["kind"], "progress");
}

// Reads the records as the viewer does: adds up, and compares with speedup 0 of the same line.
TEST(CausalFiles, CozProfileGivesTheViewerTheSameCurve) {
  MadeProgram program = some_program();
  program.alive.clear();
  program.trials = 6, program.blocks = 12;
  causal_report::CausalData data = made_windows(program, 4);
  data.lines[2].name = "tab\there.c:1";
  data.points.push_back({"request", causal_report::PointKind::kLatency});
  for (causal_report::CausalWindow& window : data.windows) {
    window.visits.push_back(50);
    window.latencies.resize(2);
    window.latencies[1] = {0.25 * causal_report::effective_ns(window, causal_report::CausalClock::kWall), 50};
  }
  struct Sums {
    double delta = 0, duration = 0;
  };
  std::map<std::string, std::map<std::string, Sums>> found;
  std::map<std::string, int> records;
  std::string selected, speedup;
  double duration = 0;
  std::istringstream lines(causal_report::coz_profile(data, 0));
  for (std::string line; std::getline(lines, line);) {
    std::map<std::string, std::string> fields;
    std::istringstream parts(line);
    std::string type, part;
    std::getline(parts, type, '\t');
    while (std::getline(parts, part, '\t')) {
      ASSERT_NE(part.find('='), std::string::npos) << line;
      fields[part.substr(0, part.find('='))] = part.substr(part.find('=') + 1);
    }
    ++records[type];
    if (type == "experiment") {
      selected = fields.at("selected"), speedup = fields.at("speedup"), duration = std::stod(fields.at("duration"));
    } else if (type == "throughput-point") {
      EXPECT_EQ(fields.at("name"), "blocks");
      found[selected][speedup].delta += std::stod(fields.at("delta"));
      found[selected][speedup].duration += duration;
    } else if (type == "latency-point") {
      EXPECT_EQ(fields.at("difference"), "250");
      EXPECT_EQ(fields.at("arrivals"), "50");
    }
  }
  EXPECT_EQ(records["startup"], 6);
  EXPECT_EQ(records["runtime"], 6);
  EXPECT_EQ(records["samples"], 18);  // 6 trials x 3 lines
  EXPECT_EQ(records["experiment"], records["throughput-point"]);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found.count("tab here.c:1"));
  const auto period = [&](const char* at) { return found["made.c:10"][at].duration / found["made.c:10"][at].delta; };
  EXPECT_NEAR((period("0") - period("0.5")) / period("0"), 0.2, 0.01);
  EXPECT_NEAR((period("0") - period("0.25")) / period("0"), 0.1, 0.01);
}

// What plan check says of windows, and of runs that are windows as a whole.
TEST(CausalFiles, WishesAreToldInWindowsOrInRuns) {
  commands::CausalWish wish;
  wish.budget.lines = 2, wish.budget.speedups = 1, wish.budget.trials = 10;
  wish.budget.block_windows = 5, wish.budget.block_baselines = 2, wish.budget.block_nulls = 1;
  wish.control_trials = 10;
  const std::string windows = commands::causal_wish_text(wish);
  for (const char* part : {"2 lines x 1 speedup, windows of 0.25 s", "windows an arm give +- 1 %", "in four of five profiles",
                           "null windows a cell decide that", "up to 10 control trials a cell follow"})
    EXPECT_NE(windows.find(part), std::string::npos) << part << "\n" << windows;
  wish.trial_s = 20.4;
  const std::string timed = commands::causal_wish_text(wish);
  EXPECT_NE(timed.find("the plan's trials have 800 windows a cell, 160 an arm, which give and show: +- 0.329 %"),
            std::string::npos)
      << timed;
  wish.trial_s = 0.4;
  EXPECT_NE(commands::causal_wish_text(wish).find("a trial of 0.4 s is shorter than two windows"), std::string::npos);
  wish.trial_s.reset();
  wish.budget.trials = 2;
  const std::string few = commands::causal_wish_text(wish);
  EXPECT_NE(few.find("verdicts need 3 trials a cell, and the plan has 2"), std::string::npos) << few;
  EXPECT_EQ(few.find("four of five"), std::string::npos) << few;

  wish.whole_runs = true, wish.budget.trials = 24;
  const std::string runs = commands::causal_wish_text(wish);
  for (const char* part : {"each run of the program is one window", "24 replicates are 4 blocks a cell",
                           "4 runs an arm give and show", "the plan's trials 4; no control trials follow whole runs"})
    EXPECT_NE(runs.find(part), std::string::npos) << part << "\n" << runs;
  EXPECT_EQ(runs.find("0.25 s"), std::string::npos) << runs;
  wish.budget.trials = 14;
  EXPECT_NE(commands::causal_wish_text(wish).find("verdicts need 3 blocks a cell, and the plan has 2"), std::string::npos);
}

TEST(CausalFiles, CommandPrintsTheReport) {
  const std::string path = testing::TempDir() + "causal_windows.csv";
  std::ofstream(path) << windows_csv(made_windows(some_program(), 5));
  const commands::CommandOutput text = commands::run_stats({"causal", path}, 120);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("worth it"), std::string::npos);
  const commands::CommandOutput json = commands::run_stats({"causal", path, "--json", "--margin", "0.05"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["margin"], 0.05);
  EXPECT_EQ(commands::run_stats({"causal", path, "--coz"}).out.substr(0, 15), "startup\ttime=0\n");
  EXPECT_EQ(commands::run_stats({"causal", path, "--margin", "2"}).exit_code, 2);
  EXPECT_EQ(commands::run_stats({"causal", path, "--group", "x"}).exit_code, 2);
  EXPECT_EQ(commands::run_stats({"causal"}).exit_code, 2);
  if (const char* kept = std::getenv("LAB_MADE")) std::ofstream(kept) << windows_csv(made_windows(some_program(), 5));
}

}  // namespace
}  // namespace stab::analysis
