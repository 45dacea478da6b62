// Causal reports of made-up programs whose truth is known: curves, controls, verdicts, and what withholds them.
#include "analysis/causal_report/causal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "analysis/causal_report/null_extension.h"
#include "tests/unit/analysis/made_windows.h"

namespace stab::analysis {
namespace {

using namespace causal_report;

CausalReport report_of(const CausalData& data) {
  auto report = analyse_causal(data);
  EXPECT_TRUE(report) << report.error().message;
  return *report;
}

// None: it isn't said.
std::optional<CausalCaveat> said(const CausalReport& report, CausalCaveatCode code) {
  for (const CausalCaveat& caveat : report.caveats)
    if (caveat.code == code) return caveat;
  return std::nullopt;
}
bool warned(const CausalReport& report, CausalCaveatCode code) { return said(report, code).has_value(); }

const CausalCurve& curve_of(const CausalReport& report, uint32_t line, uint32_t cell = 0, uint32_t point = 0) {
  for (const CausalCurve& curve : report.curves)
    if (curve.line == line && curve.cell == cell && curve.point == point) return curve;
  ADD_FAILURE() << "no curve of line " << line;
  static const CausalCurve none;
  return none;
}

TEST(Causal, SaysWhichLineIsWorthIt) {
  MadeProgram program;
  program.slopes = {0.4, 0};
  program.trials = 6, program.blocks = 12;
  const CausalReport report = report_of(made_windows(program, 1));
  ASSERT_EQ(report.curves.size(), 2u);
  ASSERT_EQ(report.nulls.size(), 1u);
  EXPECT_TRUE(report.nulls[0].holds) << report.nulls[0].effect.speedup.low << " " << report.nulls[0].effect.speedup.high;
  const CausalCurve& good = curve_of(report, 0);
  EXPECT_EQ(good.verdict, LineVerdict::kWorthIt);
  ASSERT_EQ(good.arms.size(), 2u);
  EXPECT_NEAR(good.arms[0].effect.speedup.estimate, 0.1, 0.01);
  EXPECT_NEAR(good.arms[1].effect.speedup.estimate, 0.2, 0.01);
  EXPECT_LT(good.arms[1].effect.speedup.low, 0.2);
  EXPECT_GT(good.arms[1].effect.speedup.high, 0.2);
  EXPECT_EQ(good.best, 1u);
  ASSERT_TRUE(good.slope);
  EXPECT_NEAR(good.slope->slope.estimate, 0.4, 0.04);
  EXPECT_EQ(curve_of(report, 1).verdict, LineVerdict::kNoUse);
  EXPECT_TRUE(report.cells[0].withheld.empty());
}

// Time in the kernel is never sampled, so no setting is a cure; that of threads which end within a period is lost by the setting.
TEST(Causal, SaysWhatTimeIsNotInAnEffect) {
  CausalData data = made_windows(MadeProgram(), 1);
  for (CausalTrial& trial : data.trials) trial.unsampled_share = 0.19, trial.system_share = 0.19;
  EXPECT_FALSE(warned(report_of(data), CausalCaveatCode::kKernelTime));
  CausalTrial& least_sampled = data.trials[1];
  least_sampled.unsampled_share = 0.4;
  const auto caveat = [&](std::optional<double> system_share) {
    least_sampled.system_share = system_share;
    return said(report_of(data), CausalCaveatCode::kKernelTime).value_or(CausalCaveat());
  };
  const char kKernel[] = "what the kernel does for a line is not in its effect, and no setting changes that";
  const char kThreads[] = "a shorter sampling sees more of threads that end soon";
  EXPECT_EQ(caveat(0.16).message,
            "up to 40.0 % of a trial's CPU time has no sample: 16.0 % were in the kernel, 24.0 % in threads that end within a "
            "period of "
            "sampling");
  EXPECT_EQ(caveat(0.16).hint, std::string(kThreads) + "; " + kKernel);
  EXPECT_EQ(caveat(0.38).message, "up to 40.0 % of a trial's CPU time has no sample: it was in the kernel");
  EXPECT_EQ(caveat(0.5).hint, kKernel);
  EXPECT_EQ(caveat({}).hint, std::string(kKernel) + "; " + kThreads);
}

// Where threads pause, a pause may be paid twice in a wait that isn't seen; on one CPU nobody pauses, and what is missing there
// is the time of waits for the world. The cure of the one is the place of the other.
TEST(Causal, SaysWhatWaitsThatAreNotSeenDo) {
  CausalData data = made_windows(MadeProgram(), 1);
  data.trials[0].unclassified_waits = 0.04;
  EXPECT_FALSE(warned(report_of(data), CausalCaveatCode::kUnclassifiedWaits));
  data.trials[0].unclassified_waits = 0.06;
  const std::optional<CausalCaveat> pausing = said(report_of(data), CausalCaveatCode::kUnclassifiedWaits);
  ASSERT_TRUE(pausing);
  EXPECT_NE(pausing->message.find("pauses may be paid twice"), std::string::npos) << pausing->message;
  EXPECT_NE(pausing->hint.find("pin the trials to one CPU"), std::string::npos) << pausing->hint;

  for (CausalTrial& trial : data.trials) trial.clock = CausalClock::kCpu;
  for (CausalWindow& window : data.windows) window.cpu_ns = window.wall_ns;
  const std::optional<CausalCaveat> alone = said(report_of(data), CausalCaveatCode::kUnclassifiedWaits);
  ASSERT_TRUE(alone);
  EXPECT_NE(alone->message.find("lines look worth more than they are"), std::string::npos) << alone->message;
  EXPECT_EQ(alone->hint.find("pin the trials"), std::string::npos) << alone->hint;
}

// Effective time is the real one less the pauses: with the sign turned the same windows say the opposite.
// A program that computes for four seconds has switched a few times while it was loaded, printed and ended.
TEST(Causal, AProgramThatDoesNotWaitHasNoUnseenWaits) {
  EXPECT_LT(unclassified_share(2, 0, 4), 0.05 + 1e-12);
  EXPECT_EQ(unclassified_share(0, 0, 0), 0);
  EXPECT_EQ(unclassified_share(4000, 3000, 4), 0.25);
  EXPECT_EQ(unclassified_share(400, 0, 4), 1);
  EXPECT_EQ(unclassified_share(3, 5, 1), 0) << "more calls than switches: some did not have to wait";
}

TEST(Causal, TakesPausesOutOfTheTime) {
  CausalWindow window;
  window.wall_ns = 300, window.credited_ns = 100, window.pay_ratio = 1.1;
  EXPECT_DOUBLE_EQ(effective_ns(window, CausalClock::kWall), 190);
  window.cpu_ns = 250, window.world_ns = 30;
  EXPECT_DOUBLE_EQ(effective_ns(window, CausalClock::kCpu), 180);
}

TEST(Causal, SaysWhichLineIsHarmful) {
  MadeProgram program;
  program.slopes = {-0.3};
  program.trials = 6, program.blocks = 12;
  const CausalReport report = report_of(made_windows(program, 2));
  EXPECT_EQ(curve_of(report, 0).verdict, LineVerdict::kHarmful);
  EXPECT_LT(curve_of(report, 0).arms[1].effect.speedup.high, 0);
}

TEST(Causal, UnsureOnesSayHowManyWindows) {
  MadeProgram program;
  program.slopes = {0.06};
  program.speedups = {0.25};
  program.window_spread = 0.1, program.blocks = 8, program.trials = 5, program.nulls = 40, program.baselines = 40;
  CausalData data = made_windows(program, 5);
  data.margin = 0.03;
  const CausalReport report = report_of(data);
  ASSERT_TRUE(report.nulls[0].holds);
  const CausalCurve& curve = curve_of(report, 0);
  EXPECT_EQ(curve.verdict, LineVerdict::kUnsure);
  ASSERT_TRUE(curve.arms[0].settles_windows);
  EXPECT_GT(*curve.arms[0].settles_windows, curve.arms[0].effect.windows);
  // A margin that the null control can't reach withholds, and says how many null windows would do.
  data.margin = 0.001;
  const CausalReport narrow = report_of(data);
  EXPECT_FALSE(narrow.nulls[0].holds);
  EXPECT_EQ(curve_of(narrow, 0).verdict, LineVerdict::kWithheld);
  EXPECT_TRUE(narrow.nulls[0].biased || narrow.nulls[0].settles_windows);
  EXPECT_TRUE(
      warned(narrow, narrow.nulls[0].biased ? CausalCaveatCode::kNullFails : CausalCaveatCode::kNullUnsure));
}

// Where pausing itself changes the program nothing can be said, whatever the lines show; and the bias is printed.
TEST(Causal, NullThatIsNotNullWithholdsAll) {
  MadeProgram program;
  program.slopes = {0.4, 0};
  program.trials = 6, program.blocks = 10;
  program.null_bias = 0.15;
  const CausalReport report = report_of(made_windows(program, 4));
  ASSERT_EQ(report.nulls.size(), 1u);
  EXPECT_TRUE(report.nulls[0].biased);
  EXPECT_FALSE(report.nulls[0].holds);
  for (const CausalCurve& curve : report.curves) {
    EXPECT_EQ(curve.verdict, LineVerdict::kWithheld);
    for (const CausalArm& arm : curve.arms) EXPECT_EQ(arm.verdict, report::Verdict::kWithheld);
  }
  EXPECT_TRUE(warned(report, CausalCaveatCode::kNullFails));
  EXPECT_NE(report.cells[0].withheld.find("+14"), std::string::npos) << report.cells[0].withheld;
  // Without any null window verdicts are withheld, too.
  CausalData without = made_windows(program, 4);
  std::erase_if(without.windows, [](const CausalWindow& window) { return window.kind == ArmKind::kNull; });
  const CausalReport blind = report_of(without);
  EXPECT_EQ(curve_of(blind, 0).verdict, LineVerdict::kWithheld);
  EXPECT_TRUE(warned(blind, CausalCaveatCode::kNoNull));
}

// A bias inside the margin passes the control, and lines that are worth nothing show it. Held against the null windows, too, they
// don't, and the report says what it was; a line that is worth more than pausing does is found all the same.
TEST(Causal, ABiasInsideTheMarginMakesNoLineWorthIt) {
  MadeProgram program;
  program.slopes = {0, 0.2};
  program.speedups = {0.5};
  program.trials = 8, program.blocks = 60, program.nulls = 2;
  program.null_bias = 0.01;
  CausalData data = made_windows(program, 21);
  data.margin = 0.02;
  const CausalReport report = report_of(data);
  ASSERT_TRUE(report.nulls[0].holds) << report.nulls[0].effect.speedup.low << " " << report.nulls[0].effect.speedup.high;
  const CausalArm& nothing = curve_of(report, 0).arms[0];
  EXPECT_GT(nothing.effect.speedup.low, 0.005);
  EXPECT_LT(nothing.beyond_null.speedup.low, 0);
  EXPECT_GT(nothing.beyond_null.speedup.high, 0);
  EXPECT_EQ(nothing.beyond_null.baselines, report.nulls[0].effect.windows);
  EXPECT_NE(curve_of(report, 0).verdict, LineVerdict::kWorthIt);
  const CausalArm& something = curve_of(report, 1).arms[0];
  EXPECT_NEAR(something.effect.speedup.estimate, 0.11, 0.004);
  EXPECT_NEAR(something.beyond_null.speedup.estimate, 0.1, 0.004);
  EXPECT_EQ(curve_of(report, 1).verdict, LineVerdict::kWorthIt);

  // Where its interval reaches over the margin the baselines alone would have raised an alarm.
  program.blocks = 4, program.nulls = program.baselines = 20, program.window_spread = 0.03, program.null_bias = 0.015;
  CausalData few = made_windows(program, 22);
  few.margin = 0.02;
  const CausalReport wide = report_of(few);
  ASSERT_TRUE(wide.nulls[0].holds);
  const CausalArm& alarm = curve_of(wide, 0).arms[0];
  ASSERT_TRUE(alarm.effect.speedup.low > 0 && alarm.effect.speedup.high > few.margin) << alarm.effect.speedup.low;
  EXPECT_EQ(curve_of(wide, 0).verdict, LineVerdict::kUnsure);
  EXPECT_TRUE(alarm.by_pausing);
  EXPECT_TRUE(warned(wide, CausalCaveatCode::kByPausing));
  EXPECT_FALSE(warned(report, CausalCaveatCode::kByPausing));
}

// One line's null windows raise the p of the whole family, and with it that of another line, which they confirm.
TEST(Causal, ALineThatNullWindowsConfirmIsNotByPausing) {
  MadeProgram program;
  program.slopes = {0, -0.056};
  program.speedups = {0.5};
  program.trials = 8, program.blocks = 4, program.nulls = program.baselines = 20, program.window_spread = 0.03;
  program.null_bias = 0.015;
  CausalData data = made_windows(program, 46);
  data.margin = 0.02;
  const CausalReport report = report_of(data);
  ASSERT_TRUE(report.nulls[0].holds);
  const CausalArm &pausing = curve_of(report, 0).arms[0], &confirmed = curve_of(report, 1).arms[0];
  ASSERT_LT(pausing.effect.p_value, 0.002);
  ASSERT_GT(pausing.beyond_null.p_value, 0.5);
  ASSERT_GT(confirmed.effect.p_value, 0.025);
  ASSERT_LT(confirmed.effect.p_value, 0.05);
  ASSERT_LT(confirmed.beyond_null.p_value, 0.002);
  EXPECT_EQ(pausing.verdict, report::Verdict::kUnsure);
  EXPECT_EQ(confirmed.verdict, report::Verdict::kUnsure) << "p = " << confirmed.p_holm << " after Holm";
  EXPECT_TRUE(pausing.by_pausing);
  EXPECT_FALSE(confirmed.by_pausing);
}

// Of a part of the run, and of a latency, the null windows' share goes as the effect itself does.
TEST(Causal, NullWindowsAreSubtractedFromPhasesAndLatencies) {
  MadeProgram program;
  program.slopes = {0.6, 0.2};
  program.alive = {0.3, 1};
  program.blocks = 20, program.trials = 8, program.nulls = 4;
  program.null_bias = 0.01;
  CausalData data = made_windows(program, 22);
  data.points.push_back({"request", PointKind::kLatency});
  Rng rng(6);
  for (CausalWindow& window : data.windows) {
    window.visits.push_back(100);
    window.latencies.resize(2);
    window.latencies[1].departures = 100;
    const double saved = window.kind == ArmKind::kSpeedup ? 0.5 * window.speedup
                         : window.kind == ArmKind::kNull  ? 0.01
                                                                  : 0;
    window.latencies[1].inside_ns = 2e9 * (1 - saved) * (1 + 0.001 * normal_of(rng));
  }
  data.margin = 0.02;
  const CausalReport report = report_of(data);
  const CausalArm& part = curve_of(report, 0).arms[1];
  ASSERT_TRUE(curve_of(report, 0).phase_corrected);
  EXPECT_NEAR(part.effect.speedup.estimate, 0.3 * (1 - 0.7 * std::exp(-0.01)), 0.008);
  EXPECT_NEAR(part.beyond_null.speedup.estimate, 0.3 * 0.3, 0.008);
  const CausalArm& latency = curve_of(report, 1, 0, 1).arms[1];
  EXPECT_NEAR(latency.effect.speedup.estimate, 0.25, 0.002);
  EXPECT_NEAR(latency.beyond_null.speedup.estimate, 1 - 0.75 / 0.99, 0.002);
}

TEST(Causal, ForeignLoadExcludesWindowsAndThenVerdicts) {
  MadeProgram program;
  program.slopes = {0.4};
  program.trials = 6, program.blocks = 24;
  program.foreign = 0.2;
  const CausalReport some = report_of(made_windows(program, 5));
  EXPECT_GT(some.cells[0].foreign, 100u);
  EXPECT_EQ(curve_of(some, 0).verdict, LineVerdict::kWorthIt);
  EXPECT_TRUE(warned(some, CausalCaveatCode::kContention));
  program.foreign = 0.6;
  const CausalReport most = report_of(made_windows(program, 5));
  EXPECT_EQ(curve_of(most, 0).verdict, LineVerdict::kWithheld);
  EXPECT_FALSE(most.cells[0].withheld.empty());
}

TEST(Causal, TooFewTrialsOrAnUnfinishedExperimentWithhold) {
  MadeProgram program;
  program.slopes = {0.4};
  program.trials = kFewestCausalTrials - 1, program.blocks = 30;
  const CausalReport few = report_of(made_windows(program, 6));
  EXPECT_EQ(curve_of(few, 0).verdict, LineVerdict::kWithheld);
  EXPECT_TRUE(curve_of(few, 0).arms[1].effect.refused.empty());  // numbers are there, of these runs
  EXPECT_NEAR(curve_of(few, 0).arms[1].effect.speedup.estimate, 0.2, 0.02);
  EXPECT_TRUE(warned(few, CausalCaveatCode::kFewTrials));
  program.trials = 6;
  CausalData data = made_windows(program, 6);
  data.incomplete = true;
  EXPECT_EQ(curve_of(report_of(data), 0).verdict, LineVerdict::kWithheld);
}

// A line that lives in 30 % of the run saves 30 % of what its windows show.
TEST(Causal, PhaseIsCorrectedFor) {
  MadeProgram program;
  program.slopes = {0.6, 0.2};
  program.alive = {0.3, 1};
  program.blocks = 20, program.trials = 8;
  const CausalReport report = report_of(made_windows(program, 7));
  const CausalCurve& part = curve_of(report, 0);
  EXPECT_GT(part.skipped, 0u);
  ASSERT_TRUE(part.phase_corrected);
  EXPECT_NEAR(part.phase_share, 0.3, 0.01);
  EXPECT_NEAR(part.arms[1].effect.speedup.estimate, 0.3 * 0.3, 0.008);
  const CausalCurve& whole = curve_of(report, 1);
  EXPECT_FALSE(whole.phase_corrected);
  EXPECT_NEAR(whole.arms[1].effect.speedup.estimate, 0.1, 0.008);
  // Without the samples of the whole run there is no correction, and so no number.
  CausalData data = made_windows(program, 7);
  for (CausalTrial& trial : data.trials) trial.run_samples.clear();
  const CausalReport unknown = report_of(data);
  EXPECT_FALSE(curve_of(unknown, 0).arms[0].effect.refused.empty());
  EXPECT_TRUE(warned(unknown, CausalCaveatCode::kPhaseUnknown));
}

TEST(Causal, KinksAreSeenFromBothSides) {
  MadeProgram program;
  program.slopes = {0.4, 0.4};
  program.most = {1, 0.02};  // the second one soon meets somebody else
  program.slowdowns = true;
  program.trials = 8, program.blocks = 12;
  const CausalReport report = report_of(made_windows(program, 8));
  EXPECT_FALSE(curve_of(report, 0).kink_or_bias) << curve_of(report, 0).kink_p;
  EXPECT_TRUE(curve_of(report, 1).kink_or_bias) << curve_of(report, 1).kink_p;
  ASSERT_TRUE(curve_of(report, 1).slowdown_slope);
  EXPECT_NEAR(curve_of(report, 1).slowdown_slope->slope.estimate, 0.4, 0.04);
  EXPECT_TRUE(warned(report, CausalCaveatCode::kKinkOrBias));
}

// By hand: integrals of 2 s over 100 departures against 1.5 s over 100 save a quarter.
TEST(Causal, LatencyIsTheRatioOfIntegrals) {
  MadeProgram program;
  program.slopes = {0.2};
  program.trials = 4, program.blocks = 5;
  CausalData data = made_windows(program, 9);
  data.points.push_back({"request", PointKind::kLatency});
  Rng rng(3);
  for (CausalWindow& window : data.windows) {
    window.visits.push_back(100);
    window.latencies.resize(2);
    window.latencies[1].departures = 100;
    const double saved = window.kind == ArmKind::kSpeedup ? 0.5 * window.speedup : 0;
    window.latencies[1].inside_ns = 2e9 * (1 - saved) * (1 + 0.001 * normal_of(rng));
  }
  data.margin = 0.02;
  const CausalReport report = report_of(data);
  const CausalCurve& curve = curve_of(report, 0, 0, 1);
  ASSERT_EQ(curve.arms.size(), 2u);
  EXPECT_NEAR(curve.arms[1].effect.speedup.estimate, 0.25, 0.002);
  EXPECT_DOUBLE_EQ(curve.arms[1].effect.df, 3);
  EXPECT_EQ(curve.verdict, LineVerdict::kWorthIt);
  EXPECT_TRUE(report.nulls[1].holds);
}

TEST(Causal, CellsMayDiffer) {
  MadeProgram program;
  program.slopes = {0.4, 0.1};
  program.trials = 6, program.blocks = 10;
  CausalData data = made_data(program);
  data.factors = {"opt"};
  data.cells = {{{"-O2"}, 1}, {{"-O3"}, 1}};
  add_trials(data, program, 10);
  program.cell = 1;
  program.slopes = {0.1, 0.1};
  add_trials(data, program, 11);
  const CausalReport report = report_of(data);
  EXPECT_EQ(report.curves.size(), 4u);
  EXPECT_EQ(cell_name(report.design, 1), "opt=-O3");
  ASSERT_EQ(report.interactions.size(), 4u);
  for (const CausalInteraction& each : report.interactions) {
    const double truth = each.line == 0 ? -0.3 * each.speedup : 0;
    EXPECT_LT(each.low, truth);
    EXPECT_GT(each.high, truth);
    EXPECT_EQ(each.p_holm < 0.01, each.line == 0) << each.p_holm;
  }
}

// Pausing changes the program in one of two cells, and all that it changes there is no difference of a line's worth. Where that
// bias lies inside the margin verdicts are given, and only the null windows tell.
TEST(Causal, CellsThatDifferInTheirControlsAloneDoNotDiffer) {
  for (const double bias : {0.15, 0.01}) {
    MadeProgram program;
    program.slopes = {0.2, 0};
    program.speedups = {0.5};
    program.trials = 8, program.blocks = 40, program.nulls = 3;
    CausalData data = made_data(program);
    data.factors = {"opt"};
    data.cells = {{{"-O2"}, 1}, {{"-O3"}, 1}};
    data.margin = 0.02;
    add_trials(data, program, 10);
    program.cell = 1, program.null_bias = bias;
    add_trials(data, program, 11);
    const CausalReport report = report_of(data);
    ASSERT_EQ(report.interactions.size(), 2u);
    for (const CausalInteraction& each : report.interactions) {
      EXPECT_LT(each.p_value, 0.001);
      EXPECT_GT(each.p_beyond_null, 0.05);
      EXPECT_GT(each.p_holm, 0.05);
      EXPECT_EQ(each.withheld, bias > data.margin);
    }
    const std::string text = render_causal_text(report, 100, false);
    EXPECT_EQ(text.find("the difference may come from its control") != std::string::npos, bias > data.margin) << text;
  }
}

// Runs from end to end are told as runs and blocks of them, of which verdicts need three.
TEST(Causal, WholeRunsAreToldAsRuns) {
  MadeProgram program;
  program.slopes = {0.3};
  program.trials = 2, program.blocks = 1;
  CausalData data = made_windows(program, 14);
  data.whole_runs = true;
  const CausalReport report = report_of(data);
  EXPECT_EQ(report.cells[0].withheld, "verdicts need 3 blocks of runs, there are 2");
  const std::string text = render_causal_text(report, 100, false);
  EXPECT_NE(text.find("14 runs in 2 blocks; margin"), std::string::npos) << text;
  EXPECT_EQ(text.find("2 trials"), std::string::npos) << text;
}

// A layout of several windows in which the line is worth something, and others in which it isn't.
TEST(Causal, LayoutsMayDiffer) {
  for (const bool differ : {false, true}) {
    MadeProgram program;
    program.slopes = {0.4};
    program.trials = 6, program.blocks = 6, program.baselines = 3;
    CausalData data = made_data(program);
    Rng rng(12);
    add_trials(data, program, 12);
    const size_t first = data.windows.size();
    add_trials(data, program, 13);
    // The second half runs in the layouts of the first, so that each has several windows of an arm.
    for (size_t w = 0; w < data.windows.size(); ++w) {
      CausalWindow& window = data.windows[w];
      if (w >= first) window.trial -= program.trials;
      window.layout = window.block + 1;
      if (differ && window.layout == 2 && window.kind == ArmKind::kSpeedup) window.visits[0] = window.visits[0] * 9 / 10;
    }
    data.trials.resize(program.trials);
    const CausalReport report = report_of(data);
    ASSERT_EQ(report.layout_interactions.size(), 2u);
    for (const LayoutInteraction& each : report.layout_interactions)
      EXPECT_EQ(each.p_holm < 0.001, differ) << each.f << " " << each.p_value;
  }
}

// Trials of one layout each are held against the spread of windows; trials that share one against each other, so that trials that
// differ are not taken for layouts that do.
TEST(Causal, LayoutsOfTrialsAreHeldAgainstTrialsThatShareThem) {
  for (const bool shared : {false, true}) {
    MadeProgram program;
    program.slopes = {0.4};
    program.trials = 12, program.blocks = 20, program.arm_spread = 0.03;
    CausalData data = made_windows(program, 12);
    for (CausalWindow& window : data.windows) window.layout = window.trial % (shared ? 4 : 12) + 1;
    const CausalReport report = report_of(data);
    ASSERT_EQ(report.layout_interactions.size(), 2u);
    for (const LayoutInteraction& each : report.layout_interactions) {
      EXPECT_EQ(each.against_trials, shared);
      EXPECT_EQ(each.layouts, shared ? 4u : 12u);
      EXPECT_EQ(each.p_value < 0.01, !shared) << each.f;
    }
    const std::string text = render_causal_text(report, 100, false);
    EXPECT_EQ(text.find("whatever else differs between trials") != std::string::npos, !shared) << text;
  }
}

// One arm a trial: blocks lie across trials, and are what is independent.
TEST(Causal, OneArmATrial) {
  MadeProgram program;
  program.slopes = {0.3};
  program.trials = 1, program.blocks = 12, program.nulls = 2;
  CausalData data = made_windows(program, 14);
  const CausalTrial whole = data.trials[0];
  data.trials.clear();
  for (CausalWindow& window : data.windows) {
    window.trial = static_cast<uint32_t>(data.trials.size());
    data.trials.push_back(whole);
    data.trials.back().id = data.trials.size();
  }
  data.margin = 0.03;
  const CausalReport report = report_of(data);
  EXPECT_NEAR(curve_of(report, 0).arms[1].effect.speedup.estimate, 0.15, 0.02);
  EXPECT_EQ(curve_of(report, 0).verdict, LineVerdict::kWorthIt);
}

TEST(Causal, HolmCountsLinesSpeedupsAndPoints) {
  MadeProgram program;
  program.slopes.assign(10, 0);
  program.trials = 5, program.blocks = 4;
  const CausalReport report = report_of(made_windows(program, 15));
  std::vector<double> p;
  for (const CausalCurve& curve : report.curves)
    for (const CausalArm& arm : curve.arms) {
      const bool one_side = (arm.effect.log_effect > 0) == (arm.beyond_null.log_effect > 0);
      p.push_back(one_side ? std::max(arm.effect.p_value, arm.beyond_null.p_value) : 1);
    }
  ASSERT_EQ(p.size(), 20u);
  const double least = *std::min_element(p.begin(), p.end());
  double adjusted = 1;
  for (const CausalCurve& curve : report.curves)
    for (const CausalArm& arm : curve.arms) adjusted = std::min(adjusted, arm.p_holm);
  EXPECT_DOUBLE_EQ(adjusted, std::min(1.0, 20 * least));
}

TEST(Causal, ExploredLinesAreAFamilyOfTheirOwn) {
  MadeProgram program;
  program.slopes = {0.3, 0, 0, 0, 0, 0};
  program.trials = 5, program.blocks = 6;
  CausalData data = made_windows(program, 16);
  for (size_t line = 1; line < data.lines.size(); ++line) data.lines[line].candidate = false;
  const CausalReport report = report_of(data);
  const CausalCurve& candidate = curve_of(report, 0);
  double most = 0;
  for (const CausalArm& arm : candidate.arms) most = std::max({most, arm.effect.p_value, arm.beyond_null.p_value});
  EXPECT_LE(candidate.arms[0].p_holm, 2 * most);
  EXPECT_TRUE(curve_of(report, 1).exploratory);
}

TEST(Causal, ArrivalsThatWaitAreSeen) {
  for (const bool closed : {false, true}) {
    MadeProgram program;
    program.slopes = {0.4};
    program.slowdowns = true;
    program.trials = 6, program.blocks = 10;
    CausalData data = made_windows(program, 17);
    data.factors = {"load"};
    data.cells = {{{"1"}, 1}, {{"2"}, 2}};
    data.points.push_back({"requests", PointKind::kArrival});
    Rng rng(5);
    for (CausalWindow& window : data.windows)
      window.visits.push_back(closed ? window.visits[0] : static_cast<uint64_t>(400 * (1 + 0.02 * normal_of(rng))));
    const CausalReport report = report_of(data);
    ASSERT_EQ(report.loops.size(), 1u);
    EXPECT_EQ(report.loops[0].closed, closed);
    EXPECT_EQ(warned(report, CausalCaveatCode::kClosedLoop), closed);
  }
}

TEST(Causal, PlansItsWindows) {
  CausalBudget budget;
  const CausalPlanning planned = plan_windows(budget, 0.01);
  // (2.262 x 1.5)^2 (1 + 1/35) = 11.8: Student's t of ten trials, and 35 baselines to each window of an arm.
  EXPECT_EQ(planned.arm_windows, 12u);
  EXPECT_EQ(planned.windows, 1200u);
  EXPECT_LE(planned.half_width, 0.01);
  EXPECT_GT(planned.minutes, 1);
  EXPECT_LT(plan_from_windows(budget, 4 * planned.arm_windows).detectable, planned.detectable);
  // Three trials know less with as many windows, and what they show after Holm is far beyond what ten show.
  budget.trials = 3;
  const CausalPlanning few = plan_from_windows(budget, planned.arm_windows);
  EXPECT_GT(few.half_width, 1.8 * planned.half_width);
  EXPECT_GT(few.detectable, 5 * planned.detectable);
  // Programs are families of their own, cells are not.
  budget.trials = 10, budget.programs = 2;
  EXPECT_EQ(plan_from_windows(budget, 12).detectable, planned.detectable);
  budget.programs = 1, budget.cells = 2;
  EXPECT_GT(plan_from_windows(budget, 12).detectable, planned.detectable);
}

TEST(Causal, RefusesBrokenData) {
  MadeProgram program;
  CausalData good = made_windows(program, 18);
  CausalData data = good;
  data.windows[0].trial = 99;
  EXPECT_FALSE(analyse_causal(data));
  data = good;
  data.windows[3].visits.clear();
  EXPECT_FALSE(analyse_causal(data));
  data = good;
  for (CausalWindow& window : data.windows)
    if (window.kind == ArmKind::kSpeedup) window.speedup = 0.3;
  EXPECT_FALSE(analyse_causal(data));
  data = good;
  data.windows.clear();
  const auto empty = analyse_causal(data);
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->curves.empty());
  EXPECT_TRUE(warned(*empty, CausalCaveatCode::kNothing));
}

// Few null windows: as many control trials as bring the control inside the margin, no more than are declared, none where they
// would not do, and none where it holds or is shown not to.
TEST(Causal, PlansControlTrialsWhereTheNullControlIsOpen) {
  MadeProgram program;
  program.slopes = {0.4, 0};
  program.trials = 6, program.blocks = 2, program.window_spread = 0.02;
  CausalData data = made_windows(program, 3);
  data.margin = 0.02;
  const CausalReport open = report_of(data);
  ASSERT_FALSE(open.nulls[0].holds);
  ASSERT_FALSE(open.nulls[0].biased);
  const NullExtension more = null_extension(open, 100);
  EXPECT_GT(more.trials, 1u);
  EXPECT_LT(more.trials, 100u);
  EXPECT_NE(more.why.find("12 null windows know the null control of 'blocks'"), std::string::npos) << more.why;
  EXPECT_EQ(null_extension(open, more.trials - 1).trials, more.trials - 1);
  EXPECT_EQ(null_extension(open, 0).trials, 0u);
  EXPECT_NE(null_extension(open, 0).why.find("take no control trials"), std::string::npos);
  // A wish for more precision takes more of them.
  EXPECT_GT(null_extension(open, 1000, 0.25).trials, more.trials);

  MadeProgram controls = program;
  controls.controls_only = true;
  controls.nulls = controls.baselines = 2, controls.blocks = 3;
  controls.trials = static_cast<uint32_t>(more.trials);
  add_trials(data, controls, 4);
  const CausalReport settled = report_of(data);
  EXPECT_TRUE(settled.nulls[0].holds) << settled.nulls[0].effect.speedup.low << " " << settled.nulls[0].effect.speedup.high;
  EXPECT_EQ(null_extension(settled, 100).trials, 0u);
  EXPECT_EQ(null_extension(settled, 100).why, "");

  program.null_bias = 0.1;
  CausalData biased = made_windows(program, 3);
  biased.margin = 0.02;
  EXPECT_TRUE(report_of(biased).nulls[0].biased);
  EXPECT_EQ(null_extension(report_of(biased), 100).trials, 0u);
}

}  // namespace
}  // namespace stab::analysis
