// What a causal report warns of: each with its number and its cure, the gravest first.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/causal_report/causal_fit.h"
#include "analysis/causal_report/load_arrivals.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/text_table.h"

namespace stab::causal_report {
namespace {

constexpr std::array<std::string_view, 20> kCodes{
    "null-fails",     "null-unsure",  "no-null",       "by-pausing",  "contention",      "few-trials",  "incomplete",
    "kink-or-bias",   "phase-unknown", "no-visits",    "kernel-time", "unattributed",    "unclassified-waits",
    "coarse-samples", "lengthened",   "excluded-trials", "closed-loop", "loop-unknown",  "time-outs",   "nothing"};

// Shares from which on they are worth a word.
constexpr double kMuchUnsampled = 0.2;
constexpr double kMuchInThreads = 0.05;
constexpr double kMuchUnattributed = 0.1;
constexpr double kMuchUnclassified = 0.05;
constexpr char kUnseenCalls[] = "statically linked code and direct system calls are not seen";
constexpr double kMuchLengthened = 0.1;

std::string range(const report::Interval& share) {
  return text::ratio_text(1 + share.estimate) + " [" + text::ratio_text(1 + share.low) + ", " + text::ratio_text(1 + share.high) +
         "]";
}

class Warnings {
 public:
  explicit Warnings(CausalReport& report) : report_(report), design_(report.design) {}

  void add() {
    nulls();
    cells();
    loops();
    curves();
    trials();
    if (report_.curves.empty() && !design_.lines.empty())
      say(CausalCaveatCode::kNothing, "no line has a window that could be compared with a baseline",
          "longer runs or shorter windows make more of them; each line needs windows in blocks that have baseline windows");
    std::stable_sort(report_.caveats.begin(), report_.caveats.end(),
                     [](const CausalCaveat& a, const CausalCaveat& b) { return a.code < b.code; });
  }

 private:
  void say(CausalCaveatCode code, std::string message, std::string hint) {
    report_.caveats.push_back({code, std::move(message), std::move(hint)});
  }
  std::string at(uint32_t cell) const {
    const std::string name = cell_name(design_, cell);
    return name.empty() ? "" : " at " + name;
  }
  const std::string& point(uint32_t index) const { return design_.points[index].name; }

  void nulls() {
    if (design_.lines.empty()) return;
    for (const NullControl& null : report_.nulls) {
      const std::string where = "'" + point(null.point) + "'" + at(null.cell);
      if (!null.effect.refused.empty()) {
        say(CausalCaveatCode::kNoNull, "the null control of " + where + " has no result: " + null.effect.refused,
            "verdicts need null windows in every block of time");
      } else if (null.biased) {
        say(CausalCaveatCode::kNullFails,
            "pausing all threads changed " + where + " by " + range(null.effect.speedup) +
                ", but nothing should change; all effects may be wrong by as much, so no verdict is given",
            "give the trials CPUs that nothing else uses, or one CPU each, where no pause is needed");
      } else if (!null.holds) {
        say(CausalCaveatCode::kNullUnsure,
            "the null control of " + where + " is " + range(null.effect.speedup) + ", not yet within the margin of " +
                text::percent(design_.margin) + "; no verdict is given",
            null.settles_windows ? "about " + std::to_string(*null.settles_windows) + " null windows are needed, there are " +
                                       std::to_string(null.effect.windows) +
                                       ": more replicates (as many control trials may follow), or a wider margin"
                                 : "more trials, or a wider margin");
      }
    }
  }

  void cells() {
    if (design_.incomplete)
      say(CausalCaveatCode::kIncomplete, "the experiment is not finished; no verdict is given yet",
          "wait for its end; one that was cancelled or has failed gets no more trials, so run its plan again");
    for (uint32_t cell = 0; cell < report_.cells.size(); ++cell) {
      const CausalCellSummary& summary = report_.cells[cell];
      if (summary.foreign > 0)
        say(CausalCaveatCode::kContention,
            std::to_string(summary.foreign) + " of " + std::to_string(summary.windows + summary.foreign) + " windows" + at(cell) +
                " were left out, as other programs took more than " + text::percent(design_.most_foreign) + " of their CPUs",
            "isolate the trials' CPUs; where more than half of the windows are left out no verdict is given");
      if (summary.trials < kFewestCausalTrials) few_trials(cell);
      if (summary.excluded_trials > 0)
        say(CausalCaveatCode::kExcludedTrials,
            plural(summary.excluded_trials, "trial") + at(cell) + " left out by declared rules", "");
      for (uint32_t p = 0; p < design_.points.size(); ++p)
        if (static_cast<double>(summary.without_visits[p]) > kMostWithoutVisits * static_cast<double>(summary.windows))
          say(CausalCaveatCode::kNoVisits,
              std::to_string(summary.without_visits[p]) + " of " + std::to_string(summary.windows) + " windows" + at(cell) +
                  " have no visit of '" + point(p) + "'; it gets no verdict",
              "longer windows, or a progress point that is visited more often");
    }
  }

