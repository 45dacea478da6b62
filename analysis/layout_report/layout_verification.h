// What layout files do to a program: its builds with each of them against the plain one, over random links, as they are linked,
// and with code that moves while it runs, where no build's place lasts and a gain must vanish.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"
#include "base/result.h"

namespace stab::layout_report {

// Of two builds' times, the file's to the plain one's, from means of `count` things on each side.
struct BuildRatio {
  std::string refused;      // why there is none
  report::Interval ratio;           // at 1 - alpha; below 1 is faster
  bool is_exact = false;    // neither side varied, as simulated runs of one binary don't: the ratio is what it is
  double p_value = 1, p_equivalence = 1;
  uint64_t plain_count = 0, file_count = 0;
};

// How much random links of a build differ: standard deviations of the means of links, of the logarithm. Noise of runs is part of
// them, so that the ratio errs towards 1.
struct LinkSpread {
  double plain_sd = 0, file_sd = 0;
  double plain_noise = 0, file_noise = 0;  // of these, what runs of one link differ by; 0: not known, or nothing
  report::Interval ratio;                          // file to plain, at 1 - alpha: Fisher's, exact where means of links are normal
  std::string refused;
};

enum class Vanishes { kYes, kNo, kUnsure };

struct VerifiedFile {
  std::string name;
  BuildRatio links;      // over random links, each one value: what the file does wherever the rest of the program lies
  double p_holm = 1, p_equivalence_holm = 1;  // over the files
  report::Verdict verdict = report::Verdict::kWithheld;       // of `links`
  LinkSpread spread;
  BuildRatio as_linked;  // of the two binaries that the build makes by itself; runs are what is counted
  BuildRatio moving;     // with code that moves
  Vanishes vanishes = Vanishes::kUnsure;  // by p of `moving` after Holm over the files; unsure before all trials are there
};

struct LayoutVerificationReport {
  std::string experiment, workload, response, moving_code;  // "shuffle"
  double alpha = 0.05, margin = 0.01;
  bool simulated = false, incomplete = false;
  std::vector<VerifiedFile> files;
};

// pre: one workload. kBadInput where the experiment is no verification.
// Equation: Fisher's interval of a ratio of variances, s1^2 / s2^2 / F(n1 - 1, n2 - 1); R's var.test gives the same.
Result<LayoutVerificationReport> verify_layouts(const report::Samples& samples, const std::string& file_factor);
// The interval of sd_file / sd_plain. pre: both have two values or more, and plain ones differ
report::Interval ratio_of_spreads(const statistics::Moments& file, const statistics::Moments& plain, double alpha);

std::string render_verification_text(const LayoutVerificationReport& report, int width);
std::string render_verification_json(const LayoutVerificationReport& report);  // docs/explanation/layout-maps.md has the format

}  // namespace stab::layout_report
