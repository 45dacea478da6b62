// Slicing: what the control blocks of a sliced experiment say. In most blocks the trials run at the same time, in time slices on
// one CPU, so that whatever the machine does it does to each of them, and their difference is sharp. But programs that share a
// cache may differ otherwise than they do alone, and no number of sliced blocks tells. So a share of blocks runs as ever, one
// trial after the other, and each question is asked of both kinds. The difference of the two answers is the bias of slicing for
// this question: two independent estimates whose spreads differ by an order of magnitude, so Welch's error, in which the few
// blocks alone have nearly all the say, and their degrees of freedom.
//
// Which answer is given: that of the sliced blocks, unless the bias is beyond chance (Holm over the questions of a family, at
// alpha) and beyond the margin. Then it is that of the blocks alone. Where slicing does nothing, such a switch is made by those
// experiments whose blocks alone stand out by chance, and these would then be called a change nearly always: without a guard the
// two sources would err twice as often as one. So an answer that the blocks alone give stands where the sliced ones have the same
// verdict, which binds its errors to theirs, or where it survives a tenth of alpha, which is all that the switch may add.
#pragma once

#include "analysis/report/contrasts/contrasts.h"
#include "analysis/report/experiment/samples.h"
#include "analysis/report/report_data/report.h"

namespace stab::report {

// How many times smaller p must be for an answer that the blocks alone give by themselves.
inline constexpr double kOnlyAlone = 10;

// The bias of slicing for each question, and how far the trials of each cell ran beside those of their blocks.
// pre: samples.is_sliced; units are those of its sliced blocks
Slicing slicing_of(const Samples& samples, const UnitsByResponse& units);

// Puts the answers of the blocks alone in the place of those that slicing moves: of contrasts at their look's levels.
Status answer_from_alone(const Samples& samples, const Slicing& slicing, std::vector<Contrast>& contrasts);

// Other parts of a report know the sliced blocks only: of a question that slicing moves they are refused.
void leave_to_alone(const Slicing& slicing, Report& report);

// The trials of the blocks alone, as an experiment of the ordinary kind.
Samples blocks_alone(const Samples& samples);

}  // namespace stab::report