  void few_trials(uint32_t cell) {
    const CausalCellSummary& summary = report_.cells[cell];
    const std::string needed = "verdicts need " + std::to_string(kFewestCausalTrials);
    if (design_.whole_runs)
      return say(CausalCaveatCode::kFewTrials,
                 plural(summary.windows, "run") + at(cell) + " in " + plural(summary.trials, "block") +
                     ": the results hold for these runs, not for other runs like them",
                 needed +
                     " blocks, in each of which every line has a run at every speedup: more replicates, or fewer lines and "
                     "speedups; 'stabctl plan check' says how many");
    say(CausalCaveatCode::kFewTrials,
        plural(summary.trials, "trial") + at(cell) + ": the results hold for " +
            (summary.trials == 1 ? "this run" : "these runs") + ", not for other runs like them",
        needed + " trials");
  }

  void loops() {
    const bool load =
        std::any_of(design_.cells.begin(), design_.cells.end(), [](const CausalCell& cell) { return cell.load != 1; });
    if (!load) return;
    for (const LoopCheck& check : report_.loops)
      if (check.closed && !design_.closed_loop)
        say(CausalCaveatCode::kClosedLoop,
            "when lines were slowed down, the arrivals at '" + point(check.point) + "'" + at(check.cell) + " changed by " +
                range(check.effect.speedup) +
                ": clients wait for answers, so amplified load is not what more clients would bring",
            "drive the program with arrivals that do not wait, or declare closed = true");
    if (design_.loads) return arrivals();
    if (report_.loops.empty() && !design_.closed_loop)
      say(CausalCaveatCode::kLoopUnknown, "whether arrivals wait for departures is unknown: only slow-down windows show it",
          "add \"slowdown\" to the plan's controls");
  }

  // Where load is a factor arrivals are held against those of the smallest load; what is closed is refused, and says so itself.
  void arrivals() {
    for (const Saturation& saturation : report_.saturations) {
      const std::string where = saturation.cell.empty() ? "" : " at " + saturation.cell;
      const bool closed = saturation.arrivals == name(ArrivalsVerdict::kClosed);
      if (closed && design_.closed_loop)
        return say(CausalCaveatCode::kClosedLoop,
                   "arrivals wait for the program" + where + ", as the plan declares: at load " +
                       report::plain(saturation.arrivals_load) + " " + text::percent(saturation.arrivals_share->estimate) +
                       " of those at the smallest load came",
                   "what is shown is of these clients, not of more of them");
      if (saturation.arrivals != name(ArrivalsVerdict::kUnsure)) continue;
      return say(CausalCaveatCode::kLoopUnknown,
                 "whether arrivals wait for the program" + where + " is not sure: at load " +
                     report::plain(saturation.arrivals_load) + " came " + text::percent(saturation.arrivals_share->estimate) +
                     " [" + text::percent(saturation.arrivals_share->low) + ", " +
                     text::percent(saturation.arrivals_share->high) + "] of the arrivals at the smallest load",
                 "more or longer trials; " + text::percent(kFewestOfArrivals) + " is what has to be excluded");
    }
  }

  void curves() {
    for (const CausalCurve& curve : report_.curves) {
      const std::string line = "'" + design_.lines[curve.line].name + "'" + at(curve.cell);
      for (const CausalArm& arm : curve.arms)
        if (arm.by_pausing) {
          say(CausalCaveatCode::kByPausing,
              line + " differs from the baseline windows by " + range(arm.effect.speedup) + " at " +
                  report::plain(100 * arm.speedup) + " %, but not from the null windows: there by " +
                  range(arm.beyond_null.speedup) + "; pausing may be all of it",
              "more null windows: replicates, or several candidates, of which every four bring one more");
          break;
        }
      if (curve.kink_or_bias)
        say(CausalCaveatCode::kKinkOrBias,
            line + ": from the speedups its slope at 0 is " + text::significant(curve.slope->slope.estimate, 3) +
                ", from really slowing it down " + text::significant(curve.slowdown_slope->slope.estimate, 3) +
                "; either the curve has a kink there, as where another thread is just as long, or the virtual speedup is biased",
            "");
      if (curve.skipped > 0 && !curve.phase_corrected && design_.points[curve.point].kind == PointKind::kProgress)
        say(CausalCaveatCode::kPhaseUnknown,
            line + " runs in parts of the run only, and how large they are is not known: " +
                (curve.arms.empty() ? "no arm" : curve.arms[0].effect.refused),
            "");
    }
  }

