// The checks behind the list of caveats. Each is one function that appends at most one caveat of a kind, with the numbers that
// made it speak and what to do about it. caveats.cc says in which order they are asked.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

using Caveats = std::vector<Caveat>;

// "0.0123": at most three digits, as C's %g writes them.
std::string three_digits(double value);
// "1.23 %"
std::string percent_text(double share);

// design_caveats.cc
void check_simulated(const Samples& samples, Caveats& out);
void check_equal_builds(const Samples& samples, Caveats& out);
void check_one_layout(const Report& report, Caveats& out);
// Main effects of a fraction that go under the name of a two-factor interaction, too: with resolution III.
void check_aliased(const Report& report, Caveats& out);
void check_few_workloads(const Samples& samples, const Report& report, Caveats& out);
void check_sizes(const Report& report, Caveats& out);

// dose_caveats.cc
// Of the doses that are low for the same reason, the lowest, and how many more there are.
void check_low_dose(const Report& report, bool in_a_loop, Caveats& out);
void check_degradations(const Samples& samples, Caveats& out);

// slicing_caveats.cc. pre: a sliced experiment's report
void check_slicing_moves(const Report& report, Caveats& out);
void check_slicing_unchecked(const Report& report, Caveats& out);
void check_low_overlap(const Report& report, Caveats& out);

// run_caveats.cc
void check_counts(const Samples& samples, const Report& report, Caveats& out);
void check_disturbances(const Samples& samples, Caveats& out);
void check_machines(const Samples& samples, Caveats& out);
void check_environment(const Samples& samples, const Report& report, Caveats& out);

// value_caveats.cc
// What one question is asked by: usually one test.
using Tests = std::initializer_list<std::string_view>;
// Of the primary response's diagnostics by these tests the one whose p is smallest after Holm, where it is below alpha.
void check_diagnostic(const Report& report, Tests tests, CaveatCode code, std::string_view message, std::string_view hint,
                      Caveats& out);
void check_autocorrelation(const Samples& samples, const Report& report, Caveats& out);
void check_several_modes(const Report& report, Caveats& out);
void check_run_changed(const Report& report, Caveats& out);
void check_ranks(const Report& report, Caveats& out);

}  // namespace stab::report
