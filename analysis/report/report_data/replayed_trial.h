// A bad layout or a bad moment: what runs of one recorded trial's layout say beside runs in fresh layouts of its cell. The two
// cells are compared like any others (contrasts.h); this says what the comparison means for the trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/experiment/samples.h"

namespace stab::report {

struct Report;
struct WorkloadUnits;

// What made the trial what it was. The words are in JSON and on the page: do not rename.
enum class Cause {
  kLayout,    // its layout differs from fresh ones, by what the trial differed by
  kBoth,      // its layout differs, and the trial did by more: the rest was its moment
  kMoment,    // its layout explains less than what the trial differed by
  kNeither,   // its layout is as others are, and so was the trial
  kUnsure,    // more runs are needed
  kWithheld,  // trials are still to come, or there is no comparison
};
std::string_view name(Cause cause);

struct ReplayAnswer {
  uint64_t trial = 0;
  std::string experiment;
  std::string factor, level;        // of the contrast that this reads
  Cause cause = Cause::kWithheld;
  std::optional<double> excess;     // as ReplayedTrial has it: a ratio on the log scale
  // Of the analysed trials: runs of the layout, fresh ones (layouts, or links where these are what is drawn), and how many fresh
  // values lie below the mean of the layout's runs.
  uint64_t runs = 0, fresh = 0, below = 0;
  std::vector<std::string> sentences;  // the answer first
};

std::string replay_title(const ReplayAnswer& answer);  // the question

// Nothing where the experiment is no replay. pre: the report's contrasts are there
std::optional<ReplayAnswer> replay_answer(const Samples& samples, const std::vector<WorkloadUnits>& units, const Report& report);

}  // namespace stab::report