  void trials() {
    struct Largest {
      double unattributed = 0, unclassified = 0, unclassified_on_one_cpu = 0, lengthened = 0;
      uint64_t coarse = 0, count = 0, timeouts = 0;
    } all;
    const CausalTrial* least_sampled = nullptr;
    for (const CausalTrial& trial : design_.trials) {
      if (!trial.excluded.empty()) continue;
      ++all.count;
      if (least_sampled == nullptr || trial.unsampled_share > least_sampled->unsampled_share) least_sampled = &trial;
      all.unattributed = std::max(all.unattributed, trial.unattributed_share);
      double& unclassified = trial.clock == CausalClock::kCpu ? all.unclassified_on_one_cpu : all.unclassified;
      unclassified = std::max(unclassified, trial.unclassified_waits);
      all.lengthened = std::max(all.lengthened, trial.lengthened_share);
      all.coarse += trial.coarse_samples;
      all.timeouts += trial.timeouts;
    }
    if (design_.loads) return waits_under_load(std::max(all.unclassified, all.unclassified_on_one_cpu), all.timeouts);
    if (least_sampled != nullptr && least_sampled->unsampled_share > kMuchUnsampled) unsampled(*least_sampled);
    if (all.unattributed > kMuchUnattributed)
      say(CausalCaveatCode::kUnattributed,
          "up to " + text::percent(all.unattributed) + " of a trial's samples belong to no line in scope",
          "compile with debug information, widen the scope or name the modules");
    if (all.unclassified > kMuchUnclassified)
      say(CausalCaveatCode::kUnclassifiedWaits,
          "up to " + text::percent(all.unclassified) +
              " of a trial's waits were in calls that are not seen; pauses may be paid twice there",
          "pin the trials to one CPU (cpus = \"auto\"), where no pause is needed");
    if (all.unclassified_on_one_cpu > kMuchUnclassified)
      say(CausalCaveatCode::kUnclassifiedWaits,
          "up to " + text::percent(all.unclassified_on_one_cpu) +
              " of a trial's waits were in calls that are not seen; time in which all waited for the world there is missing, so "
              "lines look worth more than they are",
          kUnseenCalls);
    if (all.coarse > 0)
      say(CausalCaveatCode::kCoarseSamples,
          plural(all.coarse, "trial") + " sampled by timers as coarse as the kernel's tick", "see 'stabctl doctor'");
    if (all.lengthened > kMuchLengthened)
      say(CausalCaveatCode::kLengthened, "pauses made up to " + text::percent(all.lengthened) + " of a trial's time",
          "fewer or smaller speedups, or a smaller share of windows");
  }

  // User time without a sample is that of threads which end within a period.
  void unsampled(const CausalTrial& trial) {
    const std::string much = "up to " + text::percent(trial.unsampled_share) + " of a trial's CPU time has no sample: ";
    const std::string of_kernel = "what the kernel does for a line is not in its effect, and no setting changes that";
    const std::string of_threads = "a shorter sampling sees more of threads that end soon";
    if (!trial.system_share)
      return say(CausalCaveatCode::kKernelTime, much + "it was in the kernel, or in threads that end within a period of sampling",
                 of_kernel + "; " + of_threads);
    const double kernel = std::min(trial.unsampled_share, *trial.system_share), threads = trial.unsampled_share - kernel;
    if (threads < kMuchInThreads) return say(CausalCaveatCode::kKernelTime, much + "it was in the kernel", of_kernel);
    say(CausalCaveatCode::kKernelTime,
        much + text::percent(kernel) + " were in the kernel, " + text::percent(threads) +
            " in threads that end within a period of sampling",
        of_threads + "; " + of_kernel);
  }

  // Samples say nothing there, so what they lack is nothing either.
  void waits_under_load(double unclassified, uint64_t timeouts) {
    if (unclassified > kMuchUnclassified)
      say(CausalCaveatCode::kUnclassifiedWaits,
          "up to " + text::percent(unclassified) +
              " of a trial's waits were in calls that are not seen; those for the world were not made longer, so the program "
              "looks faster under a load than it is",
          kUnseenCalls);
    if (timeouts > 0)
      say(CausalCaveatCode::kTimeouts,
          "in " + plural(timeouts, "trial") +
              " waits for another thread of the program ended by their time, which is real time: under a load of m a time-out "
              "comes m times too early",
          "make the program's time-outs longer for these trials");
  }

  CausalReport& report_;
  const CausalData& design_;
};

}  // namespace

std::string_view name(CausalCaveatCode code) { return kCodes[static_cast<size_t>(code)]; }

void add_caveats(CausalReport& report) { Warnings(report).add(); }

}  // namespace stab::causal_report
